"""What a person sees of tools: off until an admin switches them on, the calls in one edited message, sources and why."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.agent.tool import ToolFailed
from tests.unit.bot.chatting import CHANNEL, World, world
from tests.unit.bot.conversation.test_place_settings import wants

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

QUESTION = "How long is the notice period in Berlin and in London?"
ASKED = f"{QUESTION} tools:yes"
SEARCHES = {
    "calls": [
        {"tool": "search", "arguments": {"query": "notice period Berlin"}},
        {"tool": "list", "arguments": {}},
    ]
}


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("berlin.md", "The notice period is four weeks in Berlin.")
        await made.file("london.md", "The notice period is six weeks in London.")
        made.says("done", task="agent")
        made.says(json.dumps(SEARCHES), task="agent", pattern=r"Question:(?!(.|\n)*<tool name)")
        made.says("Four weeks in Berlin [1]. There are 2 documents [2].", task="answer")
        yield made


def tasks(here: World) -> list[str]:
    return [task for task, _ in here.model.prompts]


async def test_tools_are_off_until_an_admin_switches_them_on(here: World) -> None:
    off = await here.ask(ASKED)
    assert tasks(here) == ["answer"]
    assert "Tools are not switched on here, so I searched the files alone." in off.reply.notices
    wants(here, tools="on")
    on = await here.ask(ASKED)
    assert tasks(here)[1:] == ["agent", "agent", "answer"]
    assert all("ools" not in notice for notice in on.reply.notices)
    assert "tools:yes" not in here.model.prompts[-1][1].messages[-1].content


async def test_an_ordinary_question_where_they_are_on_makes_no_call_more(here: World) -> None:
    wants(here, tools="all")
    await here.ask(QUESTION)
    assert tasks(here) == ["answer"]


async def test_the_calls_are_shown_in_one_edited_message_in_the_askers_language(here: World) -> None:
    wants(here, tools="on")
    gate = asyncio.Event()
    here.says("done", task="agent", pattern="<tool name", gates=(gate,))
    asking = asyncio.create_task(
        here.ask("Wie lang ist die Kündigungsfrist in Berlin und in London? tools:yes")
    )
    await here.chat.until(lambda: here.chat.posts and here.last.pages[-1].status.count("✓") == 2)
    assert here.last.pages[-1].status.splitlines() == [
        "Benutze Werkzeuge, Schritt 1 …",
        "✓ 1. Suche: notice period Berlin",
        "✓ 2. Liste der Dokumente",
    ]
    assert "stop" in here.last.buttons
    gate.set()
    await asking
    assert len(here.chat.posts) == 1


async def test_stop_ends_it_at_once(here: World) -> None:
    wants(here, tools="on")
    here.says("done", task="agent", pattern="<tool name", gates=(asyncio.Event(),))
    asking = asyncio.create_task(here.ask(ASKED))
    await here.chat.until(lambda: here.chat.posts and here.last.pages[-1].status.count("✓") == 2)
    await here.press(here.last, "stop")
    await asking
    assert "answer" not in tasks(here)
    assert here.last.text == "Stopped."


async def test_why_shows_the_calls_and_their_results(here: World) -> None:
    wants(here, tools="on")
    post = await here.ask(ASKED)
    await here.press(post, "why")
    told = here.last.text
    assert "Used tools in 1 steps with 2 calls of the language model" in told
    assert "Search: notice period Berlin · List of documents" in told
    assert "List of documents" in told.split("Used tools", 1)[1].split("\n\n", 1)[1]


async def test_the_command_takes_them_too(here: World) -> None:
    wants(here, tools="on")
    await here.command("ask", f"tools:yes {QUESTION}")
    assert "agent" in tasks(here)
    assert here.last.private is not None


async def test_a_question_that_nobody_asked_calls_no_tool(here: World) -> None:
    wants(here, tools="all", mode="auto")
    writer = here.service.runner.answers
    agent = writer.engine.agent
    assert agent is not None
    offered: list[object] = []

    async def listed() -> list[object]:
        offered.append(1)
        raise ToolFailed("no")

    object.__setattr__(
        writer,
        "engine",
        replace(writer.engine, agent=replace(agent, operator_tools=listed)),  # type: ignore[arg-type]
    )
    await here.send(here.chat.message(ASKED, place=CHANNEL, addressed=False))
    assert tasks(here) == ["answer"]
    assert "agent" not in tasks(here)
    assert not offered
