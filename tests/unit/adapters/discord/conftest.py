"""A doubled Discord, the real client, and a recording service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters import discord
from bot.port import (
    Action,
    Arrival,
    Button,
    Command,
    CommandSpec,
    MessageEvent,
    Option,
    Outlet,
    Overview,
    Page,
    Person,
    Place,
    Recall,
    Room,
    Write,
)
from tests.doubles.discord_double.server import DiscordServer, serve
from tests.unit.adapters.recording import MemoryInbox, RecordedSignals

if TYPE_CHECKING:
    from tests.doubles.discord_double.world import User

SPECS = (
    CommandSpec(
        name="ask",
        description="Ask a question",
        options=(
            Option(name="question", description="What you want to know", required=True),
            Option(name="where", description="Who sees the answer", choices=("here", "channel")),
            Option(name="file", description="Which file", suggested=True),
        ),
    ),
    CommandSpec(name="kb list", description="All knowledge bases", admin=True),
    CommandSpec(
        name="kb add",
        description="Add a file",
        admin=True,
        options=(
            Option(name="into", description="The channel", kind="channel"),
            Option(name="file", description="The file", kind="file", required=True),
        ),
    ),
)
Event = MessageEvent | Command | Action | Arrival


@dataclass(slots=True, kw_only=True)
class Recorder:
    """A ChatService; `deal` handles each event."""

    commands: Sequence[CommandSpec] = SPECS
    deal: Callable[[Event, Room], Awaitable[None]] | None = None
    events: asyncio.Queue[tuple[Event, Room]] = field(default_factory=asyncio.Queue)
    inbox: MemoryInbox = field(default_factory=MemoryInbox)
    recalls: asyncio.Queue[Recall] = field(default_factory=asyncio.Queue)
    heard_at: float = 0.0
    names: list[str] = field(default_factory=list)
    suggested: list[tuple[Command, str]] = field(default_factory=list)
    direct: list[str] = field(default_factory=list)
    """Direct conversations with an answer."""
    recorded: set[str] = field(default_factory=set)
    """Our messages that belong to an answer."""

    async def resume(self, platform: str, recall: Recall) -> None:
        self.recalls.put_nowait(recall)

    async def answer_messages(self, place: Place) -> frozenset[str]:
        return frozenset(self.recorded)

    async def answered_channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        return self.direct[:limit]

    async def recall(self) -> Recall:
        """The adapter's `Recall`."""
        async with asyncio.timeout(5):
            return await self.recalls.get()

    async def last_message_at(self, platform: str) -> float:
        return self.heard_at

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        await self._take(event, room)

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        await self._take(arrival, room)

    async def overview(self, person: Person, place: Place, room: Room) -> Overview:
        return Overview(greeting="Hello!")

    async def suggestions(self, command: Command, option: str, room: Room) -> list[str]:
        self.suggested.append((command, option))
        return self.names

    async def on_command(self, command: Command, room: Room) -> None:
        await self._take(command, room)

    async def form(self, action: Action, room: object) -> None:
        return None

    async def on_action(self, action: Action, room: Room) -> None:
        await self._take(action, room)

    async def _take(self, event: Event, room: Room) -> None:
        if self.deal is not None:
            await self.deal(event, room)
        self.events.put_nowait((event, room))

    async def next(self) -> tuple[Any, Room]:
        async with asyncio.timeout(5):
            return await self.events.get()


def page(text: str = "", *, buttons: Sequence[Button] = (), **more: Any) -> Page:
    return Page(text=text, buttons=tuple(buttons), **more)


async def write(outlet: Outlet, text: str, *, part: int = 0, final: bool = False, **more: Any) -> str:
    return await outlet.write(
        Write(part=part, page=page(text, **more), route=outlet.routes[-1].name, final=final)
    )


def settings_for(server: DiscordServer, **more: Any) -> discord.Settings:
    given: dict[str, Any] = {
        "token": SecretStr(server.token),
        "api_base": server.api_url,
        "gateway_url": server.gateway_url,
        "retry_seconds": 0.01,
        "close_seconds": 5,
        **more,
    }
    return discord.Settings(**given)


@asynccontextmanager
async def running(
    server: DiscordServer, service: Recorder, *, faults: list[str] | None = None, **settings: Any
) -> AsyncIterator[Mapping[str, str]]:
    """The running adapter; yields its facts and records recovered faults in `faults`."""
    facts: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
    signals = RecordedSignals(facts.set_result, faults=[] if faults is None else faults)
    task = asyncio.create_task(discord.run(settings_for(server, **settings), service, signals=signals))
    try:
        async with asyncio.timeout(5):
            await asyncio.wait({task, facts}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield facts.result()
    finally:
        task.cancel()
        async with asyncio.timeout(5):
            await asyncio.wait({task})
    if not task.cancelled():
        await task


@pytest.fixture
def anna(server: DiscordServer) -> User:
    return server.add_user("anna")


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with serve() as double:
        yield double


@pytest.fixture
def service() -> Recorder:
    return Recorder()


@pytest.fixture
async def bot(server: DiscordServer, service: Recorder) -> AsyncIterator[Mapping[str, str]]:
    async with running(server, service) as facts:
        yield facts


Running = Callable[..., AbstractAsyncContextManager[Mapping[str, str]]]
