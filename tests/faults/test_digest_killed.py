"""`footnote run`, killed around the weekly digest of gaps: it comes, and it comes once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.faults.mortal import Mortal, mortal
from tests.journeys.chat.scenario import words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

POST = {"slack": "chat.postMessage", "discord": "create_message"}
HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"
FAR = 4_000_000_000.0


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    async with mortal(request.param, tmp_path_factory.mktemp(f"digest_{request.param}")) as opened:
        yield opened


def chat(bot: Mortal) -> Path:
    return bot.town.folder / "data" / "chat.sqlite"


def digests(bot: Mortal, room: str, subject: str) -> list[Shown]:
    found = [each for each in bot.town.ours("ben", room) if "Asked this week and not" in words(each)]
    assert all(subject in words(each) for each in found)
    return found


async def prepared(bot: Mortal, subject: str) -> str:
    """A channel with a gap, whose digest will not be due for long."""
    town = bot.town
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("I do not know that."), task="answer", matching=subject)
    question = await town.says("ben", room, f"@footnote Who has the key of the {subject}?")
    await town.answered("ben", room, question)
    await town.commands("ada", room, f"kb gaps digest:{room}")
    await town.until(lambda: any("Every Monday" in words(each) for each in town.ours("ada", room)))
    return room


def change(bot: Mortal, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(chat(bot), timeout=10)) as database, database:
        database.execute(sql, values)


def state(bot: Mortal, room: str) -> str:
    with closing(sqlite3.connect(chat(bot), timeout=10)) as database:
        rows = database.execute("SELECT state FROM gap_digest_posts WHERE channel = ?", (room,)).fetchall()
    assert len(rows) <= 1
    return str(rows[0][0]) if rows else ""


async def becomes(bot: Mortal, room: str, wanted: str) -> None:
    await bot.town.stores(lambda: state(bot, room) == wanted, seconds=40)


async def test_killed_while_it_posts_the_digest(bot: Mortal) -> None:
    town = bot.town
    room = await prepared(bot, "archive")
    method = POST[town.chat.platform]
    held = town.chat.server.silence(method, times=1)
    before = len(town.chat.server.calls_of(method))
    change(bot, "UPDATE gap_digests SET due_at = 1000")
    await town.until(lambda: len(town.chat.server.calls_of(method)) > before)
    await bot.kill()
    assert state(bot, room) == "sending", "stored before it is written"
    held.set()
    await bot.start()
    await becomes(bot, room, "done")
    assert len(digests(bot, room, "archive")) == 1
    await bot.kill()
    change(bot, "UPDATE gap_digests SET due_at = 1000")
    await bot.start()
    await due_again(bot)
    assert len(digests(bot, room, "archive")) == 1, "once a week, whatever is due"


async def test_killed_before_it_posts_and_before_it_records_the_post(bot: Mortal) -> None:
    room = await prepared(bot, "cellar")
    change(bot, "UPDATE gap_digests SET due_at = ?", FAR)
    await bot.kill()
    row = "INSERT INTO gap_digest_posts SELECT platform, workspace, channel, '2026-W01', 'sending', '', unixepoch() FROM gap_digests"
    change(bot, row)
    await bot.start()
    await becomes(bot, room, "done")
    assert len(digests(bot, room, "cellar")) == 1
    await bot.kill()
    change(bot, "UPDATE gap_digest_posts SET state = 'sending', message = '' WHERE channel = ?", room)
    await bot.start()
    await becomes(bot, room, "done")
    assert len(digests(bot, room, "cellar")) == 1, "found again by its key"


async def due_again(bot: Mortal) -> None:
    """Until the bot has dealt with the digest that is due."""

    def is_due_later() -> bool:
        with closing(sqlite3.connect(chat(bot), timeout=10)) as database:
            (due,) = database.execute("SELECT max(due_at) FROM gap_digests").fetchone()
        return bool(due > 1000)

    await bot.town.stores(is_due_later, seconds=40)
