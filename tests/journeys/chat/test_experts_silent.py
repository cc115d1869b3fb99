"""Experts who do not answer: one reminder, then the next are asked. Hours pass in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.chat.expert_scenes import experts_of, posts, sent
from tests.journeys.chat.scenario import words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"FOOTNOTE_CHAT__EXPERT_REMINDER_HOURS": "0.001"}


async def test_silence_is_reminded_once_then_handed_over(town: Scenario) -> None:
    room, first, second = town.room(), town.room(), town.room()
    await experts_of(town, room, first, second)
    scene = await sent(town, room, "mill")
    asked = await scene.post(first)
    await scene.heard(first, asked, "still waits")
    handed = await scene.post(second)
    reminders = [each for each in town.ours("cleo", first, asked.id) if "still waits" in words(each)]
    assert len(reminders) == 1
    assert "goes on to others" in words(posts(town, first, "mill")[0])
    await scene.says(second, handed, "Ada has it.")
    await scene.comes("Ada has it.")
    await scene.says(first, asked, "Ben has it.")
    assert scene.back("Ben has it.") == []
