"""Parser, splitter and embedder run concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.ingestion.prefetch import reading_ahead
from rag_engine.ingestion.spool import chunk_spool
from rag_engine.storage.concurrency.iterators import close
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, Section

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Embedder, Splitter
    from rag_engine.types import Document, Vector

Batches: TypeAlias = AsyncIterator[list[Section]]
Slice: TypeAlias = "list[tuple[Chunk, Vector]]"

_SLICE = 64


async def at_once(sections: list[Section]) -> AsyncGenerator[list[Section]]:
    yield sections


async def embedded(
    document: Document,
    batches: Batches,
    *,
    splitter: Splitter,
    embedder: Embedder,
    on_read: Callable[[list[Section]], None],
    on_split: Callable[[int], None] | None = None,
    folder: Path | None = None,
) -> AsyncGenerator[Slice]:
    """In reading order. `on_read` sees every batch, `on_split` the count of new chunks, ahead of the embedder; close
    the iterator to stop early (`contextlib.aclosing`).
    """
    split = _split(document, batches, splitter, on_read, on_split or _ignore)
    with chunk_spool(folder) as spool:
        async with reading_ahead(split, spool, most=_SLICE) as slices:
            async for chunks in slices:
                matrix = await embedder.embed([searchable_text(chunk) for chunk in chunks], side="passage")
                yield list(zip(chunks, matrix, strict=True))


async def _split(
    document: Document,
    batches: Batches,
    splitter: Splitter,
    on_read: Callable[[list[Section]], None],
    on_split: Callable[[int], None],
) -> AsyncGenerator[list[Chunk]]:
    loop = asyncio.get_running_loop()
    feed = _Feed(batches, loop, on_read)
    chunks = filter(_can_be_found, splitter(document, feed.sections()))
    # It waits for the event loop: in a shared pool it could deadlock.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="split")

    def take() -> list[Chunk]:
        return list(islice(chunks, _SLICE))

    try:
        while part := await loop.run_in_executor(executor, take):
            on_split(len(part))
            yield part
    finally:
        await feed.close()
        await close(batches)
        executor.shutdown(wait=False)


def _can_be_found(chunk: Chunk) -> bool:
    return any(map(str.isalnum, chunk.text))


def _ignore(count: int) -> None: ...


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
