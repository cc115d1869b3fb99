"""`footnote run`, killed while it ingests a file, from outside or by the file: the file is ingested once, or given up with a sentence."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.doubles import deadly_embedder
from tests.doubles.chats import PLATFORMS
from tests.faults.mortal import Mortal, mortal
from tests.journeys.chat.interrupted import HANDBOOK
from tests.journeys.chat.scenario import file, words

if TYPE_CHECKING:
    from pathlib import Path


def states(bot: Mortal) -> dict[str, list[str]]:
    """What the catalog says of each file, by its name."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(bot.town.folder / "data" / "footnote.sqlite")) as database:
        for title, state in database.execute("SELECT title, state FROM documents"):
            found.setdefault(title, []).append(state)
    return found


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_killed_while_a_file_comes_and_while_another_waits(platform: str, tmp_path: Path) -> None:
    async with mortal(platform, tmp_path) as bot:
        town = bot.town
        room = town.room()
        names = [f"handbook{number}.md" for number in range(5)]
        files = tuple(file(name, f"{HANDBOOK}\n\nThis is {name}.\n") for name in names)
        held = town.chat.server.silence("download", times=5)
        message = await town.says("ada", room, "@footnote", files=files)
        await town.until(lambda: len(town.chat.server.calls_of("download")) == 2)
        assert {state for found in states(bot).values() for state in found} == {"queued"}
        await bot.kill()
        held.set()
        town.chat.server.repair()
        await bot.start()
        await bot.settled(message)
        told = await town.written("ada", room, message, "searchable")
        assert words(told).count("searchable") == len(names)
        assert [each.id for each in town.ours("ada", room, message)] == [told.id]
        assert states(bot) == {name: ["ready"] for name in names}
        assert list((town.folder / "data" / "uploads").iterdir()) == []


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_file_that_kills_the_bot_is_given_up_after_a_second_try(
    platform: str, tmp_path: Path
) -> None:
    deadly_embedder.install(tmp_path)
    async with mortal(platform, tmp_path, **deadly_embedder.ENVIRONMENT) as bot:
        town = bot.town
        room = town.room()
        deadly = file("deadly.md", f"# Old lace\n\nAnd {deadly_embedder.WORD}.\n")
        message = await town.says("ada", room, "@footnote", files=(deadly,))
        for _ in range(2):
            async with asyncio.timeout(30):
                assert await town.bot.process.wait() == -signal.SIGKILL
            await bot.end()
            await bot.start()
        reply = await town.written("ada", room, message, "I was stopped while answering")
        assert [each.id for each in town.ours("ada", room, message)] == [reply.id]
        assert states(bot) == {"deadly.md": ["failed"]}
        await town.knows(room, HANDBOOK)
        assert town.bot.process.returncode is None
