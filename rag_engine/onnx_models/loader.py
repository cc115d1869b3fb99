from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from rag_engine.errors import Unavailable

Part = TypeVar("Part")


@asynccontextmanager
async def loaded(
    load: Callable[[ThreadPoolExecutor], Part], *, thread: str, seconds: float, late: Unavailable
) -> AsyncGenerator[Part]:
    """In its own thread. Raises `late` after `seconds`."""
    with ThreadPoolExecutor(1, thread_name_prefix=thread) as pool:
        loading = asyncio.get_running_loop().run_in_executor(pool, load, pool)
        try:
            async with asyncio.timeout(seconds):
                part = await loading
        except TimeoutError as error:
            raise late from error
        yield part
