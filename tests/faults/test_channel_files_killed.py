"""`footnote run`, killed at random moments while messages with files of a channel are read, edited and deleted: equal to one go."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.doubles.chats import PLATFORMS
from tests.faults.add_killed import contents, leftovers
from tests.faults.mortal import QUICK, Mortal, mortal
from tests.faults.stored import ENVIRONMENT
from tests.faults.test_channel_killed import FAST
from tests.journeys.chat.scenario import Scenario, file, running, speaking

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETTINGS = FAST | ENVIRONMENT
HISTORY = 16
SECONDS = 90.0
LEFT = (
    "SELECT source FROM channel_spans UNION SELECT source FROM channel_threads "
    "UNION SELECT source FROM channel_documents WHERE version > written "
    "UNION SELECT source FROM channel_files WHERE state IN ('waiting', 'leaving') "
    "UNION SELECT id FROM channel_sources WHERE post = ''"
)


@dataclass(kw_only=True)
class Room:
    """What people write: each file has a word of its own."""

    town: Scenario
    room: str
    chance: random.Random
    standing: dict[str, int] = field(default_factory=dict[str, int])
    deleted: list[int] = field(default_factory=list[int])
    count: int = 0

    async def writes(self) -> None:
        number = self.count
        self.count += 1
        kinds = (
            file(f"note{number}.md", f"# Note {number}\n\nIts mark is {mark(number)}.\n" * (1 + number % 3)),
            file(f"table{number}.csv", f"mark,number\n{mark(number)},{number}\n"),
            file(f"broken{number}.pdf", f"%PDF-1.7 {mark(number)}"),
        )
        said = f"Look at number {number}" if number % 2 else ""
        person = self.chance.choice(("ada", "ben", "cleo"))
        files = kinds[:2] if number % 4 == 0 else (kinds[number % 3],)
        self.standing[await self.town.says(person, self.room, said, files=files)] = number

    async def deletes(self) -> None:
        message = self.chance.choice(list(self.standing))
        self.deleted.append(self.standing.pop(message))
        await self.town.chat.deletes(message)

    async def edits(self) -> None:
        message = self.chance.choice(list(self.standing))
        await self.town.chat.edits(message, f"Look again, {self.chance.random()}")

    async def goes_on(self) -> None:
        for act in self.chance.choices((self.writes, self.deletes, self.edits), k=self.chance.randint(1, 3)):
            await act()


def mark(number: int) -> str:
    return f"zircon{number}jasper"


def rows(folder: Path, store: str, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "data" / store)) as database:
        return database.execute(sql).fetchall()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [8, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_files_of_messages(tmp_path: Path, platform: str, kills: int) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed.mkdir()
    whole.mkdir()
    async with mortal(platform, killed, **SETTINGS) as bot:
        town = bot.town
        room = Room(town=town, room=town.room(), chance=random.Random(kills))
        for _ in range(HISTORY):
            await room.writes()
        await follows(town, room.room)
        for _ in range(kills):
            await killed_soon(bot, room)
        await ended(bot.town)
        await bot.end()
        settings = speaking(town.model) | QUICK | SETTINGS
        async with running(whole, town.chat, **settings) as other:
            one_go = Scenario(chat=town.chat, model=town.model, bot=other, folder=whole)
            await follows(one_go, room.room)
            await ended(one_go)
    assert by_source(await contents(killed / "data")) == by_source(await contents(whole / "data"))
    assert files(killed) == files(whole)
    assert leftovers(killed / "data") == ()
    assert len(room.deleted) >= kills // 3
    texts = str(rows(killed, "footnote.sqlite", "SELECT sections FROM texts"))
    titles = str(rows(killed, "footnote.sqlite", "SELECT title FROM documents"))
    assert [each for each in room.deleted if mark(each) in texts or f"note{each}." in titles] == []


async def follows(town: Scenario, room: str) -> None:
    await town.commands("ada", room, f"kb source action:add address:<#{room}>")
    await town.stores(
        lambda: bool(rows(town.folder, "chat.sqlite", "SELECT 1 FROM channel_sources")), seconds=30
    )


async def killed_soon(bot: Mortal, room: Room) -> None:
    process = bot.town.bot.process
    await room.goes_on()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), room.chance.uniform(0.0, 1.2))
    await bot.kill()
    if room.chance.random() < 0.5:
        await room.goes_on()
    await bot.start()


async def ended(town: Scenario) -> None:
    await town.bot.until(lambda: '"channel_read"' in town.bot.log(), seconds=SECONDS)
    await town.stores(lambda: not rows(town.folder, "chat.sqlite", LEFT), seconds=SECONDS)


def by_source(found: Mapping[frozenset[str], object]) -> dict[tuple[str, ...], object]:
    """Of a day the text alone: it is named by the message that came first, which may be gone."""
    return {
        tuple(sorted(uri.partition("#messages:")[2] or uri for uri in uris)): _text(value)
        if any("#messages:" in uri for uri in uris)
        else value
        for uris, value in found.items()
    }


def _text(document: object) -> list[str]:
    sections = cast("tuple[Any, ...]", document)[2]
    return [section.text for section in sections]


def files(folder: Path) -> list[tuple[object, ...]]:
    sql = "SELECT message, attachment, uri, state FROM channel_files ORDER BY message, attachment"
    return rows(folder, "chat.sqlite", sql)
