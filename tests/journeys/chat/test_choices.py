"""What a channel and a question choose for their answers, on both platforms."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import OPENING, has, paced, words
from tests.unit.models.test_openai_tools import called, part

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {"FOOTNOTE_MODEL__CHOICES__FAST__NAME": "quick"}
HANDBOOK = f"# Logs\n\n{OPENING}Logs are kept for two weeks.\n"
LONG = HANDBOOK + "".join(
    f"\n# Shelf {number}\n\n"
    + f"Shelf {number} of the storehouse holds boxes of paper, pens and cables. " * 15
    for number in range(12)
)
"""More passages than one prompt takes, so that it is decided whether they answer."""


async def choose(town: Scenario, room: str, **values: str) -> None:
    """An administrator changes settings of the channel."""
    before = len(town.ours("ada", room))
    line = " ".join(f"{name}:{value}" for name, value in values.items())
    await town.commands("ada", room, f"/kb settings {line}")
    await town.until(lambda: any("From now on" in words(each) for each in town.ours("ada", room)[before:]))


async def test_a_channel_has_its_own_persona_model_and_temperature(town: Scenario) -> None:
    room, other = town.room(), town.room()
    await town.knows(room, HANDBOOK)
    await town.knows(other, HANDBOOK)
    await choose(town, room, model="fast", temperature="0", persona="Piratical")
    for place in (room, other):
        town.model.on(streamed("Two weeks [1]."), task="answer", matching="chosen logs", times=1)
        question = await town.says("ben", place, "@footnote How long are chosen logs kept?")
        await town.written("ben", place, question, "Two weeks [1].")
    own, usual = [each for each in town.model.requests if "chosen logs" in each.text][-2:]
    assert (own.body["model"], own.body["temperature"], "Piratical" in own.text) == ("quick", 0, True)
    assert (usual.body["model"], "Piratical" in usual.text) == ("scripted", False)


async def test_a_channel_without_citations_has_neither_markers_nor_sources(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    await choose(town, room, citations="off")
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="bare logs", times=1)
    question = await town.says("ben", room, "@footnote How long are bare logs kept?")
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith("Two weeks.")
    assert "handbook.md" not in answer.text
    assert "Sources" not in [button.label for button in answer.buttons]


async def test_what_is_said_when_nothing_is_found_pings_nobody(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, LONG)
    await choose(town, room, empty="Nothing-<@U1>-@everyone")
    asked = len(town.model.requests)
    question = await town.says("ben", room, "@footnote Who painted the Sistine Chapel in 1512?")
    (answer,) = await town.answered("ben", room, question)
    assert "Nothing-" in words(answer)
    assert "handbook.md" not in answer.text
    assert len(town.model.requests) == asked


async def test_a_first_question_of_several_steps_gets_tools_and_an_ordinary_one_no_further_call(
    town: Scenario,
) -> None:
    room, model = town.room(), town.model
    await town.knows(room, "The gangway rail is painted every five months.")
    await choose(town, room, tools="on")
    model.on(streamed(json.dumps({"route": "agent"})), task="understand", matching="gangway")
    searches = called([part(0, "search", '{"query": "gangway rail"}', "a")])
    model.on(searches, task="agent", matching="gangway", times=1)
    model.on(streamed("done"), task="agent", matching="gangway")
    model.on(streamed("Every five months [1]."), task="answer", matching="gangway")
    asked = (
        "@footnote Find how often the gangway rail is painted, then calculate how often that is in a year."
    )
    for text, tasks in (
        (asked, ["understand", "agent", "agent", "answer"]),
        ("@footnote How often is the gangway rail painted?", ["answer"]),
    ):
        before = len(model.requests)
        question = await town.says("ben", room, text)
        (answer,) = await town.answered("ben", room, question)
        assert words(answer).startswith("Every five months")
        assert [one.task for one in model.requests[before:] if one.task != "title"] == tasks


async def test_tools_are_switched_on_and_dig_deeper_researches(town: Scenario) -> None:
    room, model = town.room(), town.model
    await town.knows(room, "The pontoon lamp is changed every nine months.")
    await choose(town, room, tools="on")
    model.on(called([part(0, "search", '{"query": "pontoon lamp"}', "a")]), task="agent", times=1)
    searched = asyncio.Event()
    model.on(paced(searched, "done"), task="agent")
    model.on(streamed("Every nine months [1]."), task="answer", matching="pontoon")
    question = await town.says("ben", room, "@footnote How often is the pontoon lamp changed? tools:yes")
    await town.until(
        lambda: [
            text
            for one in town.ours("ben", room, question)
            for text in town.story(one)
            if "Search: pontoon lamp" in text
        ]
    )
    searched.set()
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith("Every nine months")
    planned = json.dumps({"questions": ["How often is the pontoon lamp changed?"]})
    for task, said in (
        ("subqueries", planned),
        ("extract", '{"facts": []}'),
        ("sufficiency", '{"sufficient": true}'),
    ):
        model.on(streamed(said), task=task)
    before = len([one for one in model.requests if one.task == "answer"])
    await town.clicks("cleo", answer, "Dig deeper")
    await town.until(lambda: len([one for one in model.requests if one.task == "answer"]) > before)
    pressed = await town.written("ben", room, question, "cleo")
    assert pressed.thread == answer.thread
    await town.until(lambda: has(town.chat.shown(pressed.id), "Regenerate"))
    assert not has(town.chat.shown(pressed.id), "Dig deeper")
    assert "subqueries" in [one.task for one in model.requests]
