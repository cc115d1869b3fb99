"""The bot is told to end while it answers: what stands there says so, and can be asked for again."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from tests.doubles.chats import PLATFORMS
from tests.journeys.chat.interrupted import half
from tests.journeys.chat.scenario import has, scenario

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_half_an_answer_is_not_left_as_if_it_went_on(platform: str, tmp_path: Path) -> None:
    async with scenario(platform, tmp_path) as town:
        begun = await half(town, "halved")
        town.bot.process.send_signal(
            signal.SIGTERM
        )  # Ctrl-C is ignored by whatever was started in the background
        async with asyncio.timeout(30):
            await town.bot.process.wait()
        assert town.bot.process.returncode == 0
        listed = [each for each in town.ours("ben", begun.room, begun.question) if each.thread]
        assert len(listed) == 1
        assert listed[0].text.startswith("Logs are")
        assert "stopped while answering" in listed[0].text
        assert not listed[0].streaming
        assert not has(listed[0], "Stop")
        assert has(listed[0], "Regenerate")
