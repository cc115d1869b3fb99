"""`footnote run`, killed while it announces a channel as a source and at pages of its history: equal to reading in one go."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.faults.mortal import Mortal, mortal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")

POST = {"slack": "chat.postMessage", "discord": "create_message"}
PAGE = {"slack": "conversations.history", "discord": "list_messages"}
FAST = {
    f"FOOTNOTE_{platform}__HISTORY_{name}": value
    for platform in ("SLACK", "DISCORD")
    for name, value in (("CALLS", "50"), ("SECONDS", "5"))
}
MESSAGES = 450
KILLS = 4


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mortal]:
    async with mortal(request.param, tmp_path_factory.mktemp(f"channel_{request.param}"), **FAST) as opened:
        yield opened


def rows(bot: Mortal, file: str, sql: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(bot.town.folder / "data" / file)) as database:
        return database.execute(sql).fetchall()


async def read_to_the_end(bot: Mortal) -> None:
    left = "SELECT source FROM channel_spans UNION SELECT source FROM channel_threads UNION SELECT source FROM channel_documents WHERE version > written"
    await bot.town.stores(lambda: not rows(bot, "chat.sqlite", left), seconds=60)


async def test_killed_while_it_announces_and_reads(bot: Mortal) -> None:
    town = bot.town
    await bot.kill()
    room = town.room()
    roots = [
        await town.says("ben", room, f"Ticket {number}: a lamp is broken.") for number in range(MESSAGES)
    ]
    for root in roots[::90]:
        await town.says("cleo", room, f"Ticket of {root} is done.", thread=root)
    await bot.start()
    post, page = POST[town.chat.platform], PAGE[town.chat.platform]
    held = town.chat.server.silence(post, times=1)
    before = len(town.chat.server.calls_of(post))
    await town.commands("ada", room, f"kb source action:add address:<#{room}>")
    await town.until(lambda: len(town.chat.server.calls_of(post)) > before)
    for _ in range(KILLS):
        await bot.kill()
        held.set()
        before = len(town.chat.server.calls_of(page))
        await bot.start()
        await town.until(lambda before=before: len(town.chat.server.calls_of(page)) > before + 1)
    await town.chat.deletes(roots[200])
    await bot.kill()
    await town.chat.edits(roots[-1], "Ticket last: the lamp was stolen.")
    await town.chat.deletes(roots[-2])
    await town.says("ben", room, "Ticket of the night: a door is open.")
    await bot.start()
    await read_to_the_end(bot)
    announced = [each for each in town.ours("ben", room) if "can be answered from" in each.text]
    assert len(announced) == 1
    stored = {
        text for (text,) in rows(bot, "chat.sqlite", "SELECT text FROM channel_messages WHERE text <> ''")
    }
    expected = {f"Ticket {number}: a lamp is broken." for number in range(MESSAGES)}
    expected -= {f"Ticket {number}: a lamp is broken." for number in (200, MESSAGES - 1, MESSAGES - 2)}
    expected |= {f"Ticket of {root} is done." for root in roots[::90]}
    expected |= {"Ticket last: the lamp was stolen.", "Ticket of the night: a door is open."}
    assert stored == expected
    texts = "\n".join(str(text) for (text,) in rows(bot, "footnote.sqlite", "SELECT sections FROM texts"))
    titles = {title for (title,) in rows(bot, "footnote.sqlite", "SELECT title FROM documents")}
    assert len(titles) >= 6
    assert texts
