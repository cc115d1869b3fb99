"""An ordinary question costs what it cost before there were tables, graphs, research, tools and the web: counted call by call.

The whole engine as `footnote run` composes it, over the real parts. Who adds a call here takes it from every question.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
import pytest_asyncio

from bot import settings
from bot.composition import application as composition
from bot.composition.layers.graph import build_graphs
from bot.observability import Observers
from bot.observability.operations import Embedding, IndexUse, ModelCall, Reranking
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.steps import understand
from rag_engine.types import Answer, ConversationId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from pathlib import Path

    from bot.composition.components import Application
    from bot.observability.operations import Operation
    from rag_engine.engine import Engine
    from rag_engine.types import KnowledgeBaseId

_NUMBERS = itertools.count()

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

FIRST, FOLLOW_UP = "What happens to leave that nobody took?", "And what happens to it in the first year?"
COUNTING = "How many days of leave are lost after March?"
LEAVE = (
    "# Leave\n\nLeave that nobody took by the end of March is lost.\n\nIn the first year it is paid out.\n"
)
PEOPLE = "# People\n\nMarta Kovács leads Project Lantern. Project Lantern is paid by Varnholm Trust.\n"
COSTS = "Team,Month,Amount\nNorth,2025-01,120\nSouth,2025-01,80\nNorth,2025-02,95\n"
_UNDERSTOOD = {
    "route": "search",
    "confidence": 0.9,
    "question": "What happens to leave that nobody took in the first year?",
    "queries": ["leave of the first year", "leave paid out"],
    "keywords": ["leave"],
}
_REPLIES = [
    {"task": "understand", "text": json.dumps(_UNDERSTOOD)},
    {"task": "sql", "text": json.dumps({"sql": ""})},
    {"task": "answer", "text": "Leave that nobody took by the end of March is lost [1]."},
]


@dataclass(slots=True)
class Calls:
    """A sink that counts the uses of ports."""

    made: Counter[str] = field(default_factory=Counter[str])

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        if isinstance(operation, ModelCall | IndexUse | Embedding | Reranking):
            by = f" of {operation.model}" if isinstance(operation, ModelCall) else ""
            self.made[f"{operation.title}{by}"] += 1
        yield

    def depth(self, queue: str, read: Callable[[], float]) -> None: ...
    def waited(self, database: str, seconds: float) -> None: ...
    def circuit(self, backend: str, state: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    application: Application
    calls: Calls
    plain: KnowledgeBaseId
    """The same files as text, without a graph."""
    rich: KnowledgeBaseId
    """With a table and a graph."""

    async def costs(self, engine: Engine, base: KnowledgeBaseId, *asked: str) -> dict[str, int]:
        """Of the last question of a conversation."""
        conversation = ConversationId(f"conversation {next(_NUMBERS)}")
        for text in asked:
            self.calls.made.clear()
            query = Query(text=text, knowledge_bases=frozenset({base}), conversation=conversation)
            async with aclosing(engine.answer(query)) as events:
                (answer,) = [event async for event in events if isinstance(event, Answer)]
            assert "March is lost" in answer.text
            assert answer.citations
        return dict(self.calls.made)


@asynccontextmanager
async def _opened(folder: Path, **more: str) -> AsyncGenerator[Setting]:
    calls = Calls()
    with patch.dict(os.environ, {"FOOTNOTE_DATA_DIR": str(folder / "data"), **more}):
        read = settings.read()
    async with composition.application(read, observers=Observers(sinks=(calls,))) as opened:
        bases: dict[str, KnowledgeBaseId] = {}
        for name, costs in (("plain", "costs.txt"), ("rich", "costs.csv")):
            base = await opened.catalog.open(name, model=opened.library.embedder.model)
            bases[name] = base.id
            for file, text in (("leave.md", LEAVE), ("people.md", PEOPLE), (costs, COSTS)):
                (folder / file).write_text(text, encoding="utf-8")
                blob = await blob_from_path(folder / file)
                await opened.library.ingestion.ingest(blob, knowledge_base=base.id)
        await opened.catalog.graph.switch(bases["rich"], "rules")
        await build_graphs(read, opened.library, bases["rich"])
        assert await opened.catalog.graph.size([bases["rich"]])
        for name, tables in (("plain", 0), ("rich", 1)):
            documents = {one.document.id: bases[name] for one in await opened.catalog.records(bases[name])}
            assert len(await opened.library.tables.tables(documents)) == tables
        setting = Setting(application=opened, calls=calls, **bases)
        # What is read once: vectors of how related sentences are at all.
        await setting.costs(opened.engine, bases["plain"], FIRST)
        yield setting


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quoting(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Setting]:
    async with _opened(tmp_path_factory.mktemp("quoting")) as setting:
        yield setting


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def writing(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Setting]:
    model = {"FOOTNOTE_MODEL__KIND": "scripted", "FOOTNOTE_MODEL__REPLIES": json.dumps(_REPLIES)}
    web = {"FOOTNOTE_WEB_SEARCH__KIND": "wikipedia"}
    async with _opened(tmp_path_factory.mktemp("writing"), **model, **web) as setting:
        yield setting


def _not_understanding(engine: Engine) -> Engine:
    step = partial(
        understand.understand, settings=understand.Settings(), model=None, embedder=engine.embedder
    )
    steps = [replace(one, run=step) if one.name == "understand" else one for one in engine.search_steps]
    return replace(engine, search_steps=steps)


_SEARCHED = {"embed query": 1, "index search": 1, "index read": 3}
_WRITTEN = {**_SEARCHED, "model answer of scripted": 1}
_QUOTED = {"embed query": 3, "embed passage": 2, "index search": 1, "model answer of extractive": 1}
_QUOTED_FOR_TWO_WORDINGS = {"embed query": 5, "embed passage": 4}
_UNDERSTOOD_BY_A_MODEL = {"embed query": 4, "index search": 2, "model understand of scripted": 1}


async def test_with_a_model(writing: Setting) -> None:
    engine = writing.application.engine
    for base in (writing.plain, writing.rich):
        assert await writing.costs(engine, base, FIRST) == _WRITTEN
        assert await writing.costs(engine, base, FIRST, FOLLOW_UP) == {**_WRITTEN, **_UNDERSTOOD_BY_A_MODEL}


async def test_with_a_model_that_does_not_understand_follow_ups(writing: Setting) -> None:
    engine = _not_understanding(writing.application.engine)
    for base in (writing.plain, writing.rich):
        assert await writing.costs(engine, base, FIRST) == _WRITTEN
        assert await writing.costs(engine, base, FIRST, FOLLOW_UP) == _WRITTEN


async def test_without_a_model(quoting: Setting) -> None:
    engine = quoting.application.engine
    for base in (quoting.plain, quoting.rich):
        assert await quoting.costs(engine, base, FIRST) == _QUOTED
        assert await quoting.costs(engine, base, FIRST, FOLLOW_UP) == {**_QUOTED, **_QUOTED_FOR_TWO_WORDINGS}
        assert await quoting.costs(engine, base, COUNTING) == _QUOTED


async def test_a_question_for_a_number_asks_for_one_query_more_where_there_is_a_table(
    writing: Setting,
) -> None:
    engine = writing.application.engine
    assert await writing.costs(engine, writing.plain, COUNTING) == _WRITTEN
    assert await writing.costs(engine, writing.rich, COUNTING) == {**_WRITTEN, "model sql of scripted": 1}
