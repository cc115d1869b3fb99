"""The engine: one answer from question to history, with a model that fails, thinks, stalls or is cancelled."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine import citations
from rag_engine.errors import ModelUnavailable, QueryTooLong, StorageUnavailable, UserError
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import (
    Answer,
    AnswerRequest,
    ConversationId,
    Delta,
    Message,
    Prompt,
    Retrieval,
    Stage,
    Turn,
    TurnId,
)
from tests.databases import new_database
from tests.unit.engine_setup import HITS, QUERY, engine, events, saying
from tests.unit.prompting import ScriptedAnswerer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.types import Trace


@pytest.fixture
async def history(tmp_path: Path) -> AsyncGenerator[SqliteHistory]:
    async with connect(new_database(tmp_path / "footnote.sqlite")) as database:
        yield SqliteHistory(database)


QUOTING = ScriptedLine(pieces=("Four weeks [1].",))


async def test_stages_then_passages_then_growing_text_then_the_answer(
    history: SqliteHistory, tmp_path: Path
) -> None:
    model = saying("It is four", " weeks 【1", "】.")
    async with engine(history, [model], tmp_path) as running:
        told = await events(running)
    kinds = [type(event) for event in told]
    assert kinds[0] is Stage
    assert kinds.index(Retrieval) < kinds.index(Delta)
    assert kinds.count(Answer) == 1
    answer = told[-1]
    assert isinstance(answer, Answer)
    shown = "".join(event.text for event in told if isinstance(event, Delta))
    assert shown == answer.text == "It is four weeks [1]."
    assert [(citation.title, citation.anchor) for citation in answer.citations] == [("contract.pdf", "p. 2")]
    assert answer.citations[0].quote in HITS[0].chunk.text
    assert answer.grounded
    assert {"history", "find", "pack", "answer", "first_text", "citations"} <= set(answer.timings)


async def test_both_turns_and_the_trace_are_kept_and_the_next_question_sees_them(
    history: SqliteHistory, tmp_path: Path
) -> None:
    model = saying("Four weeks [1].")
    async with engine(history, [model], tmp_path) as running:
        first = (await events(running))[-1]
        await events(running, replace(QUERY, text="And of leave?"))
    assert isinstance(first, Answer)
    turns = await history.read(ConversationId("c"), limit=10)
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]
    trace = await history.trace(first.turn)
    assert trace is not None
    assert trace.details["question"] == QUERY.text
    cited = cast("list[dict[str, object]]", trace.details["citations"])
    assert [(item["document"], item["chunk"]) for item in cited] == [
        (HITS[0].chunk.document, HITS[0].chunk.id)
    ]
    assert "Four weeks" in model.prompts[1][1].messages[0].content


async def test_a_model_that_fails_before_its_first_text_gives_way_to_the_next(
    history: SqliteHistory, tmp_path: Path
) -> None:
    broken = ScriptedModel([ScriptedLine(fault=ModelUnavailable("The server is on fire."))], name="broken")
    async with engine(history, [broken], tmp_path) as running:
        answer = (await events(running))[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "Four weeks [1]."
    assert answer.fallbacks == ("model_unavailable",)
    assert answer.notices == ("The server is on fire. The best passages are quoted instead.",)


async def test_a_further_model_with_a_small_window_gets_a_prompt_of_its_own(
    history: SqliteHistory, tmp_path: Path
) -> None:
    async def packed_small(inquiry: Inquiry) -> Inquiry:
        messages = (Message(role="user", content="short"),)
        return replace(inquiry, prompt=Prompt(messages=messages, passages=inquiry.hits[:1]))

    async def packed(inquiry: Inquiry) -> Inquiry:
        messages = (Message(role="user", content="long"),)
        prompt = Prompt(messages=messages, passages=inquiry.hits, tokens=900, reply_tokens=200)
        return replace(inquiry, prompt=prompt)

    broken = ScriptedModel(
        [ScriptedLine(fault=ModelUnavailable("Gone."))], name="broken", context_tokens=9000
    )
    for window, expected in ((1099, "short"), (1100, "long")):
        small = ScriptedModel([QUOTING], name="small", context_tokens=window)
        async with engine(history, [broken, small], tmp_path) as running:
            chain = replace(
                running,
                prompt_steps=[NamedStep(name="pack", run=packed)],
                prompt_steps_for=lambda model: [NamedStep(name="pack", run=packed_small)],
            )
            answer = (await events(chain))[-1]
        assert isinstance(answer, Answer)
        assert answer.text == "Four weeks [1]."
        ((_, prompt),) = small.prompts
        assert prompt.messages[0].content == expected
        trace = await history.trace(answer.turn)
        assert trace is not None
        assert len(trace.details["passages"]) == (1 if expected == "short" else len(HITS))


async def test_a_stream_that_breaks_off_keeps_its_text_and_is_marked(
    history: SqliteHistory, tmp_path: Path
) -> None:
    broken = saying("Four weeks [1]. And ", "then", fault=ModelUnavailable("Gone."))
    async with engine(history, [broken], tmp_path) as running:
        told = await events(running)
    answer = told[-1]
    assert isinstance(answer, Answer)
    assert answer.text.startswith("Four weeks [1]. And then")
    assert answer.notices == ("The answer broke off: Gone.",)
    assert broken.open_replies == 0


async def test_what_others_said_keeps_its_place_in_the_conversation(
    history: SqliteHistory, tmp_path: Path
) -> None:
    model = ScriptedModel([QUOTING, QUOTING])
    before, after = (
        Turn(id=TurnId(said), conversation=ConversationId("c"), role="user", text=said, at=at)
        for said, at in (("Ann: The contract is new.", 1.0), ("Ben: And for trainees?", 9e9))
    )
    async with engine(history, [model], tmp_path) as running:
        await events(running)
        await events(running, replace(QUERY, text="So?", other_turns=(after, before)))
    sent = model.prompts[-1][1].messages[0].content.splitlines()
    assert sent == [before.text, QUERY.text, "Four weeks [1].", after.text, "So?"]
    assert len(await history.read(ConversationId("c"), limit=10)) == 4  # what was only heard is not written


async def test_the_answerers_failure_reaches_the_caller(history: SqliteHistory, tmp_path: Path) -> None:
    broken = ScriptedAnswerer(fault=ModelUnavailable("Gone."))
    async with engine(history, [], tmp_path, answerer=broken) as running:
        with pytest.raises(ModelUnavailable, match="Gone"):
            await events(running)
    assert await history.read(ConversationId("c"), limit=10) == []


async def test_without_passages_a_generative_model_is_not_asked(
    history: SqliteHistory, tmp_path: Path
) -> None:
    generative = saying("I make this up.")
    quoting = ScriptedAnswerer("I did not find this.")
    async with engine(history, [generative], tmp_path, hits=(), answerer=quoting) as running:
        answer = (await events(running))[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "I did not find this."
    assert not answer.grounded
    assert generative.prompts == []


async def test_an_answer_without_markers_is_cited_by_comparison_and_only_grows(
    history: SqliteHistory, tmp_path: Path
) -> None:
    model = saying("The notice period is four weeks. Leave is 28 days a year.")
    async with engine(history, [model], tmp_path) as running:
        told = await events(running)
    answer = told[-1]
    assert isinstance(answer, Answer)
    shown = "".join(event.text for event in told if isinstance(event, Delta))
    assert answer.text == "The notice period is four weeks [1]. Leave is 28 days a year [2]."
    assert answer.text.replace(" [1]", "").replace(" [2]", "") == shown


async def test_the_answerer_is_given_the_question_the_passages_and_how_to_speak_of_them(
    history: SqliteHistory, tmp_path: Path
) -> None:
    answerer = ScriptedAnswerer("Four weeks [1].")
    async with engine(history, [], tmp_path, answerer=answerer) as running:
        answer = (await events(running, replace(QUERY, language="de")))[-1]
    assert isinstance(answer, Answer)
    assert (answer.model, answer.notices, answer.grounded) == ("quotes", (), True)
    assert answerer.requests == [
        AnswerRequest(question=QUERY.text, passages=HITS, scope="handbook", language="de")
    ]


async def test_stopping_closes_the_models_reply(history: SqliteHistory, tmp_path: Path) -> None:
    model = saying("Four ", gates=(asyncio.Event(),))
    async with engine(history, [model], tmp_path) as running:

        async def read() -> None:
            async with aclosing(running.answer(QUERY)) as answering:
                async for _ in answering:
                    pass

        reading = asyncio.create_task(read())
        async with asyncio.timeout(5):
            await model.opened.wait()
            assert model.open_replies == 1
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
    assert model.open_replies == 0


class FullDisk:
    """A history that can be read but not written."""

    async def read(
        self, conversation: ConversationId, *, limit: int, before: TurnId | None = None
    ) -> list[Turn]:
        return []

    async def write(self, turns: Sequence[Turn], trace: Trace, *, in_place_of: Sequence[TurnId] = ()) -> None:
        raise StorageUnavailable("The disk is full.")


async def test_an_answer_that_cannot_be_kept_is_still_given(tmp_path: Path) -> None:
    async with engine(FullDisk(), [saying("Four weeks [1].")], tmp_path) as running:
        answer = (await events(running))[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "Four weeks [1]."
    assert answer.fallbacks == ("history_unavailable",)
    assert "The disk is full." in answer.notices[0]


async def test_questions_that_cannot_be_asked(history: SqliteHistory, tmp_path: Path) -> None:
    async with engine(history, [saying("x")], tmp_path) as running:
        with pytest.raises(QueryTooLong, match="1,001 characters and at most 1,000"):
            await events(running, replace(QUERY, text="x" * 1001))
        with pytest.raises(UserError, match="words"):
            await events(running, replace(QUERY, text="🎉🎉"))


async def test_an_answer_names_its_filters(history: SqliteHistory, tmp_path: Path) -> None:
    async with engine(history, [saying("x")], tmp_path) as running:
        *_, answer = await events(running, replace(QUERY, text=f"{QUERY.text} in:leave.md"))
    assert isinstance(answer, Answer)
    assert answer.filtered_by == "in:leave.md"


async def test_a_model_that_thinks_unannounced_is_remembered(history: SqliteHistory, tmp_path: Path) -> None:
    thought = "Notice periods are in the contract, so I look there and find it." * 3
    model = saying(f"{thought}</think>It is four weeks [1].")
    assert citations.MarkerStream(HITS).feed(thought), "the premise: nothing tells it from an answer"
    async with engine(history, [model], tmp_path) as running:
        await events(running)
        second = await events(running)
    assert "".join(event.text for event in second if isinstance(event, Delta)) == "It is four weeks [1]."
