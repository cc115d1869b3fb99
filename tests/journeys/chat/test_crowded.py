"""More questions than the bot can answer, and language models that do not answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import refused, streamed
from tests.journeys.chat.interrupted import WHOLE, answers_again, asked, half, taught
from tests.journeys.chat.scenario import scenario

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {
    "FOOTNOTE_CHAT__ANSWERS": "1",
    "FOOTNOTE_CHAT__QUEUE": "2",
    "FOOTNOTE_MODEL__BACK_OFF_SECONDS": "0.01",
    "FOOTNOTE_MODEL__FALLBACKS__1__NAME": "second",
    "FOOTNOTE_MODEL__FALLBACKS__1__BACK_OFF_SECONDS": "0.01",
}


def read(town: Scenario, room: str, question: str) -> str:
    """All that ben read under a question, replaced texts too."""
    return "\n".join(text for shown in town.ours("ben", room, question) for text in town.story(shown))


async def test_a_full_queue_is_reported_with_the_position(town: Scenario) -> None:
    rooms = [await taught(town) for _ in range(3)]
    begun = await half(town, "held")
    waiting = []
    for number, room in enumerate(rooms[:2], 1):
        question = await asked(town, room, f"waiting{number}")
        await town.until(
            lambda room=room, question=question, number=number: (
                f"number {number} in line" in read(town, room, question)
            )
        )
        waiting.append((room, question))
    late = await asked(town, rooms[2], "late")
    told = await town.written("ben", rooms[2], late, "Too many questions are waiting everywhere (2)")
    assert "id " not in told.text, "nothing is broken"
    await begun.whole()
    for room, question in waiting:
        (answer,) = await town.answered("ben", room, question)
        assert answer.text.startswith(WHOLE)
    await answers_again(town, rooms[2], "again")


async def test_a_second_model_answers_and_the_line_says_so(town: Scenario) -> None:
    room = await taught(town)
    town.model.on(refused(503), task="answer", matching='"model": "scripted".*switched logs')
    town.model.on(streamed(WHOLE), task="answer", matching='"model": "second".*switched logs')
    question = await town.says("ben", room, "@footnote How long are switched logs kept?")
    (answer,) = await town.answered("ben", room, question)
    assert answer.text.startswith(WHOLE)
    assert (
        "The language model is out of order; try again in a moment. second answered instead." in answer.text
    )


async def test_a_rate_limited_model_is_not_called_and_answers_are_quotes(
    tmp_path: Path,
) -> None:
    settings = {"FOOTNOTE_BREAKERS__FAILURES": "2", "FOOTNOTE_BREAKERS__REST_SECONDS": "60"}
    async with scenario("discord", tmp_path, **settings) as town:
        room = await taught(town)
        town.model.on(refused(429, headers={"Retry-After": "60"}), task="answer")
        for _ in range(4):
            question = await town.says("ben", room, "@footnote How long are logs kept?")
            async with asyncio.timeout(10):
                (answer,) = await town.answered("ben", room, question)
            assert "two weeks" in answer.text
            assert "asks us to slow down" in answer.text
            assert "The best passages are quoted instead." in answer.text
        assert len([request for request in town.model.requests if request.task == "answer"]) == 2
