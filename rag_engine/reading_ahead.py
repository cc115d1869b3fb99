"""A file is read to its end at the parser's own pace, whatever its sections wait for: what was read whole need not be read again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.passages import Batches
    from rag_engine.types import Section


@asynccontextmanager
async def reading_ahead(
    batches: Batches, *, on_end: Callable[[list[Section]], Awaitable[None]]
) -> AsyncGenerator[Batches]:
    """The same batches, to be taken as they are needed. `on_end` is given all sections once the file has been read.

    Raises, out of the batches, what they and `on_end` raise. Leaving the block early stops the reading.
    """
    queue: asyncio.Queue[list[Section] | None] = asyncio.Queue()

    async def read() -> None:
        sections: list[Section] = []
        try:
            async for batch in batches:
                sections.extend(batch)
                queue.put_nowait(batch)
            await on_end(sections)
        finally:
            queue.put_nowait(None)
            if isinstance(batches, AsyncGenerator):
                await batches.aclose()

    reading = asyncio.create_task(read(), name="read-ahead")
    try:
        yield _taken(queue, reading)
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        if not reading.cancelled():
            # Marks it as seen: whoever left early did so for another reason.
            reading.exception()


async def _taken(
    queue: asyncio.Queue[list[Section] | None], reading: asyncio.Task[None]
) -> AsyncGenerator[list[Section]]:
    while (batch := await queue.get()) is not None:
        yield batch
    await reading
