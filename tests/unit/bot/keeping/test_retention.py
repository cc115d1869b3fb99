"""What people said goes when its time is over, in small steps, and what is younger stays."""

from __future__ import annotations

import asyncio
import math
import os
import time
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.keeping import retention
from bot.settings import RetentionSettings
from rag_engine.storage import sqlite
from rag_engine.storage.history import SqliteHistory
from rag_engine.types import ConversationId, Trace, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.storage.sqlite import Database

DAY = 86_400.0
NOW = time.time()
CONVERSATION = ConversationId("slack:T:C:1")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Database]:
    async with sqlite.connect(tmp_path / "footnote.sqlite") as opened:
        yield opened


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Database]:
    async with sqlite.connect(tmp_path / "chat.sqlite", scripts=files("bot") / "sql") as opened:
        yield opened


async def talk(engine: Database, chat: Database, *, days: float, count: int) -> None:
    """So many turns with their traces and opinions, so many days ago."""
    history, at = SqliteHistory(engine), NOW - days * DAY
    for number in range(count):
        name = f"{days}-{number}"
        turn = Turn(id=TurnId(name), conversation=CONVERSATION, role="user", text=name, at=at)
        await history.write([turn], Trace(turn=turn.id, conversation=CONVERSATION, at=at, seconds={}))
        async with chat.transaction() as transaction:
            await transaction.execute("INSERT INTO feedback VALUES (?, 'U1', 'up', ?, ?)", (name, name, at))


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
    async with retention.keeping_to(RetentionSettings(), history=history, chat=chat), asyncio.timeout(10):
        while await asyncio.to_thread(old.exists):
            pass
    assert await left(engine, chat) == {"0-0"}
    assert young.exists()


async def test_nothing_goes_where_everything_is_kept(engine: Database, chat: Database) -> None:
    await talk(engine, chat, days=10_000, count=1)
    keep = RetentionSettings(days=0)
    assert retention.seconds(keep) == math.inf
    async with retention.keeping_to(keep, history=SqliteHistory(engine), chat=chat):
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "removals"]
    assert await left(engine, chat) == {"10000-0"}
