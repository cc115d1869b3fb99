"""Processes that end while they handle an interaction."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bot.port import Button, Command, IncomingMessage, Room
from tests.unit.adapters.discord.conftest import Recorder, running, write
from tests.unit.adapters.recording import MemoryInbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Recall
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User


STOP = Button(name="stop", label="Stop", value="turn1", style="danger")


AGAIN = Button(name="regenerate", label="Regenerate", value="turn1")


TOKEN_SECONDS = 15 * 60.0


ASK = "/ask why?"


ASK_ALL = "/ask question:why? where:channel"


@dataclass(slots=True, kw_only=True)
class Service(Recorder):
    """Its `resume` waits for `resuming`."""

    resuming: asyncio.Event = field(default_factory=asyncio.Event)

    async def resume(self, platform: str, recall: Recall) -> None:
        self.recalls.put_nowait(recall)
        await self.resuming.wait()


@dataclass(slots=True)
class Inbox(MemoryInbox):
    """Can be waited for."""

    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def remove(self, platform: str, event: str) -> None:
        await MemoryInbox.remove(self, platform, event)
        self._news.set()

    async def until_left(self, *events: tuple[str, str]) -> None:
        async with asyncio.timeout(5):
            while list(self.events) != list(events):
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def killed_in(server: DiscordServer, inbox: Inbox, deal: Any) -> AsyncIterator[Service]:
    """A process that ends after `deal`."""
    service = Service(inbox=inbox)

    async def deal_and_die(event: Any, room: Room) -> None:
        await deal(event, room)
        service.events.put_nowait((event, room))
        await asyncio.Event().wait()

    service.deal = deal_and_die
    async with running(server, service):
        yield service


async def nothing(event: Any, room: Room) -> None:
    """Nothing is shown yet."""


async def half(event: Any, room: Room) -> None:
    person = None if getattr(event, "values", {}).get("where") else event.person
    await write(room.outlet(private=person), "Half", buttons=[STOP])


async def died_over(server: DiscordServer, inbox: Inbox, who: User, line: str, deal: Any) -> Command:
    """A command during which the process died."""
    async with killed_in(server, inbox, deal) as service:
        await server.user_commands(who, server.general, line)
        command, _ = await service.next()
    assert isinstance(command, Command)
    return command


def question(command: Command) -> IncomingMessage:
    """The stored handle of `/ask`."""
    return IncomingMessage(
        id=f"command:{command.id}",
        place=command.place,
        person=command.person,
        text="why?",
        private="where" not in command.values,
        handle=command.handle,
    )


@asynccontextmanager
async def recalled(server: DiscordServer, kept: IncomingMessage) -> AsyncIterator[tuple[Any, Room]]:
    """The next process resumes the answer only."""
    service = Service()
    async with running(server, service):
        recall = await service.recall()
        yield await recall(kept)


def seen(server: DiscordServer, who: User, where: Any = None) -> list[str]:
    return [each.text for each in server.visible(who, where or server.general) if each.ours]
