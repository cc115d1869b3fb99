"""Removals that an index which was away has put off are done when it is back."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

_EVERY_SECONDS: Final = 30.0
"""No question finds them meanwhile, so that nobody waits for it."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def removing(
    finish: Callable[[], Awaitable[bool]], *, every_seconds: float = _EVERY_SECONDS
) -> AsyncGenerator[None]:
    """`finish` is called at once, and again and again until the block ends."""

    async def go_on() -> None:
        while True:
            try:
                await finish()
            except RagError as error:
                _log.warning("what is to be removed could not be: %s", error)
            await asyncio.sleep(every_seconds)

    task = asyncio.create_task(go_on(), name="removals")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
