"""`/mindmap` and `/about` on both platforms: only the asker sees them, with a picture or sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"FOOTNOTE_TASKS__MINDMAP__MODEL": "drawer"}

SHIP = (
    "# Iron Gull\n\n## Crew\n\nVera Lindqvist commands the Iron Gull since 2019.\n\n"
    "## Cargo\n\nThe Iron Gull carries timber and salt to Skagen.\n"
)


async def ours(town: Scenario, person: str, room: str, expected: str) -> Shown:
    found = await town.until(lambda: [one for one in town.ours(person, room) if expected in words(one)])
    return found[-1]


async def test_a_map_by_a_model_and_by_the_rules(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, SHIP, name="ship.md")
    branches = [
        {"label": "Vera Lindqvist commands", "parts": [1, 2, 3]},
        {"label": "Timber and salt", "parts": [1, 2, 3]},
        {"label": "A crew of 40", "parts": [1, 2, 3]},
    ]
    town.model.on(streamed(json.dumps({"branches": branches})), task="mindmap", times=1)
    town.model.on(streamed("no map"), task="mindmap")
    await town.commands("ben", room, "/mindmap ship.md")
    drawn = await ours(town, "ben", room, "Timber and salt")
    assert "Vera Lindqvist commands" in words(drawn)
    assert "crew of 40" not in words(drawn)
    await town.commands("cleo", room, "/mindmap ship.md")
    ruled = await ours(town, "cleo", room, "Cargo")
    assert "Crew" in words(ruled)
    assert {one.body["model"] for one in town.model.requests if one.task == "mindmap"} == {"drawer"}
    assert not [one for one in town.ours("cleo", room) if "Timber and salt" in words(one)]


async def test_a_card_of_a_name(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, SHIP, name="ship.md")
    await town.commands("ada", room, "/kb graph on")
    await town.until(lambda: any("graph" in words(one).lower() for one in town.ours("ada", room)))
    town.model.on(streamed("Vera Lindqvist commands the ship [1]."), task="answer", matching="Lindqvist")
    await town.commands("ben", room, "/about Vera Lindqvist")
    await ours(town, "ben", room, "Vera Lindqvist commands the")
    await ours(town, "ben", room, "ship.md")
    assert not [one for one in town.ours("cleo", room) if "commands the" in words(one)]
