"""Turns sections into embedded chunks; parser, splitter and embedder run concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, Section

if TYPE_CHECKING:
    from rag_engine.ports import Embedder, Splitter
    from rag_engine.types import Document, Vector

Batches: TypeAlias = AsyncIterator[list[Section]]
Slice: TypeAlias = "list[tuple[Chunk, Vector]]"

_SLICE = 64
"""Enough chunks to keep the embedder's workers busy, few enough for progress and overlap."""


async def at_once(sections: list[Section]) -> AsyncGenerator[list[Section]]:
    yield sections


async def embedded(
    document: Document,
    batches: Batches,
    *,
    splitter: Splitter,
    embedder: Embedder,
    on_read: Callable[[list[Section]], None],
) -> AsyncGenerator[Slice]:
    """Slices of chunks with vectors, in reading order. `on_read` sees every batch; close the iterator to stop early
    (`contextlib.aclosing`).
    """
    async with _split(document, batches, splitter, on_read) as next_slice:
        upcoming = asyncio.create_task(next_slice(), name="split")
        try:
            while chunks := await upcoming:
                upcoming = asyncio.create_task(next_slice(), name="split")
                matrix = await embedder.embed([searchable_text(chunk) for chunk in chunks], side="passage")
                yield list(zip(chunks, matrix, strict=True))
        finally:
            upcoming.cancel()
            await asyncio.wait([upcoming])
            if not upcoming.cancelled():
                # Retrieve the error: embedding failed first.
                upcoming.exception()


@asynccontextmanager
async def _split(
    document: Document, batches: Batches, splitter: Splitter, on_read: Callable[[list[Section]], None]
) -> AsyncGenerator[Callable[[], Coroutine[None, None, list[Chunk]]]]:
    loop = asyncio.get_running_loop()
    feed = _Feed(batches, loop, on_read)
    chunks = splitter(document, feed.sections())
    # Its own thread, because it waits for the event loop: in a shared pool it could deadlock.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="split")

    def take() -> list[Chunk]:
        return list(islice(chunks, _SLICE))

    async def next_slice() -> list[Chunk]:
        return await loop.run_in_executor(executor, take)

    try:
        yield next_slice
    finally:
        await feed.close()
        if isinstance(batches, AsyncGenerator):
            await batches.aclose()
        executor.shutdown(wait=False)


class _Feed:
    def __init__(
        self, batches: Batches, loop: asyncio.AbstractEventLoop, on_read: Callable[[list[Section]], None]
    ) -> None:
        self._batches = batches
        self._loop = loop
        self._on_read = on_read
        self._reading: asyncio.Task[object] | None = None
        self._closed = False

    def sections(self) -> Iterator[Section]:
        """For the other thread; raises `concurrent.futures.CancelledError` once closed."""
        while batch := asyncio.run_coroutine_threadsafe(self._next(), self._loop).result():
            yield from batch

    async def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _next(self) -> list[Section]:
        if self._closed:
            raise asyncio.CancelledError
        self._reading = asyncio.current_task()
        try:
            async for batch in self._batches:
                if batch:
                    self._on_read(batch)
                    return batch
            return []
        finally:
            self._reading = None
