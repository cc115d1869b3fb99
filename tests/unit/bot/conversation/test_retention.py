"""What people said goes when its time is over, in small steps, and what is younger stays."""

from __future__ import annotations

import asyncio
import math
import os
import time
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.conversation import retention
from bot.port import Person, Place
from bot.settings import RetentionSettings
from bot.store.retention_clock import RetentionClock, days_ahead
from bot.store.turns import ChatTurn, Turns
from rag_engine.speech.audio_cache import AudioCache
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite import database
from rag_engine.types import ConversationId, Trace, Turn, TurnId
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database

DAY = 86_400.0
PLACE = Place(platform="slack", workspace="T1", channel="C1", thread="1.5")
ANN = Person(id="U1")
NOW = time.time()
CONVERSATION = ConversationId("slack:T:C:1")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Database]:
    async with database.connect(new_database(tmp_path / "footnote.sqlite")) as opened:
        yield opened


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Database]:
    async with database.connect(
        new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql"
    ) as opened:
        yield opened


def audio_of(chat: Database) -> AudioCache:
    return AudioCache(chat.path.parent / "speech")


async def talk(engine: Database, chat: Database, *, days: float, count: int) -> None:
    """So many turns with their traces and opinions, so many days ago."""
    history, at = SqliteHistory(engine), NOW - days * DAY
    for number in range(count):
        name = f"{days}-{number}"
        turn = Turn(id=TurnId(name), conversation=CONVERSATION, role="user", text=name, at=at)
        await history.write([turn], Trace(turn=turn.id, conversation=CONVERSATION, at=at, seconds={}))
        async with chat.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO feedback (answer, person, rating, turn, at) VALUES (?, 'U1', 'up', ?, ?)",
                (name, name, at),
            )


async def left(engine: Database, chat: Database) -> set[str]:
    """The turns that are there, each with its trace and its opinion."""
    turns, traces = await engine.fetch("SELECT id FROM turns"), await engine.fetch("SELECT turn FROM traces")
    opinions = await chat.fetch("SELECT turn FROM feedback")
    assert sorted(turns) == sorted(traces) == sorted(opinions)
    return {name for (name,) in turns}


async def test_what_is_too_old_goes_and_the_rest_stays(engine: Database, chat: Database) -> None:
    await talk(engine, chat, days=100, count=250)
    await talk(engine, chat, days=89, count=3)
    await talk(engine, chat, days=0, count=2)
    await retention.prune(90 * DAY, history=SqliteHistory(engine), chat=chat, clock=lambda: NOW)
    assert await left(engine, chat) == {"89-0", "89-1", "89-2", "0-0", "0-1"}


async def test_others_write_in_between(engine: Database, chat: Database) -> None:
    await talk(engine, chat, days=100, count=450)
    history = SqliteHistory(engine)
    pruning = asyncio.create_task(retention.prune(90 * DAY, history=history, chat=chat, clock=lambda: NOW))
    written = 0
    while not pruning.done():
        await talk(engine, chat, days=-written, count=1)
        written += 1
    await pruning
    assert written > 3
    assert len(await left(engine, chat)) == written


async def test_a_running_bot_does_so(engine: Database, chat: Database) -> None:
    await talk(engine, chat, days=100, count=1)
    await talk(engine, chat, days=0, count=1)
    history, folder = SqliteHistory(engine), chat.path.parent
    old, young = folder / "chat.sqlite.schema-2.backup", folder / "footnote.sqlite.schema-1.backup"
    for path, days in ((old, 100), (young, 10)):
        path.write_bytes(b"what people said")
        os.utime(path, (NOW - days * DAY, NOW - days * DAY))
    async with (
        retention.keeping_to(RetentionSettings(), history=history, chat=chat, audio=audio_of(chat)),
        asyncio.timeout(10),
    ):
        while await asyncio.to_thread(old.exists):
            pass
    assert await left(engine, chat) == {"0-0"}
    assert young.exists()


async def test_a_clock_that_jumps_deletes_a_day_an_hour_and_says_so(
    engine: Database, chat: Database, caplog: pytest.LogCaptureFixture
) -> None:
    for days in (89.5, 80, 0):
        await talk(engine, chat, days=days, count=1)
    folder, history, wall, ran = chat.path.parent, SqliteHistory(engine), NOW, 0.0
    clock = RetentionClock(folder, newest=await history.newest(), clock=lambda: wall, monotonic=lambda: ran)
    clock.advance()
    wall += 4000 * DAY
    for _ in range(2):  # also after a restart, with the jumped clock
        clock.advance()
        await retention.prune(90 * DAY, history=history, chat=chat, clock=clock)
        assert await left(engine, chat) == {"89.5-0", "80-0", "0-0"}
        clock = RetentionClock(folder, newest=wall, clock=lambda: wall, monotonic=lambda: ran)
    assert days_ahead(folder, lambda: wall) == pytest.approx(4000)
    assert "4000.0 days ahead of the last run" in caplog.text
    ran += 3600
    clock.advance()
    await retention.prune(90 * DAY, history=history, chat=chat, clock=clock)
    assert await left(engine, chat) == {"80-0", "0-0"}, "one day an hour"
    wall -= 4000 * DAY
    assert clock.advance() == wall, "a corrected clock is followed at once"
    assert days_ahead(folder, lambda: wall) == 0


async def test_a_running_bot_with_a_jumped_clock_keeps_what_was_said(
    engine: Database, chat: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(engine, chat, days=1, count=3)
    monkeypatch.setattr(time, "time", lambda: NOW + 1000 * DAY)
    history = SqliteHistory(engine)
    async with retention.keeping_to(
        RetentionSettings(), history=history, chat=chat, audio=audio_of(chat)
    ) as clock:
        old, new = (ChatTurn(place=PLACE, message=name, person=ANN, asked_at=5.0) for name in ("old", "new"))
        await Turns(chat, clock=lambda: NOW).claim(old)
        turns = Turns(chat, retention_seconds=90 * DAY, retention_clock=clock)
        await turns.claim(new)
        for _ in range(20):
            await asyncio.sleep(0)
    assert len(await left(engine, chat)) == 3
    assert await turns.find(old.id) is not None


async def test_nothing_goes_where_everything_is_kept(engine: Database, chat: Database) -> None:
    await talk(engine, chat, days=10_000, count=1)
    keep = RetentionSettings(days=0)
    assert retention.seconds(keep) == math.inf
    async with retention.keeping_to(keep, history=SqliteHistory(engine), chat=chat, audio=audio_of(chat)):
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "removals"]
    assert await left(engine, chat) == {"10000-0"}
