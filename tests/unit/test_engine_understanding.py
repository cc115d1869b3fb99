"""What a model understood of a message: questions back, edits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from rag_engine.errors import ModelUnavailable
from rag_engine.generation.phrases import phrase
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.retrieval.queries.understood_message import Understanding
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import (
    Answer,
    ConversationId,
)
from tests.databases import new_database
from tests.unit.engine_setup import HITS, QUERY, engine, events, saying
from tests.unit.prompting import ScriptedAnswerer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

    from rag_engine.engine import Engine


@pytest.fixture
async def history(tmp_path: Path) -> AsyncGenerator[SqliteHistory]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteHistory(database)


def _understanding(**values: Any) -> Callable[[Inquiry], Awaitable[Inquiry]]:
    """A search step that found HITS and understood the message so."""

    async def find(inquiry: Inquiry) -> Inquiry:
        understood = Understanding(**values)
        return replace(
            inquiry,
            hits=() if understood.route in ("chat", "clarify") else HITS,
            understanding=understood,
            route=understood.route,
            question=understood.question or inquiry.question,
        )

    return find


def _routing(running: Engine, **values: Any) -> Engine:
    find = NamedStep(name="find", run=_understanding(**values))
    return replace(running, search_steps=[find])


async def test_a_question_back_is_the_answer(history: SqliteHistory, tmp_path: Path) -> None:
    model = saying("never")
    async with engine(history, [model], tmp_path) as running:
        told = await events(_routing(running, route="clarify", counter_question="Which office?"))
    answer = cast("Answer", told[-1])
    assert (answer.text, answer.route, answer.citations) == ("Which office?", "clarify", ())
    assert model.prompts == []
    assert [turn.text for turn in await history.read(ConversationId("c"), limit=9)] == [
        QUERY.text,
        "Which office?",
    ]


async def test_what_was_understood_stands_in_the_answer(history: SqliteHistory, tmp_path: Path) -> None:
    async with engine(history, [saying("Four weeks [1].")], tmp_path) as running:
        done = await events(_routing(running, question="How long is the notice period in Berlin?"))
        same = await events(_routing(running, question="how long is the notice period"))
    assert cast("Answer", done[-1]).understood_as == "How long is the notice period in Berlin?"
    assert cast("Answer", same[-1]).understood_as == ""
    trace = await history.trace(cast("Answer", done[-1]).turn)
    assert trace is not None
    assert trace.details["searched_for"] == "How long is the notice period in Berlin?"


@pytest.mark.parametrize(
    ("asked", "route"), [("shorter", "edit"), ("as a table", "edit"), ("And in Berlin?", "search")]
)
async def test_an_edit_is_recognised_after_an_answer(
    history: SqliteHistory, tmp_path: Path, asked: str, route: str
) -> None:
    model = saying("Four weeks [1].")
    async with engine(history, [model], tmp_path) as running:
        first = await events(running, replace(QUERY, text=asked))
        await events(running)
        then = await events(running, replace(QUERY, text=asked))
    assert cast("Answer", first[-1]).route == "search"
    assert cast("Answer", then[-1]).route == route


@pytest.mark.parametrize(("asked", "language"), [("shorter", "en"), ("kürzer", "de")])
async def test_without_a_model_an_edit_says_what_it_takes(
    history: SqliteHistory, tmp_path: Path, asked: str, language: str
) -> None:
    async with engine(history, [], tmp_path) as running:
        await events(running)
        then = cast("Answer", (await events(running, replace(QUERY, text=asked, language=language)))[-1])
    assert (then.route, then.citations, then.repeatable) == ("edit", (), False)
    assert then.text == phrase("rewriting_needs_model", language=language)


@pytest.mark.parametrize(("asked", "language"), [("shorter", "en"), ("kürzer", "de")])
async def test_an_edit_that_no_model_writes_says_so_in_place_of_quotes(
    history: SqliteHistory, tmp_path: Path, asked: str, language: str
) -> None:
    async with engine(history, [saying("Four weeks [1].")], tmp_path) as running:
        await events(running)
    broken = saying(fault=ModelUnavailable("The language model does not answer."))
    async with engine(history, [broken], tmp_path) as running:
        then = cast("Answer", (await events(running, replace(QUERY, text=asked, language=language)))[-1])
    assert (then.route, then.citations) == ("edit", ())
    assert then.text == phrase("rewriting_failed", language=language)
    assert then.notices == ("The language model does not answer.",)


@pytest.mark.parametrize(
    ("asked", "understood", "scope"),
    [
        ("and in more detail, please?", "Wie lang ist die Kündigungsfrist?", "hr und handbook"),
        ("und bitte noch genauer?", "How long is the notice period?", "hr and handbook"),
    ],
)
async def test_the_place_is_named_in_the_language_that_the_answer_is_written_in(
    history: SqliteHistory, tmp_path: Path, asked: str, understood: str, scope: str
) -> None:
    answerer = ScriptedAnswerer("Four weeks [1].")
    query = replace(QUERY, text=asked, scopes={"de": "hr und handbook", "en": "hr and handbook"})
    async with engine(history, [], tmp_path, answerer=answerer) as running:
        await events(_routing(running, question=understood), query)
    assert [request.scope for request in answerer.requests] == [scope]
