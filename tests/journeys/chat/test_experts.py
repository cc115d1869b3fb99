"""Questions to experts as both sides see them: an answer in their thread, a hand-over, a withdrawal, an edit, a verified answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, has, words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"


async def experts_of(town: Scenario, room: str, *channels: str) -> None:
    await town.knows(room, HANDBOOK)
    for channel in channels:
        before = len(town.ours("ada", room))
        await town.commands("ada", room, f"kb experts action:add channel:{channel}")
        await town.until(lambda before=before: len(town.ours("ada", room)) > before)


async def sent(town: Scenario, room: str, subject: str, person: str = "ben") -> tuple[str, Shown]:
    """Asked, previewed and sent to the experts: the question and what its asker was told."""
    town.model.on(streamed("I do not know that."), task="answer", matching=subject)
    question = await town.says(person, room, f"@footnote Who has the key of the {subject}?")
    answer = await town.answered(person, room, question)
    await town.clicks(person, answer[-1], "Ask an expert")
    preview = await town.written(person, room, question, "goes to the experts")
    assert subject in words(preview)
    await town.clicks(person, preview, "Send")
    told = await town.until(
        lambda: [each for each in town.ours(person, room, question) if has(each, "Withdraw")]
    )
    return question, told[-1]


async def post(town: Scenario, experts: str, subject: str) -> Shown:
    found = await town.until(lambda: [each for each in town.ours("cleo", experts) if subject in words(each)])
    await town.until(lambda: town.ours("cleo", experts, found[0].id)[1:])
    return found[0]


def back(town: Scenario, room: str, question: str, text: str) -> list[Shown]:
    return [each for each in town.ours("ben", room, question) if text in words(each)]


async def test_an_answer_comes_back_follows_its_edit_and_becomes_verified(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    question, _ = await sent(town, room, "archive")
    asked = await post(town, experts, "archive")
    said = await town.says("cleo", experts, "Ada has it.", thread=asked.id)
    (answer,) = await town.until(lambda: back(town, room, question, "Ada has it."))
    assert "cleo answers" in words(answer)
    assert "[1]" in words(answer)
    await town.chat.edits(said, "Ben has it.")
    await town.until(lambda: back(town, room, question, "Ben has it."))
    assert back(town, room, question, "Ada has it.") == []
    await town.clicks("ada", (await town.until(lambda: back(town, room, question, "Ben has it.")))[0], "Save")
    await town.until(lambda: [each for each in town.ours("ada", room, question) if "Saved as" in words(each)])
    again = await town.says("ben", room, "@footnote Who has the key of the archive?")
    shown = await town.answered("ben", room, again)
    assert "Ben has it." in words(shown[-1])
    assert "Verified by cleo" in words(shown[-1])


async def test_who_cannot_answer_hands_over_and_the_last_declines(town: Scenario) -> None:
    room, first, second = town.room(), town.room(), town.room()
    await experts_of(town, room, first, second)
    question, _ = await sent(town, room, "cellar")
    asked = await post(town, first, "cellar")
    await town.clicks("cleo", asked, "I cannot answer")
    handed = await post(town, second, "cellar")
    await town.until(
        lambda: [each for each in town.ours("cleo", first) if "goes on to others" in words(each)]
    )
    await town.clicks("cleo", handed, "I cannot answer")
    await town.until(lambda: back(town, room, question, "could not answer"))


async def test_the_asker_withdraws_and_others_who_ask_the_same_wait_together(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    question, told = await sent(town, room, "garage")
    asked = await post(town, experts, "garage")
    other, waits = await sent(town, room, "garage", "cleo")
    assert "already on this question" in words(waits)
    await town.clicks("ben", told, "Withdraw")
    await town.until(
        lambda: [each for each in town.ours("ben", room, question) if "withdrawn" in words(each)]
    )
    await town.says("ada", experts, "In room 4.", thread=asked.id)
    await town.until(lambda: [each for each in town.ours("cleo", room, other) if "In room 4." in words(each)])
    assert back(town, room, question, "In room 4.") == []
    assert len([each for each in town.ours("cleo", experts) if "garage" in words(each)]) == 1
