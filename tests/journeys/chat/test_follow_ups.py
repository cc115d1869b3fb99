"""Follow-up questions as buttons, with a model of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import age, has, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"FOOTNOTE_TASKS__FOLLOW_UPS__MODEL": "small"}

HANDBOOK = "Logs are kept for two weeks. Nobody reads them.\n\nThe harbour lamp is changed every nine months."
LAMP = "How often is the harbour lamp changed?"


async def test_a_press_asks_the_question_in_the_thread(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="followed logs", times=1)
    proposed = json.dumps({"questions": [LAMP, "What does a zeppelin weigh in Mongolia?"]})
    town.model.on(streamed(proposed), task="follow_ups", times=1)
    question = await town.says("ben", room, "@footnote How long are followed logs kept?")
    (answer,) = await town.answered("ben", room, question)
    await town.until(lambda: has(town.chat.shown(answer.id), LAMP))
    shown = town.chat.shown(answer.id)
    assert words(shown).startswith("Two weeks")
    assert not has(shown, "What does a zeppelin")
    assert [request.body["model"] for request in town.model.requests if request.task == "follow_ups"] == [
        "small"
    ]
    town.model.on(streamed("Every nine months [1]."), task="answer", matching="lamp changed", times=1)
    await town.clicks("cleo", shown, LAMP)
    pressed = await town.written("ben", room, question, "Every nine months")
    await town.until(lambda: has(town.chat.shown(pressed.id), "Regenerate"))
    assert pressed.thread == answer.thread
    assert age(pressed.id) > age(answer.id)
    assert f"cleo: {LAMP}" in words(town.chat.shown(pressed.id)).replace("*", "").lower().replace(
        LAMP.lower(), LAMP
    )
