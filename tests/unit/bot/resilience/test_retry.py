"""Waiting with back-off: as long as asked, no longer than allowed, reported once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from bot.resilience.retry import BACKOFF, RetryingEmbedder, RetryingIndex, RetryPolicy, keep_trying, patient
from rag_engine.embedders.hashing import HashingEmbedder
from rag_engine.errors import IndexUnavailable, Misconfigured, RateLimited, Unavailable
from rag_engine.ports import IndexIdentity
from rag_engine.types import Chunk, ChunkId
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from tests.contracts.indexing import base, dense, document, vector
from tests.doubles import flaky_index
from tests.doubles.vector_cache import MemoryVectorCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rag_engine.types import Matrix, Side


@dataclass(slots=True)
class Failing:
    """Fails so many times, then returns; `error` makes what it fails with."""

    times: int
    error: Callable[[], Exception] = lambda: IndexUnavailable("The index is away.")
    calls: int = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error()
        return "done"


@dataclass(slots=True)
class Told:
    """What a person read."""

    lines: list[str] = field(default_factory=list[str])
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def patience(self, seconds: float = 60) -> RetryPolicy:
        return RetryPolicy(
            seconds=seconds,
            on_wait=self.wait,
            on_resume=self.resume,
            backoff=replace(BACKOFF, chance=lambda: 1.0),
        )

    async def wait(self, error: Unavailable) -> None:
        self.lines.append(f"waiting: {error}")
        self.waiting.set()

    async def resume(self) -> None:
        self.lines.append("going on")


async def test_passing_faults_are_retried_and_reported_once() -> None:
    told, call = Told(), Failing(2)
    async with asyncio.timeout(5):
        assert await told.patience().keep_trying(call) == "done"
    assert call.calls == 3
    assert told.lines == ["waiting: The index is away.", "going on"]


async def test_nothing_is_reported_where_nothing_fails() -> None:
    told = Told()
    assert await told.patience().keep_trying(Failing(0)) == "done"
    assert told.lines == []


async def test_after_its_time_the_last_failure_is_raised() -> None:
    told, call = Told(), Failing(1000)
    async with asyncio.timeout(5):
        with pytest.raises(IndexUnavailable, match="away"):
            await told.patience(seconds=0.6).keep_trying(call)
    assert call.calls >= 3
    assert told.lines == ["waiting: The index is away."]


@pytest.mark.parametrize("seconds", [0, 5])
async def test_what_cannot_pass_in_time_is_not_waited_for(seconds: float) -> None:
    told, call = Told(), Failing(1, lambda: RateLimited(retry_after=60))
    async with asyncio.timeout(5):
        with pytest.raises(RateLimited):
            await told.patience(seconds).keep_trying(call)
    assert (call.calls, told.lines) == (1, [])


async def test_faults_that_the_operator_must_fix_are_not_retried() -> None:
    told, call = Told(), Failing(1, Misconfigured)
    with pytest.raises(Misconfigured):
        await told.patience().keep_trying(call)
    assert (call.calls, told.lines) == (1, [])


async def test_several_that_wait_are_one_outage() -> None:
    told = Told()
    patience = told.patience()
    async with asyncio.timeout(5):
        await asyncio.gather(*(patience.keep_trying(Failing(number)) for number in (1, 2, 1)))
        assert told.lines == ["waiting: The index is away.", "going on"]
        await patience.keep_trying(Failing(1))
    assert told.lines[2:] == ["waiting: The index is away.", "going on"]


async def test_an_outage_that_outlasts_one_patience_is_reported_once() -> None:
    told = Told()
    policy = told.patience(0.01)
    with patient(policy):
        for _ in range(2):
            with pytest.raises(IndexUnavailable):
                await keep_trying(Failing(times=100))
        assert told.lines == ["waiting: The index is away."]
        assert await policy.keep_trying(Failing(times=0)) == "done"
        other = Failing(times=100, error=lambda: RateLimited("Too many requests.", backend="embedder"))
        with pytest.raises(RateLimited):
            await keep_trying(other)
    assert told.lines == ["waiting: The index is away.", "waiting: Too many requests."]


async def test_cancelling_ends_the_wait_at_once_and_a_later_outage_is_reported() -> None:
    told = Told()
    patience = told.patience()
    waiting = asyncio.create_task(
        patience.keep_trying(Failing(1000, lambda: RateLimited("Slower.", retry_after=59)))
    )
    async with asyncio.timeout(5):
        await told.waiting.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await patience.keep_trying(Failing(1))
    assert told.lines == ["waiting: Slower.", "waiting: The index is away.", "going on"]


async def test_nobody_waits_outside_of_a_patient_block() -> None:
    call = Failing(1)
    with pytest.raises(IndexUnavailable):
        await keep_trying(call)
    told = Told()
    with patient(told.patience()):
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            task = group.create_task(keep_trying(Failing(1)))
    assert task.result() == "done"
    assert told.lines[-1] == "going on"
    with pytest.raises(IndexUnavailable):
        await keep_trying(Failing(1))


@dataclass(slots=True)
class AwayEmbedder:
    """A hashing embedder that fails once before each side's first success, and remembers what it embedded."""

    inner: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(dimensions=24, max_tokens=64))
    embedded: list[str] = field(default_factory=list[str])
    failures: set[Side] = field(default_factory=lambda: {"query", "passage"})
    model: str = "away@1"
    dimensions: int = 24
    max_tokens: int = 64

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if side in self.failures:
            self.failures.discard(side)
            raise RateLimited("Slower.", backend="double")
        self.embedded.extend(texts)
        return await self.inner.embed(texts, side=side)


async def test_passages_wait_for_the_embedder_and_questions_do_not() -> None:
    inner, told = AwayEmbedder(), Told()
    embedder = CachedEmbedder(RetryingEmbedder(inner), MemoryVectorCache())
    with patient(told.patience()):
        async with asyncio.timeout(5):
            with pytest.raises(RateLimited):
                await embedder.embed(["a question"], side="query")
            assert (await embedder.embed(["a", "b"], side="passage")).shape == (2, 24)
    assert inner.embedded == ["a", "b"]
    assert told.lines == ["waiting: Slower.", "going on"]
    assert (embedder.model, embedder.dimensions, embedder.max_tokens) == ("away@1", 24, 64)
    assert embedder.count_tokens("a b") == inner.count_tokens("a b")


async def test_writing_waits_for_the_index_and_searching_does_not(tmp_path: Path) -> None:
    identity = IndexIdentity(model="m", dimensions=24, analyzer="a")
    of, told = document("leave"), Told()
    away = tmp_path / flaky_index.AWAY
    chunk = Chunk(id=ChunkId("c"), document=of.id, knowledge_base=of.knowledge_base, ordinal=0, text="leave")

    async def comes_back(error: Unavailable) -> None:
        await told.wait(error)
        away.unlink()

    patience = RetryPolicy(seconds=60, on_wait=comes_back, on_resume=told.resume)
    async with flaky_index.connect(flaky_index.Settings(), data_dir=tmp_path, identity=identity) as inner:
        index = RetryingIndex(inner)
        with patient(patience):
            async with asyncio.timeout(5):
                away.touch()
                await index.put(of, [(chunk, vector(1))])
                assert [found.id async for found, _ in index.scan(base("kb"))] == ["c"]
                away.touch()
                with pytest.raises(IndexUnavailable):
                    await index.search([dense(vector(1))])
                await index.drop(of.knowledge_base, of.id)
        assert await index.count(base("kb")) == 0
    assert told.lines == [f"waiting: {flaky_index.SENTENCE}", "going on"] * 2
