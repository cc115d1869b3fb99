"""The platform misbehaves while an answer is written: the person gets it all the same, once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.journeys.chat.scenario import OPENING, paced, words

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = "# Logs\n\nLogs are kept for two weeks. Backups are kept for one year.\n"


async def test_an_answer_survives_a_lost_connection(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    rest = asyncio.Event()
    town.model.on(paced(OPENING, rest, "Two weeks [1]."), task="answer", matching="dropped logs")
    question = await town.says("ben", room, "@footnote How long are dropped logs kept?")
    await town.written("ben", room, question, "The handbook names")
    await town.chat.drops()
    rest.set()
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith(f"{OPENING}Two weeks [1].")
    await town.chat.connected()
    after = await town.says("ben", room, "@footnote")
    await town.until(lambda: town.ours("ben", room, after))


async def test_an_answer_survives_too_many_calls(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    rest = asyncio.Event()
    town.model.on(paced(OPENING, rest, "Two weeks [1]."), task="answer", matching="throttled logs")
    question = await town.says("ben", room, "@footnote How long are throttled logs kept?")
    await town.written("ben", room, question, "The handbook names")
    town.chat.limits(1, times=2)
    rest.set()
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith(f"{OPENING}Two weeks [1].")


async def test_nothing_was_done_too_often(town: Scenario) -> None:
    """Stands last: over all that was written in this module no limit of the platform was broken, and nobody was pinged."""
    assert town.chat.server.windows.violations == []
    assert [each for each in town.chat.server.pings if each.target] == []
