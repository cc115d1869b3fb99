"""Values read ahead wait on disk until they are consumed."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from rag_engine.storage.concurrency.iterators import close

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from rag_engine.ingestion.spool import Spool

Item = TypeVar("Item")


@asynccontextmanager
async def reading_ahead(
    batches: AsyncIterator[list[Item]],
    spool: Spool[Item],
    *,
    most: int | None = None,
    on_end: Callable[[], Awaitable[None]] | None = None,
) -> AsyncGenerator[AsyncGenerator[list[Item]]]:
    """In batches of at most `most`. `on_end` is awaited after the last is read. Leaving
    the block stops the reading.
    """
    grown = asyncio.Event()

    async def read() -> None:
        try:
            async for batch in batches:
                await asyncio.to_thread(spool.extend, batch)
                grown.set()
            if on_end is not None:
                await on_end()
        finally:
            await close(batches)

    reading = asyncio.create_task(read(), name="read-ahead")
    reading.add_done_callback(lambda _: grown.set())
    try:
        yield _taken(spool, grown, reading, most)
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        if not reading.cancelled():
            # The consumer left early for another reason.
            reading.exception()


async def _taken(
    spool: Spool[Item], grown: asyncio.Event, reading: asyncio.Task[None], most: int | None
) -> AsyncGenerator[list[Item]]:
    taken = 0
    while not (reading.done() and (taken == len(spool) or reading.exception())):
        batch = await asyncio.to_thread(spool.part, taken, most)
        taken += len(batch)
        if batch:
            yield batch
        else:
            await grown.wait()
            grown.clear()
    await reading
