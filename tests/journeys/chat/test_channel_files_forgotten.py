"""Files in the messages of channels go with their author who is forgotten, and with the source; on both platforms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.journeys.chat.test_channel_files import SETTINGS, posted
from tests.journeys.chat.test_channel_sources import added, asks, mention, source, times_read
from tests.journeys.chat.test_forgetting import forget, standing

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

__all__ = ["SETTINGS"]

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_forgetting_a_person_or_removing_the_channel_takes_the_files(town: Scenario) -> None:
    room = town.room()
    await town.says("ada", room, "The regatta is in June.")
    await added(town, room)
    await posted(town, "ben", room, "mast.md", "The mast bears the mark zirconjasper.")
    await posted(town, "cleo", room, "hull.md", "The hull bears the mark quartzlantern.")
    await town.until(lambda: "zirconjasper" in str(standing(town, "zirconjasper")))
    told = await forget(town, "person", f"{town.chat.platform}:{town.chat.people['ben']}")
    assert standing(town, "zirconjasper") == {}
    assert (told["forgotten"], told["verified"], told["left"]) == (True, True, []), json.dumps(told)
    assert "quartzlantern" in await asks(town, "ada", room, "Which mark does the hull bear?")
    before = times_read(town)
    question = await source(town, "ada", room, f"action:remove address:{mention(room)}", expected="Remove")
    await town.clicks("ada", question, "Remove")
    await town.written("ada", room, "", "with its documents")
    assert "quartzlantern" not in await asks(town, "ada", room, "What mark does the hull bear, then?")
    assert times_read(town) == before
