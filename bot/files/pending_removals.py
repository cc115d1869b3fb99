from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.observability import log
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

_EVERY_SECONDS: Final = 30.0
"""Questions do not find the documents meanwhile."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def removing(
    finish: Callable[[], Awaitable[object]], *, every_seconds: float = _EVERY_SECONDS, what: str = "removals"
) -> AsyncGenerator[None]:

    async def repeat() -> None:
        while True:
            try:
                await finish()
            except RagError as error:
                _log.warning("pending %s failed: %s", what, error)
            except Exception as error:  # noqa: BLE001 - a bug must not end it
                log.record(error)
            await asyncio.sleep(every_seconds)

    task = asyncio.create_task(repeat(), name=what)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
