"""Stopping while answers run: they finish or say so, and later messages are answered by the next process."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from tests.doubles.chats import PLATFORMS
from tests.faults.mortal import mortal
from tests.journeys.chat.interrupted import WHOLE, asked, half, taught
from tests.journeys.chat.scenario import has, scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.chat.scenario import Bot


def told_to_end(bot: Bot) -> None:
    """SIGTERM: background processes ignore Ctrl-C."""
    bot.process.send_signal(signal.SIGTERM)


async def ended(bot: Bot, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        assert await bot.process.wait() == 0


async def stopping(bot: Bot) -> None:
    await bot.until(lambda: '"event": "stopping"' in bot.log())


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_half_an_answer_is_not_left_as_if_it_went_on(platform: str, tmp_path: Path) -> None:
    async with scenario(platform, tmp_path, FOOTNOTE_CHAT__GRACE_SECONDS="0.5") as town:
        begun = await half(town, "halved")
        told_to_end(town.bot)
        await ended(town.bot, 10)
        listed = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
        assert len(listed) == 1
        assert listed[0].text.startswith("Logs are")
        assert "stopped while answering" in listed[0].text
        assert not listed[0].streaming
        assert not has(listed[0], "Stop")
        assert has(listed[0], "Regenerate")


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_an_answer_is_finished_and_what_comes_meanwhile_is_answered_by_the_next_process(
    platform: str, tmp_path: Path
) -> None:
    async with mortal(platform, tmp_path) as bot:
        town = bot.town
        room = await taught(town)
        begun = await half(town, "finished")
        told_to_end(town.bot)
        await stopping(town.bot)
        question = await asked(town, room, "late")
        answer = await begun.whole()
        await ended(town.bot, 10)
        assert town.ours("ben", room, question) == []
        assert "stopped" not in answer.text
        await bot.end()
        await bot.start()
        (late,) = await town.answered("ben", room, question)
        assert late.text.startswith(WHOLE)
        (still,) = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
        assert still.text == answer.text


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    async with scenario("discord", tmp_path) as town:
        begun = await half(town, "hurried")
        told_to_end(town.bot)
        await stopping(town.bot)
        told_to_end(town.bot)
        await ended(town.bot, 10)
        await town.written("ben", begun.room, begun.question, "stopped while answering")


async def test_a_stop_works_while_answers_finish(tmp_path: Path) -> None:
    async with scenario("slack", tmp_path) as town:
        begun = await half(town, "unwanted")
        told_to_end(town.bot)
        await stopping(town.bot)
        await town.says("ben", begun.room, "@footnote stop", thread=begun.question)
        await town.written("ben", begun.room, begun.question, "Stopped")
        await ended(town.bot, 10)


async def test_a_platform_that_does_not_answer_holds_the_end_up_for_seconds_only(tmp_path: Path) -> None:
    async with scenario("discord", tmp_path, FOOTNOTE_CHAT__GRACE_SECONDS="0.5") as town:
        await half(town, "unwritable")
        server = town.chat.server
        for method in ("edit_message", "create_message"):
            server.fail(method, hold=asyncio.Event(), times=-1)
        told_to_end(town.bot)
        await ended(town.bot, 12)
