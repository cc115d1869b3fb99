"""Several language models in turn: which is called, for how long, and what the user sees."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import BadSettings, ContentFiltered, ContextTooLong, ModelUnavailable, RagError
from rag_engine.generation.generate import GeneratedReply, reply
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.types import AnswerRequest, Delta
from tests.unit.prompting import ScriptedAnswerer, asking, passages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.generation.generate import Refit
    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Prompt

PROMPT = asking("How long?", *passages("Notice is four weeks."))


@pytest.fixture
async def embedder(tmp_path: Path) -> AsyncGenerator[Embedder]:
    async with hashing.connect(hashing.Settings(), data_dir=tmp_path) as connected:
        yield connected


def says(name: str, *pieces: str, fault: RagError | None = None, window: int = 8192) -> ScriptedModel:
    return ScriptedModel([ScriptedLine(pieces=pieces, fault=fault)], name=name, context_tokens=window)


def away(name: str, sentence: str = "It is away.") -> ScriptedModel:
    return says(name, fault=ModelUnavailable(sentence))


class Silent:
    """A model that never begins: its reply opens without text, or does not open."""

    context_tokens = 8192
    window_is_assumed = False

    def __init__(self, name: str, *, opens: bool) -> None:
        self.name = name
        self._opens = opens
        self.closed = asyncio.Event()

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        async def pieces() -> AsyncIterator[str]:
            await asyncio.Event().wait()
            yield ""

        try:
            if not self._opens:
                await asyncio.Event().wait()
            yield pieces()
        finally:
            self.closed.set()


async def told(
    embedder: Embedder,
    models: Sequence[LanguageModel],
    *,
    answerer: ScriptedAnswerer | None = None,
    seconds: float = 60.0,
    refit: Refit | None = None,
    prompt: Prompt = PROMPT,
) -> tuple[str, GeneratedReply]:
    """The streamed text and the final reply."""
    grown = ""
    replying = reply(
        prompt,
        AnswerRequest(question="How long?", passages=prompt.passages),
        models=models,
        answerer=answerer or ScriptedAnswerer("Quoted [1]."),
        embedder=embedder,
        thinkers=set(),
        seconds=seconds,
        refit=refit,
    )
    async with asyncio.timeout(10), aclosing(replying) as events:
        async for event in events:
            if isinstance(event, Delta):
                grown += event.text
            else:
                return grown, event
    raise AssertionError("nothing was told")


async def test_the_next_model_answers_and_the_line_names_it(embedder: Embedder) -> None:
    grown, end = await told(embedder, [away("one"), says("two", "Four weeks [1].")])
    assert grown == "Four weeks [1]."
    assert end.model == "two"
    assert end.notices == ("It is away. two answered instead.",)
    assert end.fallbacks == ("model_unavailable",)


async def test_where_none_answers_passages_are_quoted_and_one_line_says_why(embedder: Embedder) -> None:
    grown, end = await told(embedder, [away("one"), away("two", "Gone, too.")])
    assert grown == "Quoted [1]."
    assert end.notices == ("It is away. The best passages are quoted instead.",)
    assert end.fallbacks == ("model_unavailable", "model_unavailable")


async def test_without_passages_only_the_answerer_replies(embedder: Embedder) -> None:
    model, answerer = says("one", "I make this up."), ScriptedAnswerer("I did not find this.")
    _, end = await told(embedder, [model], answerer=answerer, prompt=asking("How long?"))
    assert (end.text, end.model, end.citations, end.notices) == ("I did not find this.", "quotes", (), ())
    assert (len(answerer.requests), model.prompts) == (1, [])


async def test_what_the_answerer_said_stays_when_it_breaks_off(embedder: Embedder) -> None:
    broken = ScriptedAnswerer("Quoted [1].", " And", fault=ModelUnavailable("Gone."))
    grown, end = await told(embedder, [], answerer=broken)
    assert grown == "Quoted [1]. And"
    assert (end.notices, end.fallbacks[0]) == (("The answer broke off: Gone.",), "stream_cut")


async def test_where_nothing_is_found_nothing_is_said_to_be_quoted(embedder: Embedder) -> None:
    grown, end = await told(embedder, [away("one")], answerer=ScriptedAnswerer("I did not find this."))
    assert grown == "I did not find this."
    assert end.notices == ("It is away.",)


async def test_a_stream_that_is_cut_is_not_handed_to_the_next(embedder: Embedder) -> None:
    cut = says("two", "Four weeks [1]. And", " then", fault=ModelUnavailable("It broke."))
    grown, end = await told(embedder, [away("one"), cut, says("three", "never")])
    assert grown == "Four weeks [1]. And then"
    assert end.notices == ("It is away. two answered instead.", "The answer broke off: It broke.")
    assert end.fallbacks[:2] == ("model_unavailable", "stream_cut")


async def test_what_the_filter_of_one_model_stopped_is_asked_of_no_other(embedder: Embedder) -> None:
    other = says("two", "How to do it: …")
    grown, end = await told(embedder, [says("one", fault=ContentFiltered()), other])
    assert (grown, end.model, other.prompts) == ("Quoted [1].", "quotes", [])


@pytest.mark.parametrize("opens", [True, False])
async def test_models_that_never_begin_share_the_time_and_their_connections_are_closed(
    embedder: Embedder, opens: bool
) -> None:
    one, two = Silent("one", opens=opens), Silent("two", opens=opens)
    loop = asyncio.get_running_loop()
    started = loop.time()
    grown, end = await told(embedder, [one, two], seconds=0.4)
    assert loop.time() - started < 2
    assert grown == "Quoted [1]."
    assert end.notices == (
        "The language model takes too long to answer; try again in a moment. The best passages are quoted instead.",
    )
    assert one.closed.is_set()
    assert two.closed.is_set()


async def test_a_silent_model_leaves_the_next_one_its_share(embedder: Embedder) -> None:
    slow = ScriptedModel([ScriptedLine(pieces=("Four ", "weeks [1]."), pieces_per_second=10)], name="two")
    grown, end = await told(embedder, [Silent("one", opens=True), slow], seconds=0.6)
    assert (grown, end.model) == ("Four weeks [1].", "two")


async def test_what_one_did_not_need_of_its_share_is_there_for_the_others(embedder: Embedder) -> None:
    gate = asyncio.Event()
    slow = ScriptedModel([ScriptedLine(pieces=("Four weeks [1].",), gates=(gate,))], name="two")
    asyncio.get_running_loop().call_later(
        0.6, gate.set
    )  # more than its half of the time, less than the whole
    _, end = await told(embedder, [away("one"), slow], seconds=1.0)
    assert end.model == "two"


async def test_a_model_that_has_started_may_take_its_time(embedder: Embedder) -> None:
    slow = ScriptedModel(
        [ScriptedLine(pieces=("", "Four ", "weeks [1]."), pieces_per_second=10)], name="one"
    )  # the first piece shows life, without text
    grown, _ = await told(embedder, [slow], seconds=0.05)
    assert grown == "Four weeks [1]."


async def test_a_further_model_is_given_a_prompt_that_fits_it(embedder: Embedder) -> None:
    shorter = asking("How long?")
    asked: list[str] = []

    async def refit(model: LanguageModel) -> Prompt:
        asked.append(model.name)
        return shorter

    small = says("two", "I cannot say.")
    _, end = await told(embedder, [says("one", fault=ContextTooLong()), small], refit=refit)
    assert asked == ["two"], "neither for the first one nor for the one that quotes"
    assert small.prompts == [("answer", shorter)]
    assert end.prompt == shorter


async def test_a_model_that_no_prompt_fits_is_passed_over(embedder: Embedder) -> None:
    async def refit(model: LanguageModel) -> Prompt:
        raise BadSettings("The window is too small.")

    grown, end = await told(embedder, [away("one"), says("two", "never")], refit=refit)
    assert grown == "Quoted [1]."
    assert end.prompt == PROMPT


async def test_the_answerers_failure_is_raised(embedder: Embedder) -> None:
    broken = ScriptedAnswerer(fault=ModelUnavailable("The answerer is away."))
    with pytest.raises(ModelUnavailable, match="The answerer"):
        await told(embedder, [away("one")], answerer=broken)


async def test_failures_are_logged_by_name_and_without_the_question(
    embedder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    await told(embedder, [away("one")])
    (line,) = [record.getMessage() for record in caplog.records if "did not answer" in record.getMessage()]
    assert line == "the language model one did not answer: It is away."
    assert "How long?" not in caplog.text
