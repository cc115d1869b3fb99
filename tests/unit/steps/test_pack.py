from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

from rag_engine.errors import StorageUnavailable
from rag_engine.generation.context_budget import messages_size
from rag_engine.models.scripted import ScriptedModel
from rag_engine.pipeline import Inquiry
from rag_engine.steps import pack
from rag_engine.text import tokens
from rag_engine.types import KnowledgeBaseId, Prompt, Query
from tests.unit.prompting import conversation, passages

if TYPE_CHECKING:
    from rag_engine.errors import RagError
    from rag_engine.ports import Metadata
    from rag_engine.types import DocumentId


def inquiry(question: str, *texts: str, turns: tuple[str, ...] = (), limit: int = 8) -> Inquiry:
    query = Query(text=question, knowledge_bases=frozenset([KnowledgeBaseId("kb")]), scope="#hr", limit=limit)
    return Inquiry(query=query, question=question, history=conversation(*turns), hits=passages(*texts))


async def packed(asked: Inquiry, *, window: int = 8192, **settings: object) -> Inquiry:
    model = ScriptedModel([], context_tokens=window)
    return await pack.pack(asked, settings=pack.Settings.model_validate(settings), model=model)


def prompt_of(done: Inquiry) -> Prompt:
    assert done.prompt is not None
    return done.prompt


async def test_the_prompt_holds_what_is_sent_and_what_it_was_made_from() -> None:
    asked = inquiry("How long is the notice period?", "Four weeks.", "Other.", turns=("Hi", "Hello [1]."))
    prompt = prompt_of(await packed(asked))
    assert prompt.passages == asked.hits
    assert prompt.tokens == messages_size(prompt.messages, tokens.count)
    assert prompt.reply_tokens == 2048
    assert "Answer in English." in prompt.messages[-1].content
    assert [message.role for message in prompt.messages] == ["system", "user", "assistant", "user"]


async def test_the_question_is_sent_as_it_was_asked_also_where_another_was_searched_for() -> None:
    asked = replace(inquiry("And in London?", "Text."), question="office hours And in London?")
    prompt = prompt_of(await packed(asked))
    assert prompt.messages[-1].content.endswith("Question:\nAnd in London?")


class Properties:
    """Of `d1` alone; none where it fails."""

    fault: RagError | None = None

    async def own(self, document: DocumentId) -> dict[str, tuple[str, ...]]:
        if self.fault is not None:
            raise self.fault
        return {"author": ("Anna",), "modified": ("2025-02-01",)} if document == "d1" else {}


async def test_passages_carry_author_and_date_if_the_window_is_large() -> None:
    known, asked = Properties(), inquiry("Why?", "One.", "Two.")

    async def sent(window: int) -> str:
        model = ScriptedModel([], context_tokens=window)
        done = await pack.pack(asked, settings=pack.Settings(), model=model, metadata=cast("Metadata", known))
        return prompt_of(done).messages[-1].content

    assert '<passage id="1" author="Anna" date="2025-02-01">\nOne.' in await sent(32_000)
    assert '<passage id="2">\nTwo.' in await sent(32_000)
    assert "Anna" not in await sent(8_192)
    known.fault = StorageUnavailable("The disk is away.")
    assert '<passage id="1">\nOne.' in await sent(32_000)


async def test_a_small_window_is_never_overrun_and_its_passages_keep_their_chunks() -> None:
    asked = inquiry("Why so?", *["A sentence of some words. " * 200] * 8, turns=("w " * 300,) * 6)
    done = await packed(asked, window=1000)
    prompt = prompt_of(done)
    assert prompt.tokens <= 950 - 256
    assert prompt.reply_tokens == 256
    assert prompt.passages[0].chunk.text == asked.hits[0].chunk.text
    assert done.details["passages_cut"] in ([1], [1, 2])
    assert asked.hits[0].chunk.text not in prompt.messages[-1].content


async def test_a_question_too_long_is_cut_and_the_asker_is_notified() -> None:
    done = await packed(inquiry("Was ist das für eine Frage? " * 600, "Text."), window=2000)
    assert done.fallbacks == ("question_cut",)
    assert len(done.notices) == 1
    assert "ausgelassen" in done.notices[0]
    assert tokens.OMISSION in prompt_of(done).messages[-1].content


async def test_the_prompt_says_the_askers_day() -> None:
    asked = inquiry("What is due today?", "Text.")
    there = replace(asked, query=replace(asked.query, time_zone="Pacific/Kiritimati"))
    east = datetime.now(ZoneInfo("Pacific/Kiritimati")).date()
    assert f", {east}." in prompt_of(await packed(there)).messages[-1].content


async def test_a_chat_has_no_passages_and_needs_none() -> None:
    prompt = prompt_of(await packed(replace(inquiry("You are great"), route="chat")))
    assert not prompt.needs_passages
    assert prompt.messages[-1].content == "You are great"
    assert "cite nothing" in prompt.messages[0].content


async def test_no_more_passages_than_the_query_wants() -> None:
    assert len(prompt_of(await packed(inquiry("Why?", "a", "b", "c", limit=2))).passages) == 2


async def test_without_hits_the_context_says_that_it_is_empty() -> None:
    done = await packed(inquiry("Why?"))
    assert done.details["context"] == "empty"
    assert "<passages>" not in prompt_of(done).messages[-1].content


async def test_a_query_may_set_the_knowledge_policy_and_the_language_for_itself() -> None:
    asked = inquiry("Why?", "a")
    own = replace(asked, query=replace(asked.query, knowledge="prefer_sources", language="de"))
    prompt = prompt_of(await packed(own, knowledge="only_sources"))
    assert "your own knowledge" in prompt.messages[0].content
    assert "Answer in German." in prompt.messages[-1].content
    assert not prompt.needs_passages


async def test_the_knowledge_policy_is_a_setting() -> None:
    blended = prompt_of(await packed(inquiry("Why?", "a"), knowledge="prefer_sources"))
    assert "your own knowledge" in blended.messages[0].content
