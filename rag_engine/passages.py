"""Sections in, chunks with their vectors out: the parser, the splitter and the embedder at work at the same time.

The splitter is synchronous and runs in a thread of its own, which asks the event loop for the next batch of sections when it
needs one. While one slice of chunks is embedded, the next is split; no more than that is ahead of the embedder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.searchable import searchable_text
from rag_engine.types import Chunk, Section

if TYPE_CHECKING:
    from rag_engine.ports import Embedder, Splitter
    from rag_engine.types import Document, Vector

Batches: TypeAlias = AsyncIterator[list[Section]]
Slice: TypeAlias = "list[tuple[Chunk, Vector]]"

_SLICE = 64
"""Chunks given to the embedder at once: enough to keep its workers busy, few enough to show progress and to overlap."""


async def at_once(sections: list[Section]) -> AsyncGenerator[list[Section]]:
    """Sections that are all there, as `embedded` takes them."""
    yield sections


async def embedded(
    document: Document,
    batches: Batches,
    *,
    splitter: Splitter,
    embedder: Embedder,
    on_read: Callable[[list[Section]], None],
) -> AsyncGenerator[Slice]:
    """Slices of chunks with their vectors, in reading order. `on_read` sees every batch of sections.

    Raises what the batches and the embedder raise. Close the generator (`contextlib.aclosing`) to stop early.
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
                # Marks it as seen: when embedding failed first, what the file then did is of no interest.
                upcoming.exception()


@asynccontextmanager
async def _split(
    document: Document, batches: Batches, splitter: Splitter, on_read: Callable[[list[Section]], None]
) -> AsyncGenerator[Callable[[], Coroutine[None, None, list[Chunk]]]]:
    loop = asyncio.get_running_loop()
    feed = _Feed(batches, loop, on_read)
    chunks = splitter(document, feed.sections())
    # A thread of its own: it waits for the event loop, so in a shared pool it could wait for a thread that waits for it.
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
    """Batches that arrive on the event loop, read one section at a time by another thread."""

    def __init__(
        self, batches: Batches, loop: asyncio.AbstractEventLoop, on_read: Callable[[list[Section]], None]
    ) -> None:
        self._batches = batches
        self._loop = loop
        self._on_read = on_read
        self._reading: asyncio.Task[object] | None = None
        self._closed = False

    def sections(self) -> Iterator[Section]:
        """To be read in the other thread; ends with `concurrent.futures.CancelledError` once closed."""
        while batch := asyncio.run_coroutine_threadsafe(self._next(), self._loop).result():
            yield from batch

    async def close(self) -> None:
        """Let go of the other thread, whatever it waits for."""
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _next(self) -> list[Section]:
        """The next batch that holds anything; empty at the end."""
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
