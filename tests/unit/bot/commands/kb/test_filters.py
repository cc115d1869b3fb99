from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.store.places import PlaceSettings
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, opened, place
from tests.unit.bot.commands.counter import Counter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


async def handbook(counter: Counter) -> None:
    own = await counter.chat.audiences.own(place())
    await counter.chat.put(own, "report.pdf")


async def test_an_administrator_adds_and_removes_tags(counter: Counter) -> None:
    await handbook(counter)
    assert await counter.say(ANN, "tag report.pdf") == "`report.pdf` has no tags."
    assert await counter.say(ANN, "tag report.pdf add:draft,2024") == "Tags of `report.pdf`: `2024`, `draft`"
    assert await counter.say(ANN, "tag report.pdf Final") == "Tags of `report.pdf`: `2024`, `draft`, `Final`"
    assert await counter.say(ANN, "tag report.pdf remove:DRAFT,final") == "Tags of `report.pdf`: `2024`"


async def test_others_see_tags_and_change_none(counter: Counter) -> None:
    await handbook(counter)
    await counter.say(ANN, "tag report.pdf draft")
    assert await counter.say(BEN, "tag report.pdf") == "Tags of `report.pdf`: `draft`"
    refused = await counter.say(BEN, "tag report.pdf final")
    assert "draft" not in refused
    assert await counter.say(BEN, "tag report.pdf") == "Tags of `report.pdf`: `draft`"


async def test_tags_of_a_channel_that_a_person_cannot_read_are_not_shown(counter: Counter) -> None:
    board = place("BOARD")
    await counter.chat.put(await counter.chat.audiences.own(board), "layoffs.pdf")
    await counter.say(ANN, "tag layoffs.pdf zurich", where=board)
    assert "`zurich`" in await counter.say(ANN, "tag layoffs.pdf name:#board")
    for line in ("tag layoffs.pdf name:#board", "tag layoffs.pdf", "tag layoffs.pdf berlin name:#board"):
        assert "zurich" not in await counter.say(BEN, line)
    assert "berlin" not in await counter.say(ANN, "tag layoffs.pdf", where=board)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tag gone.pdf x", "gone.pdf"),
        (f"tag report.pdf {'x' * 10_000}", "A tag has at most 64 characters; this one has 10,000."),
        ("tag", "/kb tag DOCUMENT [ADD] [REMOVE] [NAME]"),
    ],
)
async def test_bad_input_is_answered_in_one_sentence(counter: Counter, line: str, said: str) -> None:
    await handbook(counter)
    assert said in await counter.say(ANN, line)


async def test_a_channel_keeps_filters_that_all_hold(counter: Counter) -> None:
    assert await counter.say(ANN, "filter") == "Questions in this channel search all files."
    await counter.say(ANN, "filter year>=2024")
    both = await counter.say(ANN, "filter type == pdf")
    assert both == "Questions in this channel search only files with: `year ≥ 2024`, `type:pdf`"
    assert (await counter.chat.places.settings(place())).filter == "year ≥ 2024\ntype:pdf"
    one = await counter.say(ANN, "filter remove type:pdf")
    assert one == "Questions in this channel search only files with: `year ≥ 2024`"
    assert (await counter.chat.places.settings(place("RANDOM"))).filter == ""
    assert await counter.say(ANN, "filter clear") == "Questions in this channel search all files."
    assert await counter.chat.places.settings(place()) == PlaceSettings()


async def test_what_cannot_be_read_is_not_saved(counter: Counter) -> None:
    refused = await counter.say(ANN, "filter pdf files please")
    assert refused.startswith("The filter pdf files please cannot be read")
    await counter.say(BEN, "filter type:pdf")
    assert (await counter.chat.places.settings(place())).filter == ""


async def test_of_two_filters_added_at_once_none_is_lost(counter: Counter) -> None:
    filters = ("type:pdf", "tag:final", "from:anna")
    await asyncio.gather(*(counter.say(ANN, f"filter {each}") for each in filters))
    settings = await counter.chat.places.settings(place())
    assert sorted(settings.filter.splitlines()) == ["author:anna", "tag:final", "type:pdf"]
