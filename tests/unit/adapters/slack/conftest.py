"""The adapter on a doubled Slack, with a recording service."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters import slack
from bot.port import Overview
from tests.doubles.slack_double.server import SlackServer
from tests.unit.adapters.recording import MemoryInbox, RecordedSignals

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from bot.port import Action, Arrival, Command, CommandSpec, MessageEvent, Person, Place, Recall, Room

SECONDS = 5.0
OVERVIEW = Overview(
    greeting="Hello!", heading="Known", knowledge_bases=("legal: 2 documents",), prompts=("Summarize a.md",)
)


@dataclass
class Service:
    """Records events; `answer` may handle them."""

    commands: tuple[CommandSpec, ...] = ()
    events: asyncio.Queue[tuple[Any, Room]] = field(default_factory=asyncio.Queue)
    answer: Callable[[Any, Room], Any] | None = None
    inbox: MemoryInbox = field(default_factory=MemoryInbox)
    recalls: asyncio.Queue[Recall] = field(default_factory=asyncio.Queue)
    heard_at: float = 0.0
    shown: Overview = OVERVIEW
    answers: frozenset[str] = frozenset()

    async def resume(self, platform: str, recall: Recall) -> None:
        self.recalls.put_nowait(recall)

    async def answer_messages(self, place: Place) -> frozenset[str]:
        return self.answers

    async def last_message_at(self, platform: str) -> float:
        return self.heard_at

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        await self._take(event, room)

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        await self._take(arrival, room)

    async def overview(self, person: Person, place: Place, room: Room) -> Overview:
        return self.shown

    async def suggestions(self, command: Command, option: str, room: Room) -> list[str]:
        return []

    async def on_command(self, command: Command, room: Room) -> None:
        await self._take(command, room)

    async def form(self, action: Action, room: object) -> None:
        return None

    async def on_action(self, action: Action, room: Room) -> None:
        await self._take(action, room)

    async def next(self) -> tuple[Any, Room]:
        async with asyncio.timeout(SECONDS):
            return await self.events.get()

    async def _take(self, event: Any, room: Room) -> None:
        self.events.put_nowait((event, room))
        if self.answer is not None:
            await self.answer(event, room)


@dataclass
class Bot:
    server: SlackServer
    service: Service
    facts: Mapping[str, str]
    task: asyncio.Task[None]
    signals: RecordedSignals

    async def next(self) -> tuple[Any, Room]:
        return await self.service.next()


def settings(server: SlackServer, **more: Any) -> slack.Settings:
    """Settings for the double: Socket Mode, unless a signing secret is given."""
    known: dict[str, Any] = {
        "bot_token": SecretStr(server.bot_token),
        "api_base_url": server.api_url,
        "ping_seconds": 1.0,
        "connections": 1,
    }
    if "signing_secret" not in more:
        known["app_token"] = SecretStr(server.app_token)
    return slack.Settings(**known | more)


@asynccontextmanager
async def running(server: SlackServer, service: Service | None = None, **more: Any) -> AsyncIterator[Bot]:
    service = service or Service()
    ready: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
    signals = RecordedSignals(ready.set_result)
    task = asyncio.create_task(slack.run(settings(server, **more), service, signals=signals))
    try:
        async with asyncio.timeout(SECONDS):
            await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield Bot(server=server, service=service, facts=ready.result(), task=task, signals=signals)
    finally:
        task.cancel()
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def server() -> AsyncGenerator[SlackServer]:
    async with SlackServer.serving() as serving:
        yield serving


@pytest.fixture
async def bot(server: SlackServer) -> AsyncGenerator[Bot]:
    async with running(server) as at_work:
        yield at_work
