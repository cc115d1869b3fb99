"""What is reached over a network is guarded, each service by itself; what works in this process is not."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from bot.composition import loader
from bot.resilience.circuit_breakers import Breakers
from bot.resilience.retry import BACKOFF, RetryingIndex, RetryPolicy, patient
from bot.settings import BreakerSettings
from rag_engine.errors import EmbedderUnavailable, IndexUnavailable, ModelUnavailable, Unavailable
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from tests.unit.prompting import asking

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from rag_engine.ports import Embedder, LanguageModel, Reranker, StoredIndex
    from rag_engine.types import Document, Prompt


def breakers(*, failures: int = 2, rest: float = 10.0) -> Breakers:
    return Breakers(settings=BreakerSettings(failures=failures, rest_seconds=rest))


@dataclass
class Server:
    """Any service: it counts what it is asked, and fails while it is away."""

    away: bool = True
    writable: bool = True
    asked: int = 0
    name: str = "server"
    context_tokens: int = 8192
    window_is_assumed: bool = False
    model: str = "m"
    dimensions: int = 2
    max_tokens: int = 16
    open: list[str] = field(default_factory=list)

    def _answer(self, error: Unavailable) -> None:
        self.asked += 1
        if self.away:
            raise error

    async def search(self, searches: object) -> list[object]:
        self._answer(IndexUnavailable("No index."))
        return []

    async def put(self, document: object, chunks: object) -> None:
        self._answer(IndexUnavailable("No index."))
        if not self.writable:
            raise IndexUnavailable("The disk is full.", reason="read_only")

    async def embed(self, texts: list[str], *, side: str) -> object:
        self._answer(EmbedderUnavailable("No embedder."))
        return np.zeros((len(texts), 2), np.float32)

    async def rerank(self, query: str, hits: list[object], *, limit: int) -> list[object]:
        self._answer(Unavailable("No reranker."))
        return hits

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        self._answer(ModelUnavailable("No model."))

        async def pieces() -> AsyncIterator[str]:
            yield "yes"
            if not self.writable:
                raise ModelUnavailable("It broke off.")

        yield pieces()


async def said(model: LanguageModel) -> str:
    async with model.stream(asking("How long?"), task="answer") as pieces:
        return "".join([piece async for piece in pieces])


@pytest.mark.parametrize("port", ["index", "embedder", "model", "reranker"])
async def test_a_service_that_is_away_is_asked_no_more_until_it_has_rested(port: str) -> None:
    server, guards = Server(), breakers()
    if port == "index":
        index = guards.index(cast("StoredIndex", server), is_local=False)
        call = lambda: index.search([])  # noqa: E731
    elif port == "embedder":
        embedder = guards.embedder(cast("Embedder", server), is_local=False)
        call = lambda: embedder.embed(["a"], side="query")  # noqa: E731
    elif port == "model":
        model = guards.model(cast("LanguageModel", server), is_local=False)
        call = lambda: said(model)  # noqa: E731
    else:
        reranker = guards.reranker(cast("Reranker", server), is_local=False)
        call = lambda: reranker.rerank("a", [], limit=1)  # noqa: E731
    told: list[tuple[str, str]] = []
    guards.on_change = lambda backend, state: told.append((backend, state))
    for _ in range(5):
        with pytest.raises(Unavailable, match="No "):
            await call()
    assert server.asked == 2
    (changed,) = told
    assert changed == (next(each.backend for each in guards.circuits if each.state == "open"), "open")


def test_what_works_in_this_process_is_left_as_it_is() -> None:
    guards, part = breakers(), Server()
    assert guards.index(cast("StoredIndex", part), is_local=True) is part
    assert guards.embedder(cast("Embedder", part), is_local=True) is part
    assert guards.model(cast("LanguageModel", part), is_local=True) is part
    assert guards.reranker(cast("Reranker", part), is_local=True) is part
    assert guards.circuits == []


@pytest.mark.parametrize(
    ("family", "kind", "expected"),
    [
        ("indexes", "embedded", True),
        ("indexes", "elasticsearch", False),
        ("embedders", "local", True),
        ("embedders", "hashing", True),
        ("embedders", "openai", False),
        ("models", "scripted", True),
        ("models", "openai", False),
        ("rerankers", "http", False),
    ],
)
def test_a_part_says_itself_whether_it_is_local(family: str, kind: str, expected: bool) -> None:
    assert loader.is_local(family, kind) is expected


async def test_an_index_that_takes_nothing_in_can_still_be_searched() -> None:
    server, guards = Server(away=False, writable=False), breakers()
    index = guards.index(cast("StoredIndex", server), is_local=False)
    for _ in range(3):
        with pytest.raises(IndexUnavailable, match="disk"):
            await index.put(cast("Document", None), [])
    assert await index.search([]) == []
    assert [each.state for each in guards.circuits] == ["closed", "open"]


async def test_a_model_that_has_started_to_answer_is_there_whatever_becomes_of_the_reply() -> None:
    server, guards = Server(away=False, writable=False), breakers(failures=1)
    model = guards.model(cast("LanguageModel", server), is_local=False)
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="broke off"):
            await said(model)
    assert guards.circuits[0].state == "closed"


def test_models_of_one_name_are_distinguished() -> None:
    guards = breakers()
    for name in ("gpt-4o", "gpt-4", "gpt-4o"):
        guards.model(ScriptedModel([ScriptedLine()], name=name), is_local=False)
    assert [each.backend for each in guards.circuits] == [
        "language model gpt-4o",
        "language model gpt-4",
        "language model gpt-4o (2)",
    ]


async def test_a_file_waits_for_an_index_that_is_left_alone_and_goes_in_when_it_is_back() -> None:
    server, guards = Server(), breakers(rest=0.05)
    index = RetryingIndex(guards.index(cast("StoredIndex", server), is_local=False))
    waits = asyncio.Event()

    async def on_wait(error: Unavailable) -> None:
        waits.set()

    async def on_resume() -> None:
        pass

    async def put() -> None:
        with patient(
            RetryPolicy(
                seconds=30, on_wait=on_wait, on_resume=on_resume, backoff=replace(BACKOFF, chance=lambda: 1.0)
            )
        ):
            await index.put(cast("Document", None), [])

    async with asyncio.timeout(10):
        putting = asyncio.create_task(put())
        await waits.wait()
        opened = asyncio.Event()
        guards.on_change = lambda backend, state: opened.set()
        await opened.wait()  # the second attempt failed, too
        server.away = False
        await putting
    assert guards.circuits[1].state == "closed"
