"""What was wrong with an answer, said in a form, on both platforms."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.expert_scenes import HANDBOOK

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_something_else_is_said_in_a_form(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="access logs", times=1)
    question = await town.says("ben", room, "@footnote How long are access logs kept?")
    answer = await town.answered("ben", room, question)
    await town.chat.dislikes(town.chat.people["ben"], answer[-1].id)
    why = await town.written("ben", room, question, "What was wrong")
    await town.clicks("ben", why, "Something else")
    assert (await town.chat.fills(town.chat.people["ben"], "It is three weeks now.")).strip() == ""
    await town.written("ben", room, question, "that is noted")

    def stored() -> bool:
        with closing(sqlite3.connect(town.folder / "data" / "chat.sqlite")) as database:
            rows = database.execute("SELECT reason, note FROM feedback").fetchall()
        return rows == [("other", "It is three weeks now.")]

    await town.stores(stored, seconds=30)
