from __future__ import annotations

import asyncio
from datetime import date

import pytest

from rag_engine.errors import ModelUnavailable
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry
from rag_engine.steps import refine
from rag_engine.types import KnowledgeBaseId, Query
from tests.unit.prompting import conversation

TALK = ("What are the office hours in Berlin?", "Nine to five [1].")


def inquiry(question: str, *turns: str) -> Inquiry:
    query = Query(text=question, knowledge_bases=frozenset([KnowledgeBaseId("kb")]))
    return Inquiry(query=query, question=question, history=conversation(*turns))


async def refined(asked: Inquiry, model: ScriptedModel | None, *, seconds: float = 5) -> Inquiry:
    return await refine.refine(
        asked, settings=refine.Settings(seconds=seconds), model=model, today=lambda: date(2026, 3, 1)
    )


def saying(*pieces: str) -> ScriptedModel:
    return ScriptedModel([ScriptedLine(pieces=pieces, task="refine")])


async def test_a_follow_up_is_made_complete_by_the_model() -> None:
    model = saying("What are the office hours ", "in London?")
    done = await refined(inquiry("And in London?", *TALK), model)
    assert done.question == "What are the office hours in London?"
    assert done.details["understood_as"] == done.question
    assert done.query.text == "And in London?"
    task, prompt = model.prompts[0]
    assert task == "refine"
    assert "office hours in Berlin" in prompt.messages[-1].content
    assert "2026-03-01" in prompt.messages[-1].content
    assert model.open_replies == 0


@pytest.mark.parametrize("asked", [inquiry("And in London?"), inquiry("What is the notice period?", *TALK)])
async def test_no_call_without_a_conversation_or_for_a_question_that_stands_alone(asked: Inquiry) -> None:
    model = saying("never")
    assert await refined(asked, model) == asked
    assert model.prompts == []


@pytest.mark.parametrize("reply", ["  ", "word " * 200, "<think>unfinished</think>"])
async def test_a_reply_that_is_no_question_falls_back_to_the_words_of_the_one_before(reply: str) -> None:
    done = await refined(inquiry("And in London?", *TALK), saying(reply))
    assert done.fallbacks == ("refine_failed",)
    assert done.question == "What are the office hours in Berlin? And in London?"


async def test_a_failing_model_falls_back() -> None:
    model = ScriptedModel([ScriptedLine(fault=ModelUnavailable())])
    done = await refined(inquiry("And in London?", *TALK), model)
    assert done.fallbacks == ("refine_failed",)
    assert "Berlin" in done.question


async def test_a_slow_model_is_not_waited_for_and_its_reply_is_closed() -> None:
    model = ScriptedModel([ScriptedLine(pieces=("late",), gates=(asyncio.Event(),))])
    async with asyncio.timeout(5):
        done = await refined(inquiry("And in London?", *TALK), model, seconds=0.01)
    assert done.fallbacks == ("refine_failed",)
    assert model.open_replies == 0


async def test_cancelling_the_asker_is_not_swallowed() -> None:
    model = ScriptedModel([ScriptedLine(pieces=("late",), gates=(asyncio.Event(),))])
    task = asyncio.create_task(refined(inquiry("And in London?", *TALK), model))
    async with asyncio.timeout(5):
        await model.opened.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.open_replies == 0


async def test_without_a_language_model_the_question_before_lends_its_words() -> None:
    done = await refined(inquiry("And in London?", *TALK), None)
    assert done.question == "What are the office hours in Berlin? And in London?"
    chained = await refined(inquiry("And on Sundays?", *TALK, "And in London?", "Ten to four."), None)
    assert chained.question.startswith("What are the office hours in Berlin? And in London?")
    alone = inquiry("What is the notice period?", *TALK)
    assert await refined(alone, None) == alone


async def test_without_a_language_model_several_follow_ups_keep_the_subject() -> None:
    talk = ("How do I get a parking permit?", "Ask Facilities.", "Who approves it?", "Your manager.")
    done = await refined(inquiry("How long does that take?", *talk), None)
    assert done.question == "How do I get a parking permit? Who approves it? How long does that take?"


def test_reasoning_and_quotation_marks_are_taken_off() -> None:
    assert refine.clean("<think>hm {\n</think>\n“What is it?”\n") == "What is it?"
    assert refine.clean("unopened </think> Which?") == "Which?"
