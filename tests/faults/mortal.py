"""A bot that is killed and started again on the same data, while its platform and its model go on."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.doubles import chats
from tests.doubles.model_servers import openai_server
from tests.journeys.chat.scenario import SECONDS, Scenario, running, speaking

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.doubles.chat_server import Call, Shown

UNFINISHED = frozenset({"received", "placeholder", "streaming"})
QUICK = {"FOOTNOTE_DISCORD__RETRY_SECONDS": "0.1", "FOOTNOTE_SLACK__PING_SECONDS": "2"}


@dataclass(kw_only=True)
class Mortal:
    """The town, and the life of its bot."""

    town: Scenario
    settings: dict[str, str] = field(default_factory=dict[str, str])
    """Beside the usual ones."""
    _life: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def kill(self) -> None:
        """At once, as by SIGKILL: nothing is written or said any more."""
        self.town.bot.process.kill()
        await self.end()

    async def start(self) -> None:
        """A new process on what the last one left; returns when it is connected."""
        town = self.town
        settings = speaking(town.model) | QUICK | self.settings
        town.bot = await self._life.enter_async_context(running(town.folder, town.chat, **settings))

    async def end(self) -> None:
        """Wait for the process to end, of its own accord where it was not killed."""
        await self._life.aclose()

    def states(self, question: str) -> list[str]:
        """What is kept of a question."""
        path = self.town.folder / "data" / "chat.sqlite"
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT state FROM answers WHERE message = ?", (question,)).fetchall()
        return [state for (state,) in rows]

    async def settled(self, *questions: str) -> None:
        """Wait until each of them was taken up and has its end; the bot logs a line after it has kept that."""
        logged = self.town.bot.logged
        async with asyncio.timeout(SECONDS):
            while True:
                logged.clear()
                states = [self.states(question) for question in questions]
                if all(states) and UNFINISHED.isdisjoint(state for each in states for state in each):
                    return
                await logged.wait()

    def in_thread(self, room: str, question: str) -> list[Shown]:
        """All of the bot's answers to it that still exist."""
        return [each for each in self.town.ours("ben", room, question) if each.thread]


class Calls:
    """Calls of a method from now on: an earlier process, when killed, left some that were never answered."""

    def __init__(self, bot: Mortal, method: str) -> None:
        self._bot, self._method = bot, method
        self._earlier = len(self._listed)

    @property
    def _listed(self) -> list[Call]:
        return self._bot.town.chat.server.calls_of(self._method)

    async def waiting(self) -> None:
        """Wait for one that is not answered."""
        await self._bot.town.until(
            lambda: [call for call in self._listed[self._earlier :] if not call.answered]
        )


@asynccontextmanager
async def mortal(platform: str, folder: Path, **settings: str) -> AsyncGenerator[Mortal]:
    """A platform with its people, and a bot with these settings that has just been started."""
    async with chats.serve(platform) as chat, openai_server.serve() as model:
        bot: Mortal | None = None
        async with AsyncExitStack() as life:
            first = await life.enter_async_context(
                running(folder, chat, **speaking(model) | QUICK | settings)
            )
            town = Scenario(chat=chat, model=model, bot=first, folder=folder)
            bot = Mortal(town=town, settings=settings)
            bot._life = life.pop_all()
        try:
            yield bot
        finally:
            await bot.end()
