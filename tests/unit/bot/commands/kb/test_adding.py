"""`/kb add`: files of the command, files of a linked message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, opened, place
from tests.unit.bot.commands.counter import Counter, attachment, message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        yield Counter(chat=chat, room=TownRoom(directory=chat.town))


async def test_files_of_a_command_go_to_the_places_own(counter: Counter) -> None:
    reply = await counter.reply(ANN, "add", files=[attachment("a.txt"), attachment("b.txt")])
    own = await counter.chat.audiences.own(place())
    assert counter.received == [(own.id, ["a.txt", "b.txt"])]
    assert reply.text == "done"
    assert counter.shown[0].status == "Reading…"


async def test_everyone_adds_in_threads_and_admins_to_channels(counter: Counter) -> None:
    assert "add them in a thread" in await counter.say(EVE, "add", files=[attachment("a.txt")])
    assert counter.received == []
    await counter.say(EVE, "add", where=place(thread="1"), files=[attachment("a.txt")])
    assert counter.received[0][0] == (await counter.chat.audiences.own(place(thread="1"))).id


async def test_files_go_where_they_are_said_to_go_if_the_person_may(counter: Counter) -> None:
    await counter.say(ANN, "create handbook workspace")
    await counter.chat.operators("rules")
    assert "Only an admin" in await counter.say(
        BEN, "add handbook", where=place(thread="1"), files=[attachment("a")]
    )
    assert "The operator created" in await counter.say(ANN, "add rules", files=[attachment("a")])
    assert counter.received == []
    await counter.say(ANN, "add handbook", files=[attachment("a")])
    known = await counter.chat.audiences.find("handbook", place(), counter.chat.town, ANN)
    assert counter.received == [(known.knowledge_base.id, ["a"])]


LINK = "https://chat.test/m/1"


async def test_a_link_brings_the_files_of_its_message(counter: Counter) -> None:
    counter.room.messages[LINK] = message(place("LEGAL"), "nda.pdf")
    await counter.say(ANN, f"add <{LINK}|the message>")
    assert [names for _, names in counter.received] == [["nda.pdf"]]


async def test_a_link_opens_nothing_to_those_who_cannot_read_the_message(counter: Counter) -> None:
    counter.room.messages[LINK] = message(place("BOARD"), "minutes.pdf")
    refused = await counter.say(BEN, f"add {LINK}", where=place("DM_BEN"))
    assert refused == await counter.say(BEN, "add https://chat.test/nowhere", where=place("DM_BEN"))
    assert "you cannot" in refused
    counter.chat.town.silent = {"BOARD"}
    assert await counter.say(ANN, f"add {LINK}", where=place("DM_ANN")) == refused
    assert await counter.say(ANN, "add https://chat.test/down") == refused
    counter.room.messages[LINK] = message(place(workspace="T2"), "theirs.pdf")
    assert await counter.say(ANN, f"add {LINK}") == refused
    assert counter.received == []


async def test_without_files_it_is_said_how_to_give_them(counter: Counter) -> None:
    counter.room.messages[LINK] = message(place())
    assert "Say which files" in await counter.say(ANN, "add")
    assert "no files" in await counter.say(ANN, f"add {LINK}")
