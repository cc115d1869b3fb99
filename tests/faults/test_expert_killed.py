"""`footnote run`, killed while a question goes to experts and while their answer comes back: nothing is lost, nothing comes twice."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.faults.mortal import Mortal, mortal
from tests.journeys.chat.scenario import has, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

POST = {"slack": "chat.postMessage", "discord": "create_message"}
HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    async with mortal(request.param, tmp_path_factory.mktemp(f"experts_{request.param}")) as opened:
        yield opened


async def prepared(bot: Mortal, subject: str) -> tuple[str, str, str, Shown]:
    """A channel, that of its experts, a question that no file answers, and the preview of what will be sent."""
    town = bot.town
    room, experts = town.room(), town.room()
    await town.knows(room, HANDBOOK)
    await town.commands("ada", room, f"kb experts action:add channel:{experts}")
    await town.until(lambda: any("Experts of" in words(each) for each in town.ours("ada", room)))
    town.model.on(streamed("I do not know that."), task="answer", matching=subject)
    question = await town.says("ben", room, f"@footnote Who has the key of the {subject}?")
    answer = await town.answered("ben", room, question)
    assert has(answer[-1], "Ask an expert")
    await town.clicks("ben", answer[-1], "Ask an expert")
    preview = await town.written("ben", room, question, "goes to the experts")
    return room, experts, question, preview


def posts(bot: Mortal, experts: str, subject: str) -> list[Shown]:
    return [each for each in bot.town.ours("cleo", experts) if subject in words(each)]


def answers(bot: Mortal, room: str, question: str, text: str) -> list[Shown]:
    return [each for each in bot.town.ours("ben", room, question) if text in words(each)]


def state(bot: Mortal, subject: str) -> str:
    path = bot.town.folder / "data" / "chat.sqlite"
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(
            "SELECT state FROM expert_requests WHERE instr(question, ?)", (subject,)
        ).fetchall()
    return str(rows[0][0]) if rows else ""


async def becomes(bot: Mortal, subject: str, wanted: str) -> None:
    async with asyncio.timeout(30):
        while state(bot, subject) != wanted:
            bot.town.bot.logged.clear()
            try:
                async with asyncio.timeout(0.2):
                    await bot.town.bot.logged.wait()
            except TimeoutError:
                continue


async def test_killed_while_it_posts_to_the_experts_and_while_they_wait(bot: Mortal) -> None:
    town = bot.town
    _, experts, _, preview = await prepared(bot, "archive")
    method = POST[town.chat.platform]
    held = town.chat.server.silence(method, times=1)
    before = len(town.chat.server.calls_of(method))
    await town.clicks("ben", preview, "Send")
    await town.until(lambda: len(town.chat.server.calls_of(method)) > before)
    await bot.kill()
    held.set()
    await bot.start()
    await becomes(bot, "archive", "waiting")
    assert len(posts(bot, experts, "archive")) == 1
    await bot.kill()
    await bot.start()
    await town.until(lambda: posts(bot, experts, "archive"))
    assert len(posts(bot, experts, "archive")) == 1


async def test_killed_while_the_answer_comes_back(bot: Mortal) -> None:
    town = bot.town
    room, experts, question, preview = await prepared(bot, "cellar")
    await town.clicks("ben", preview, "Send")
    await becomes(bot, "cellar", "waiting")
    (post,) = posts(bot, experts, "cellar")
    method = POST[town.chat.platform]
    held = town.chat.server.silence(method, times=1)
    before = len(town.chat.server.calls_of(method))
    await town.says("cleo", experts, "Ada has it.", thread=post.id)
    await town.until(lambda: len(town.chat.server.calls_of(method)) > before)
    await bot.kill()
    held.set()
    await bot.start()
    await becomes(bot, "cellar", "delivered")
    (back,) = answers(bot, room, question, "Ada has it.")
    assert "cleo answers" in words(back)
    assert "[1]" in words(back)
    assert has(back, "Save as verified")
    await bot.kill()
    await bot.start()
    assert len(answers(bot, room, question, "Ada has it.")) == 1
