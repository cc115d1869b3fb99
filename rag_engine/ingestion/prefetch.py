"""Parses a file at full speed, however slowly its sections are consumed; those read ahead wait on disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.ingestion.embedding_stream import Batches
    from rag_engine.ingestion.spool import Spool
    from rag_engine.types import Section


@asynccontextmanager
async def reading_ahead(
    batches: Batches, spool: Spool[Section], *, on_end: Callable[[], Awaitable[None]]
) -> AsyncGenerator[Batches]:
    """The same sections, read ahead into `spool`. `on_end` is awaited once the file is read.

    The batches raise their own errors, at once, and those of `on_end`. Leaving the block early stops the reading.
    """
    grown = asyncio.Event()

    async def read() -> None:
        try:
            async for batch in batches:
                await asyncio.to_thread(spool.extend, batch)
                grown.set()
            await on_end()
        finally:
            if isinstance(batches, AsyncGenerator):
                await batches.aclose()

    reading = asyncio.create_task(read(), name="read-ahead")
    reading.add_done_callback(lambda _: grown.set())
    try:
        yield _taken(spool, grown, reading)
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        if not reading.cancelled():
            # Retrieve the error: the consumer left early for another reason.
            reading.exception()


async def _taken(
    spool: Spool[Section], grown: asyncio.Event, reading: asyncio.Task[None]
) -> AsyncGenerator[list[Section]]:
    taken = 0
    while not (reading.done() and (taken == len(spool) or reading.exception())):
        batch = await asyncio.to_thread(spool.part, taken)
        taken += len(batch)
        if batch:
            yield batch
        else:
            await grown.wait()
            grown.clear()
    await reading
