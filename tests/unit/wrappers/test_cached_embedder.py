from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders.hashing import HashingEmbedder
from rag_engine.errors import EmbedderUnavailable, StorageUnavailable
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from tests.doubles.vector_cache import MemoryVectorCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix, Side


@dataclass(slots=True)
class Watched:
    """A hashing embedder that notes its texts, and can stop for good after some."""

    inner: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(dimensions=32, max_tokens=64))
    seen: list[str] = field(default_factory=list)
    last: str = ""
    failing: bool = False
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    model: str = "watched@1"
    dimensions: int = 32
    max_tokens: int = 64

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        self.seen.extend(texts)
        if self.last in texts and self.last:
            self.stopped.set()
            if self.failing:
                raise EmbedderUnavailable
            await asyncio.Event().wait()
        return await self.inner.embed(texts, side=side)


@pytest.fixture
def cache() -> MemoryVectorCache:
    return MemoryVectorCache()


@pytest.fixture
def watched() -> Watched:
    return Watched()


async def test_each_passage_is_embedded_once(watched: Watched, cache: MemoryVectorCache) -> None:
    embedder = CachedEmbedder(watched, cache)
    first = await embedder.embed(["a", "b", "a", ""], side="passage")
    again = await embedder.embed(["", "c", "a", "c"], side="passage")
    assert watched.seen == ["a", "b", "", "c"]
    assert np.array_equal(again, np.stack([first[3], again[1], first[0], again[1]]))
    assert np.array_equal(first, await watched.inner.embed(["a", "b", "a", ""], side="passage"))


async def test_another_model_shares_nothing(watched: Watched, cache: MemoryVectorCache) -> None:
    await CachedEmbedder(watched, cache).embed(["a"], side="passage")
    other = Watched(model="watched@2")
    await CachedEmbedder(other, cache).embed(["a"], side="passage")
    assert other.seen == ["a"]


async def test_queries_are_remembered_but_not_stored(watched: Watched, cache: MemoryVectorCache) -> None:
    embedder = CachedEmbedder(watched, cache)
    first = await embedder.embed(["q", "q", "r"], side="query")
    first[0] += 1
    again = await embedder.embed(["q"], side="query")
    assert np.array_equal(again[0], first[1])
    assert watched.seen == ["q", "r"]
    assert cache.vectors == {}


async def test_only_the_last_queries_are_remembered(watched: Watched, cache: MemoryVectorCache) -> None:
    embedder = CachedEmbedder(watched, cache)
    for number in range(300):
        await embedder.embed([f"query {number}"], side="query")
    watched.seen.clear()
    await embedder.embed(["query 299", "query 0"], side="query")
    assert watched.seen == ["query 0"]


async def test_more_queries_at_once_than_are_remembered(watched: Watched, cache: MemoryVectorCache) -> None:
    texts = [f"query {number}" for number in range(600)]
    rows = await CachedEmbedder(watched, cache).embed(texts, side="query")
    assert np.array_equal(rows, await watched.inner.embed(texts, side="query"))


async def test_an_interruption_keeps_what_was_done(watched: Watched, cache: MemoryVectorCache) -> None:
    texts = [f"text {number}" for number in range(1000)]
    watched.last = texts[700]
    cache.awaited = 900
    embedder = CachedEmbedder(watched, cache)
    call = asyncio.create_task(embedder.embed(texts, side="passage"))
    async with asyncio.timeout(5):
        await watched.stopped.wait()
        await cache.reached.wait()  # the other lane goes on to the end
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    kept = len(cache.vectors)
    assert kept >= 900
    watched.seen.clear()
    watched.last = ""
    rows = await embedder.embed(texts, side="passage")
    assert len(watched.seen) == len(texts) - kept
    assert np.array_equal(rows, await watched.inner.embed(texts, side="passage"))


async def test_an_error_comes_out_as_itself_and_keeps_what_was_done(
    watched: Watched, cache: MemoryVectorCache
) -> None:
    texts = [f"text {number}" for number in range(500)]
    watched.last, watched.failing = texts[400], True
    with pytest.raises(EmbedderUnavailable):
        await CachedEmbedder(watched, cache).embed(texts, side="passage")
    assert 0 < len(cache.vectors) < 500


async def test_a_broken_cache_is_reported(watched: Watched) -> None:
    cache = MemoryVectorCache(broken=True)
    with pytest.raises(StorageUnavailable):
        await CachedEmbedder(watched, cache).embed(["a"], side="passage")


async def test_writes_come_in_batches(watched: Watched, cache: MemoryVectorCache) -> None:
    await CachedEmbedder(watched, cache).embed([f"text {number}" for number in range(200)], side="passage")
    assert sum(cache.writes) == 200
    assert max(cache.writes) <= 64


def test_the_rest_of_the_port_is_the_embedder_s_own(watched: Watched, cache: MemoryVectorCache) -> None:
    embedder = CachedEmbedder(watched, cache)
    assert (embedder.model, embedder.dimensions, embedder.max_tokens) == ("watched@1", 32, 64)
    assert embedder.count_tokens("two words") == 2
