"""Verified answers as people see them on both platforms: saved by 👍, by the menu of a message and by command, edited in a form, revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHORTCUTS = {"slack": "save_as_verified", "discord": "Save as verified"}
HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"


async def asked(town: Scenario, room: str, text: str) -> str:
    question = await town.says("ben", room, f"@footnote {text}")
    answer = await town.answered("ben", room, question)
    return words(answer[-1])


async def test_a_good_answer_is_saved_edited_in_a_form_and_revoked(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="access logs", times=1)
    question = await town.says("ben", room, "@footnote How long are access logs kept?")
    answer = await town.answered("ben", room, question)
    await town.chat.clicks(town.chat.people["ada"], answer[-1].id, "Helpful")
    thanks = await town.written("ada", room, question, "Thank")
    await town.clicks("ada", thanks, "Save as verified")
    await town.written("ada", room, question, "Saved as")
    shown = await asked(town, room, "How long are access logs kept?")
    assert "Two weeks" in shown
    assert "Verified by ada" in shown
    await town.commands("ada", room, "kb verified action:edit text:1")
    offered = await town.until(
        lambda: [each for each in town.ours("ada", room) if "Two weeks" in words(each)]
    )
    await town.clicks("ada", offered[-1], "Edit")
    before = await town.chat.fills(town.chat.people["ada"], "Three weeks, since May.")
    assert before.strip() == "Two weeks."
    await town.until(lambda: any("The answer is changed" in words(each) for each in town.ours("ada", room)))
    assert "Three weeks, since May." in await asked(town, room, "How long are access logs kept?")
    await town.commands("ada", room, "kb verified action:revoke text:1")
    await town.until(lambda: any("no longer verified" in words(each) for each in town.ours("ada", room)))
    town.model.on(streamed("Again two [1]."), task="answer", matching="access logs", times=1)
    assert "Again two" in await asked(town, room, "How long are access logs kept?")


async def test_a_message_is_saved_by_its_menu_and_edited_by_administrators_alone(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    question = await town.says("ben", room, "Who has the key of the boathouse?")
    said = await town.says("cleo", room, "Ada has it.", thread=question)
    await town.chat.shortcut(town.chat.people["ada"], said, SHORTCUTS[town.chat.platform])
    await town.written("ada", room, question, "Saved as")
    shown = await asked(town, room, "Who has the key of the boathouse?")
    assert "Ada has it." in shown
    assert "Verified by ada" in shown
    await town.commands("ben", room, "kb verified action:edit text:1")
    await town.until(lambda: any("Only" in words(each) for each in town.ours("ben", room)))
