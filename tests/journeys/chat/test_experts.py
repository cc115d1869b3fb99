"""Questions to experts, on both platforms: each journey asserts what who asks and who answers see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.chat.expert_scenes import experts_of, posts, quiet, sent
from tests.journeys.chat.scenario import words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_answer_comes_back_follows_its_edit_and_becomes_verified(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "archive")
    asked = await scene.post(experts)
    said = await scene.says(experts, asked, "Ada has it.")
    answer = await scene.comes("Ada has it.")
    assert "cleo answers" in words(answer)
    assert "[1]" in words(answer)
    await scene.heard(experts, asked, "Sent to ben as your answer.")
    await town.chat.edits(said, "Ben has it.")
    await scene.comes("Ben has it.")
    assert scene.back("Ada has it.") == []
    await town.clicks("ada", await scene.comes("Ben has it."), "Save")
    await town.written("ada", room, scene.question, "Saved as")
    again = await town.says("ben", room, "@footnote Who has the key of the archive?")
    shown = await town.answered("ben", room, again)
    assert "Ben has it." in words(shown[-1])
    assert "Verified by cleo" in words(shown[-1])
    await town.chat.deletes(said)
    await scene.comes("took this answer back")
    assert scene.back("Ben has it.") == []


async def test_who_cannot_answer_hands_over_and_the_last_declines(town: Scenario) -> None:
    room, first, second = town.room(), town.room(), town.room()
    await experts_of(town, room, first, second)
    scene = await sent(town, room, "cellar")
    asked = await scene.post(first)
    await town.clicks("cleo", asked, "I cannot answer")
    handed = await scene.post(second)
    await town.until(lambda: "goes on to others" in words(posts(town, first, "cellar")[0]))
    await town.clicks("cleo", handed, "I cannot answer")
    await scene.comes("could not answer")
    assert "is closed" in words(posts(town, second, "cellar")[0])
    assert len(posts(town, first, "cellar")) == len(posts(town, second, "cellar")) == 1


async def test_the_asker_withdraws_and_others_who_ask_the_same_wait_together(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "garage")
    asked = await scene.post(experts)
    other = await sent(town, room, "garage", "cleo")
    assert "already on this question" in words(other.told)
    await town.clicks("ben", scene.told, "Withdraw")
    await scene.comes("withdrawn")
    await scene.says(experts, asked, "In room 4.", expert="ada")
    await other.comes("In room 4.")
    assert scene.back("In room 4.") == []
    assert len(posts(town, experts, "garage")) == 1


async def test_the_only_asker_withdraws_and_nothing_comes_any_more(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "attic")
    asked = await scene.post(experts)
    await town.clicks("ben", scene.told, "Withdraw")
    await scene.comes("withdrawn")
    await town.until(lambda: "is withdrawn" in words(posts(town, experts, "attic")[0]))
    await scene.says(experts, asked, "In room 4.")
    await quiet(town)
    assert scene.back("In room 4.") == []


async def test_a_question_back_and_its_reply(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "studio")
    asked = await scene.post(experts)
    await scene.says(experts, asked, "Which door?")
    shown = await scene.comes("Which door?")
    assert "cleo asks about" in words(shown)
    await scene.heard(experts, asked, "Sent to ben as your question")
    before = len(town.model.requests)
    await town.says("ben", room, "The blue one.", thread=scene.question)
    await scene.heard(experts, asked, "The blue one.")
    await scene.comes("Your reply is with the experts.")
    await scene.says(experts, asked, "Ada has it.")
    await scene.comes("Ada has it.")
    assert len(town.model.requests) == before, "the reply is no question to the bot"


async def test_a_message_that_was_no_answer_is_corrected(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await experts_of(town, room, experts)
    scene = await sent(town, room, "kitchen")
    asked = await scene.post(experts)
    await scene.says(experts, asked, "Let me look.")
    await scene.comes("Let me look.")
    await town.clicks("cleo", await scene.heard(experts, asked, "Sent to ben"), "Take it back")
    await scene.comes("took this answer back")
    await scene.heard(experts, asked, "The next message is the answer.")
    await scene.says(experts, asked, "Ada has it, right?")
    await scene.comes("cleo asks about")
    receipt = await scene.heard(experts, asked, "as your question")
    await town.clicks("cleo", receipt, "It was the answer")
    await scene.comes("cleo answers")
    assert scene.back("cleo asks about") == []
