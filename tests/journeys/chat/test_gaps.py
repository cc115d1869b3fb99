"""Questions that no file answers, as an administrator sees them: the list, what its buttons do, and the weekly digest."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, has, words

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"


async def asked(town: Scenario, room: str, subject: str, *people: str) -> str:
    """By each of them, in vain."""
    town.model.on(streamed("I do not know that."), task="answer", matching=subject)
    question = ""
    for person in people:
        question = await town.says(person, room, f"@footnote Who has the key of the {subject}?")
        await town.answered(person, room, question)
    return question


async def listed(town: Scenario, room: str, wanted: str = "") -> Shown:
    """What `/kb gaps` tells Ada."""
    before = len(town.ours("ada", room))
    await town.commands("ada", room, "kb gaps")
    found = await town.until(
        lambda: [
            each
            for each in town.ours("ada", room)[before:]
            if (wanted or "grouped by meaning" in words(each) or "was answered" in words(each))
            and wanted in words(each)
        ]
    )
    return found[-1]


async def told(town: Scenario, person: str, room: str, text: str) -> Shown:
    found = await town.until(lambda: [each for each in town.ours(person, room) if text in words(each)])
    return found[-1]


async def opened(town: Scenario, room: str, subject: str) -> Shown:
    shown = await listed(town, room, subject)
    number = next(line for line in words(shown).splitlines() if subject in line).partition(".")[0].strip()
    await town.clicks("ada", shown, number)
    return await town.until(
        lambda: next(
            (each for each in town.ours("ada", room) if subject in words(each) and has(each, "Add a file")),
            None,
        )
    )


async def test_a_gap_is_listed_closed_and_opens_again(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    await asked(town, room, "boathouse", "ben", "cleo")
    shown = await opened(town, room, "boathouse")
    assert "(2×; this week 2, last week 0)" in words(shown)
    await town.clicks("ada", shown, "Add a file")
    how = await told(town, "ada", room, "Write a file that answers")
    assert "/kb add" in words(how)
    await town.clicks("ada", how, "Done")
    await told(town, "ada", room, "Closed.")
    assert "boathouse" not in words(await listed(town, room))
    await asked(town, room, "boathouse", "ben")
    assert "(3×" in words(await listed(town, room, "boathouse"))


async def test_who_does_not_administer_learns_nothing(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    await asked(town, room, "lighthouse", "ben")
    await town.commands("ben", room, "kb gaps")
    refused = await told(town, "ben", room, "Only")
    assert "lighthouse" not in words(refused)


async def test_a_gap_goes_to_experts_and_their_answer_comes_to_who_asked_them(town: Scenario) -> None:
    room, experts = town.room(), town.room()
    await town.knows(room, HANDBOOK)
    await asked(town, room, "granary", "ben")
    shown = await opened(town, room, "granary")
    await town.clicks("ada", shown, "Ask an expert")
    await told(town, "ada", room, "no experts who may read")
    await town.commands("ada", room, "kb experts action:add channel:@nobody")
    await told(town, "ada", room, "could not find")
    await town.commands("ada", room, f"kb experts action:add channel:{experts}")
    await told(town, "ada", room, "Experts of")
    await town.clicks("ada", await opened(town, room, "granary"), "Ask an expert")
    await town.clicks("ada", await told(town, "ada", room, "goes to the experts"), "Send")
    await told(town, "ada", room, "is with the experts")
    post = await told(town, "cleo", experts, "granary")
    assert "ada asks the experts" in words(post)
    await town.until(lambda: town.ours("cleo", experts, post.id)[1:])
    await town.says("cleo", experts, "The miller has it.", thread=post.id)
    places = {room, town.direct("ada")}  # Discord has no private messages in channels without a press
    back = await town.until(
        lambda: next(
            (each for place in places for each in town.ours("ada", place) if "The miller" in words(each)),
            None,
        )
    )
    assert "cleo answers" in words(back)
    assert not [each for each in town.ours("ben", room) if "The miller has it." in words(each)]


def database(town: Scenario) -> sqlite3.Connection:
    return sqlite3.connect(town.folder / "data" / "chat.sqlite", timeout=10)


def make_due(town: Scenario) -> None:
    with closing(database(town)) as chat, chat:
        chat.execute("UPDATE gap_digests SET due_at = 1000")


def stored(town: Scenario) -> tuple[float, str]:
    """When the next is due, and the state of this week's."""
    with closing(database(town)) as chat:
        due = chat.execute("SELECT max(due_at) FROM gap_digests").fetchone()[0]
        states = chat.execute("SELECT state FROM gap_digest_posts").fetchall()
    return due or 0.0, states[0][0] if states else ""


async def becomes(town: Scenario, state: str, *, later: float = 0.0) -> None:
    await town.stores(lambda: stored(town)[1] == state and stored(town)[0] > later, seconds=30)


async def test_the_weekly_digest_comes_once(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    await asked(town, room, "windmill", "ben")
    await town.commands("ada", room, "kb gaps digest:weekly")
    await told(town, "ada", room, "could not find")
    await town.commands("ada", room, f"kb gaps digest:{room}")
    await told(town, "ada", room, "Every Monday at nine")
    make_due(town)
    digest = await told(town, "ben", room, "Asked this week and not answered")
    assert "windmill" in words(digest)
    make_due(town)
    await becomes(town, "done", later=1000)
    found = [each for each in town.ours("ben", room) if "Asked this week" in words(each)]
    assert len(found) == 1
    await town.commands("ada", room, "kb gaps digest:off")
    await told(town, "ada", room, "no weekly digest")
