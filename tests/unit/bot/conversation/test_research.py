"""What a person sees of a research: plan, ticks, report, file; after a restart it goes on."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.turn.report_file import LONG
from rag_engine.generation.phrases import phrase
from tests.unit.bot.chatting import BEN, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

QUESTION = "How long is the notice period in Berlin and in London?"
PARTS = ("How long is the notice period in Berlin?", "How long is the notice period in London?")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("berlin.md", "The notice period is four weeks in Berlin.")
        await made.file("london.md", "The notice period is six weeks in London.")
        yield made


def researches(here: World, report: str = "Four weeks in Berlin [1].\n\nSix weeks in London [2].") -> None:
    here.says(json.dumps({"questions": PARTS}), task="subqueries")
    here.says(json.dumps({"facts": []}), task="extract")
    here.says(json.dumps({"sufficient": True}), task="sufficiency")
    here.says(report, task="answer")


def tasks(here: World) -> list[str]:
    return [task for task, _ in here.model.prompts]


async def test_a_message_that_asks_for_research_gets_one(here: World) -> None:
    researches(here)
    post = await here.ask(f"/research {QUESTION}")
    assert tasks(here) == ["subqueries", "extract", "extract", "sufficiency", "answer"]
    assert post.text.startswith("Four weeks in Berlin [1].")
    assert "regenerate" in post.buttons
    turn = await here.history.trace()
    assert turn is not None
    assert turn.details["question"] == QUESTION


async def test_the_command_does_the_same_and_stays_private(here: World) -> None:
    researches(here)
    await here.command("research", QUESTION)
    assert "subqueries" in tasks(here)
    assert here.last.private is not None


async def test_the_plan_and_its_ticks_are_one_edited_message(here: World) -> None:
    researches(here)
    gate = asyncio.Event()
    here.says(json.dumps({"sufficient": True}), task="sufficiency", gates=(gate,))
    asking = asyncio.create_task(here.ask(f"research: {QUESTION}"))
    await here.chat.until(lambda: here.chat.posts and here.last.pages[-1].status.count("✓") == 2)
    assert here.last.pages[-1].status.splitlines() == [
        "Researching, round 1…",
        f"✓ 1. {PARTS[0]}",
        f"✓ 2. {PARTS[1]}",
    ]
    assert "stop" in here.last.buttons
    gate.set()
    await asking
    assert len(here.chat.posts) == 1


async def test_stop_ends_it(here: World) -> None:
    researches(here)
    here.says(json.dumps({"sufficient": True}), task="sufficiency", gates=(asyncio.Event(),))
    asking = asyncio.create_task(here.ask(f"/research {QUESTION}"))
    await here.chat.until(lambda: here.chat.posts and here.last.pages[-1].status.count("✓") == 2)
    await here.press(here.last, "stop")
    await asking
    assert "answer" not in tasks(here)
    assert here.last.text == "Stopped."


async def test_a_long_report_is_also_a_file(here: World) -> None:
    researches(here, "The notice period is four weeks in Berlin [1]. " * (LONG // 40))
    post = await here.ask(f"/research {QUESTION}")
    (file,) = post.reply.files
    assert (file.name, file.media_type) == ("research.md", "text/markdown")
    text = file.content.decode()
    assert text.startswith("The notice period is four weeks in Berlin")
    assert "[1] berlin.md" in text
    assert "> The notice period is four weeks in Berlin." in text


async def test_a_short_one_is_not(here: World) -> None:
    researches(here)
    assert (await here.ask(f"/research {QUESTION}")).reply.files == ()


async def test_what_was_not_found_is_said(here: World) -> None:
    researches(here)
    here.says(json.dumps({"sufficient": False, "missing": ["Paris"]}), task="sufficiency")
    post = await here.ask(f"/research {QUESTION}")
    assert phrase("research_gaps", language="en", gaps="Paris") in post.reply.notices


async def test_why_this_shows_rounds_searches_and_queries(here: World) -> None:
    researches(here)
    post = await here.ask(f"/research {QUESTION}")
    await here.press(post, "why")
    assert "Researched in 1 rounds with 3 searches, 4 calls of the language model" in here.last.text
    assert PARTS[0] in here.last.text


async def test_an_ordinary_question_about_research_is_searched(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    await here.ask("research budget of the notice period in Berlin")
    assert tasks(here) == ["answer"]


async def test_dig_deeper_researches_the_same_question(here: World) -> None:
    here.says("Four weeks in Berlin [1].", task="answer")
    asked = await here.ask(QUESTION)
    researches(here)
    await here.press(asked, "dig_deeper", person=BEN)
    assert tasks(here)[:2] == ["answer", "subqueries"]
    assert here.last.text.startswith(f"> **Ben**: {QUESTION}\n\nFour weeks in Berlin [1].")
    assert here.last.place == asked.place
    assert "dig_deeper" in asked.buttons
    assert "dig_deeper" not in here.last.buttons
    stages = [turn.question for turn in [await here.turns.find(here.last.button("regenerate"))] if turn]
    assert stages == [f"/research {QUESTION}"], "a restart researches it too"


async def test_without_a_model_there_is_nothing_to_dig_with(here: World) -> None:
    writer = here.service.runner.answers
    object.__setattr__(writer, "engine", replace(writer.engine, models=[]))
    post = await here.ask(QUESTION)
    assert post.text
    assert "dig_deeper" not in post.buttons
