"""What a person may read who is asked alone, wherever the question came from; and what `/kb experts` takes as experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.access.expert_names import channel_of, label_of, named_experts
from bot.port import Person
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, PLACES, Chat, opened, place, town

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CYN = Person(id="CYN")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chat]:
    async with opened(tmp_path) as made:
        yield made


OWNED = {
    "channel": {"ANN", "BEN", "CYN", "EVE"},
    "second channel": {"ANN", "BEN", "CYN"},
    "private channel": {"ANN", "BEN"},
    "group": set[str](),
    "DM of Ann": set[str](),
    "DM of Ben": set[str](),
    "thread": set[str](),
    "second thread": set[str](),
    "thread of a DM": set[str](),
    "second workspace": set[str](),
    "second platform": set[str](),
    "thread of the second workspace": set[str](),
}


@pytest.mark.parametrize("asked_in", ["private channel", "thread", "DM of Ann"])
@pytest.mark.parametrize("owner", OWNED)
async def test_persons_read_what_their_channels_hold_and_nothing_else(
    chat: Chat, owner: str, asked_in: str
) -> None:
    base = await chat.audiences.own(PLACES[owner])
    readers = {
        person.id
        for person in (ANN, BEN, CYN, EVE)
        if await chat.audiences.person_may_read(base.id, PLACES[asked_in], chat.town, person) == "readable"
    }
    assert readers == OWNED[owner]


async def test_without_the_platforms_answer_nobody_reads(chat: Chat) -> None:
    base = await chat.audiences.own(PLACES["private channel"])
    chat.town.silent.add("LEGAL")
    assert await chat.audiences.person_may_read(base.id, place(), chat.town, BEN) == "unknown"


async def test_guests_read_nothing_of_the_operators(chat: Chat) -> None:
    base = await chat.operators("handbook")
    found = [
        await chat.audiences.person_may_read(base.id, place(), chat.town, person) for person in (BEN, EVE)
    ]
    assert found == ["readable", "closed"]


@pytest.mark.parametrize(
    ("typed", "stored", "channel"),
    [
        ("<#C1>", "C1", "C1"),
        ("<#C1|help>", "C1", "C1"),
        ("123", "123", "123"),
        ("<@U1>", "<@U1>", ""),
        ("<@!42>", "<@42>", ""),
        ("<@&7>", "<@&7>", ""),
        ("<!subteam^S1>", "<!subteam^S1>", ""),
    ],
)
def test_experts_are_stored_as_commands_name_them(typed: str, stored: str, channel: str) -> None:
    assert (named_experts(typed), channel_of(named_experts(typed))) == (stored, channel)


async def test_experts_are_shown_by_their_names() -> None:
    here = town()
    here.groups["S1"] = ("ANN", "BEN")
    shown = [
        await label_of(each, here) for each in ("RANDOM", "<@ANN>", "<!subteam^S1>", "<@NOBODY>", "GONE")
    ]
    assert shown == ["#random", "@ann", "@s1", "", ""]
