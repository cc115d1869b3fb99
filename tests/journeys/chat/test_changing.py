"""Stop, regenerate, edits, deletions and repeated deliveries."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import OPENING, has, paced, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {"FOOTNOTE_SLACK__STREAMS": "false"}
"""Without streams, which have no buttons before their end."""
HANDBOOK = f"# Logs\n\n{OPENING}Logs are kept for two weeks. Backups are kept for one year.\n"


async def test_stop_keeps_the_text_so_far_and_says_so(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    never = asyncio.Event()
    reply = paced(OPENING, never, "No more.")
    town.model.on(reply, task="answer", matching="stopped logs", times=1)
    question = await town.says("ben", room, "@footnote How long are stopped logs kept?")
    shown = await town.written("ben", room, question, "The handbook names")
    await town.clicks("ben", shown, "Stop")
    stopped = await town.written("ben", room, question, "Stopped.")
    await town.until(lambda: not town.chat.shown(stopped.id).streaming)
    assert words(stopped).startswith(OPENING.rstrip(" ."))
    assert has(town.chat.shown(stopped.id), "Regenerate")
    never.set()


async def test_only_the_asker_can_stop(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    rest = asyncio.Event()
    town.model.on(paced(OPENING, rest, "Two weeks [1]."), task="answer", matching="guarded logs", times=1)
    question = await town.says("ben", room, "@footnote How long are guarded logs kept?")
    shown = await town.written("ben", room, question, "The handbook names")
    await town.clicks("cleo", shown, "Stop")
    refusal = await town.written("cleo", room, question, "Only the person who asked")
    assert refusal.only_for == town.chat.people["cleo"]
    rest.set()
    answer = await town.answered("ben", room, question)
    assert words(answer[-1]).startswith(f"{OPENING}Two weeks [1].")


async def test_regenerate_answers_again_in_the_same_message(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("A fortnight [1]."), task="answer", matching="twice asked logs", times=1)
    town.model.on(streamed("Fourteen days [1]."), task="answer", matching="twice asked logs", times=1)
    question = await town.says("ben", room, "@footnote How long are twice asked logs kept?")
    (first,) = await town.answered("ben", room, question)
    await town.clicks("ben", first, "Regenerate")
    second = await town.written("ben", room, question, "Fourteen days [1].")
    assert second.id == first.id
    assert "A fortnight" not in words(second)
    await town.clicks("cleo", second, "Previous version")
    earlier = await town.written("ben", room, question, "A fortnight [1].")
    assert earlier.id == first.id
    assert "handbook.md" in words(earlier)
    assert "Version 1 of 2" in words(earlier)
    assert not has(earlier, "Previous version")
    await town.clicks("ben", town.chat.shown(earlier.id), "Next version")
    await town.written("ben", room, question, "Fourteen days [1].")


async def test_an_edited_question_is_answered_again(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    never = asyncio.Event()
    town.model.on(paced(OPENING, never, "x"), task="answer", matching="mistyped lgos", times=1)
    town.model.on(streamed("One year [1]."), task="answer", matching="corrected backups", times=1)
    question = await town.says("ben", room, "@footnote How long are mistyped lgos kept?")
    shown = await town.written("ben", room, question, "The handbook names")
    await town.chat.edits(question, "@footnote How long are corrected backups kept?")
    again = await town.written("ben", room, question, "One year [1].")
    assert again.id == shown.id
    assert "The handbook" not in words(again)
    never.set()


async def test_the_preview_of_a_link_changes_nothing(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="previewed logs", times=1)
    question = await town.says(
        "ben", room, "@footnote How long are previewed logs kept? https://example.org/"
    )
    (answer,) = await town.answered("ben", room, question)
    await town.chat.unfolds(question)
    after = await town.says("ben", room, "@footnote")
    await town.until(lambda: town.ours("ben", room, after))
    assert words(town.chat.shown(answer.id)) == words(answer)
    assert len([each for each in town.model.requests if "previewed logs" in each.text]) <= 2


async def test_a_deleted_question_takes_its_answer_along(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    never = asyncio.Event()
    town.model.on(paced(OPENING, never, "Two weeks [1]."), task="answer", matching="regretted logs", times=1)
    question = await town.says("ben", room, "@footnote How long are regretted logs kept?")
    await town.written("ben", room, question, "The handbook names")
    await town.chat.deletes(question)
    await town.until(lambda: not town.ours("ben", room, question))
    never.set()


async def test_a_question_that_is_delivered_again_is_answered_once(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="repeated logs")
    question = await town.says("ben", room, "@footnote How long are repeated logs kept?")
    await town.chat.redelivers(question)
    await town.answered("ben", room, question)
    await town.chat.redelivers(question)
    after = await town.says("cleo", room, "@footnote")
    await town.until(lambda: town.ours("cleo", room, after))
    answers = [each for each in town.ours("ben", room, question) if "Two weeks" in each.text]
    assert len(answers) == 1
    asked = [each for each in town.model.requests if each.task == "answer" and "repeated logs" in each.text]
    assert len(asked) == 1
