"""`/kb source` with a channel: who may add one, into which knowledge base, and who reads it then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from bot.port import Channel
from bot.store.channel_sources import ChannelSources
from tests.doubles.town import TownRoom
from tests.unit.bot.access.knowledge import ANN, BEN, EVE, ids, opened, place
from tests.unit.bot.commands.counter import Counter
from tests.unit.bot.commands.kb.test_source import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.store.channel_sources import ChannelSource


@dataclass(kw_only=True)
class Channels:
    """Over the real store; reading only counts."""

    sources: ChannelSources
    hurried: int = 0
    out: list[tuple[str, str]] = field(default_factory=list)

    def hurry(self) -> None:
        self.hurried += 1

    async def remove(self, source: ChannelSource) -> None:
        await self.sources.withdraw(source)
        await self.sources.remove(source)

    async def opt_out(self, platform: str, person: str) -> None:
        self.out.append((platform, person))


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with opened(tmp_path) as chat:
        sources = ChannelSources(chat.experts._database)
        yield Counter(
            chat=chat,
            room=TownRoom(directory=chat.town),
            sources=Desk(store=chat.sources),
            channels=Channels(sources=sources),
        )


async def added(counter: Counter) -> list[str]:
    assert counter.channels is not None
    return [each.place.channel for each in await counter.channels.sources.all()]


async def test_an_administrator_adds_lists_reads_and_removes_it(counter: Counter) -> None:
    said = await counter.say(ANN, "source add <#GENERAL|general>")
    assert said.startswith("I read the messages of `#general` into")
    assert "already" in await counter.say(ANN, "source add <#GENERAL>")
    assert "- c1. `#general`: not read yet; I am still reading its history" in await counter.say(
        EVE, "source"
    )
    assert "I read `#general` now." in await counter.say(ANN, "source run <#GENERAL>")
    asked = await counter.reply(ANN, "source remove c1")
    assert "I removed" in await counter.confirm(ANN, asked)
    assert await added(counter) == []


@pytest.mark.parametrize(
    ("who", "line", "said"),
    [
        (BEN, "source add <#GENERAL>", "admin"),
        (EVE, "source add <#GENERAL>", "admin"),
        (ANN, "source add <#TRIO>", "Only channels can be sources"),
        (ANN, "source add <#DM_ANN>", "Only channels can be sources"),
        (ANN, "source add <#NOWHERE>", "could not check"),
        (ANN, "source add #general", "could not find `#general`"),
    ],
)
async def test_others_and_other_places_are_refused(
    counter: Counter, who: object, line: str, said: str
) -> None:
    assert said in await counter.say(who, line)  # pyright: ignore[reportArgumentType]
    assert await added(counter) == []


async def test_a_channel_is_removed_by_the_name_that_the_list_shows(counter: Counter) -> None:
    await counter.say(ANN, "source add <#GENERAL>")
    assert "Say which source" in await counter.say(ANN, "source remove #genera")
    asked = await counter.reply(ANN, "source remove #general")
    assert "I removed" in await counter.confirm(ANN, asked)
    assert await added(counter) == []


async def test_an_administrator_who_is_not_in_a_private_channel_adds_nothing(counter: Counter) -> None:
    counter.chat.town.inside["LEGAL"].discard("ANN")
    await counter.say(ANN, "source add <#LEGAL>")
    assert await added(counter) == []


async def test_the_knowledge_base_of_another_channel_is_refused(counter: Counter) -> None:
    await counter.chat.audiences.own(place("RANDOM"))
    said = await counter.say(ANN, "source add <#GENERAL> name:<#RANDOM>")
    assert "can only go into a knowledge base of `#general`" in said
    await counter.chat.audiences.create(place(), "wide", everyone=True)
    said = await counter.say(ANN, "source add <#GENERAL> name:wide")
    assert "can only go into a knowledge base of `#general`" in said
    assert await added(counter) == []


async def test_a_private_channel_is_read_in_it_alone_and_one_that_becomes_private_too(
    counter: Counter,
) -> None:
    await counter.say(ANN, "source add <#RANDOM>")
    assert counter.channels is not None
    (source,) = await counter.channels.sources.all()
    chat = counter.chat
    await chat.places.bind(place("LEGAL"), source.knowledge_base)
    assert source.knowledge_base in await ids(chat, place("RANDOM"))
    assert source.knowledge_base in await ids(chat, place("LEGAL"))
    chat.town.channels["RANDOM"] = Channel(id="RANDOM", name="random", kind="private")
    chat.town.inside["RANDOM"] = {"ANN"}
    assert source.knowledge_base in await ids(chat, place("RANDOM"))
    assert source.knowledge_base not in await ids(chat, place("LEGAL"))


async def test_everybody_may_opt_out_and_in(counter: Counter) -> None:
    assert "I removed your messages" in await counter.say(EVE, "source optout")
    assert isinstance(counter.channels, Channels)
    assert counter.channels.out == [("slack", "EVE")]
    assert "read again from now on" in await counter.say(EVE, "source optin")
