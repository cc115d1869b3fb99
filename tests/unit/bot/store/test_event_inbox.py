"""Events between acknowledgement and end, as they are kept over restarts; and how far a platform was heard."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.store.event_inbox import DeliveryProgress, EventInbox
from rag_engine.errors import StorageUnavailable
from rag_engine.storage.sqlite.database import Database, connect
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Transaction


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql") as opened:
        yield opened


async def test_what_is_not_done_is_left_oldest_first(database: Database) -> None:
    clock = Clock()
    inbox = EventInbox(database, clock=clock)
    for event in ("Ev3", "Ev1", "Ev2", "Ev1"):
        clock.now += 1
        await inbox.add("slack", event, {"text": event, "größe": ["日"]})
    await inbox.add("discord", "Ev1", {})
    await inbox.remove("slack", "Ev1")
    await inbox.remove("slack", "Ev1")
    left = await EventInbox(database, clock=clock).unhandled("slack")
    assert left == [("Ev3", {"text": "Ev3", "größe": ["日"]}), ("Ev2", {"text": "Ev2", "größe": ["日"]})]
    assert await inbox.unhandled("discord") == [("Ev1", {})]


class Locked(Database):
    """The database is in another program's hands at first."""

    locked = True

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        if self.locked:
            self.locked = False
            raise StorageUnavailable("The database is locked.")
        async with super().transaction() as transaction:
            yield transaction


async def test_what_is_left_is_read_as_soon_as_it_can_be(database: Database) -> None:
    await EventInbox(database).add("slack", "Ev1", {})
    inbox = EventInbox(Locked(database.path, reader=database._reader, writer=database._writer))
    async with asyncio.timeout(10):
        assert await inbox.unhandled("slack") == [("Ev1", {})]


async def test_an_event_that_nobody_waits_for_any_more_is_forgotten(database: Database) -> None:
    clock = Clock()
    inbox = EventInbox(database, clock=clock)
    await inbox.add("slack", "Ev1", {})
    clock.now += 3601
    await inbox.add("slack", "Ev2", {})
    assert await inbox.unhandled("slack") == [("Ev2", {})]


async def test_an_event_that_ends_every_program_is_given_up(database: Database) -> None:
    await EventInbox(database).add("slack", "Ev1", {})
    for _ in range(3):
        assert await EventInbox(database).unhandled("slack") == [("Ev1", {})]
    assert await EventInbox(database).unhandled("slack") == []


async def test_the_time_of_the_latest_event_of_a_platform_only_grows(database: Database) -> None:
    clock = Clock()
    heard = DeliveryProgress(database, clock=clock)
    assert await heard.latest("discord") == 0
    await heard.note("discord", 500.0)
    clock.now += 1
    await heard.note("discord", 501.0)
    assert await heard.latest("discord") == 500, "it is written now and then"
    clock.now += 2
    await heard.note("discord", 400.0)
    assert await heard.latest("discord") == 500
    clock.now += 2
    await heard.note("discord", 502.0)
    await heard.note("slack", 1.0)
    assert (await heard.latest("discord"), await heard.latest("slack")) == (502, 1)
