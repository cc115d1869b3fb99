"""The adapter on a Slack of our own, with a service that only takes down what it is told."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters import slack
from tests.doubles.slack_server import SlackServer
from tests.unit.adapters.told import MemoryInbox, Told

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from bot.port import Action, Command, CommandSpec, MessageEvent, Place, Recall, Room

SECONDS = 5.0


@dataclass
class Service:
    """Takes down what it is told; `answer` may be set to do something about it."""

    commands: tuple[CommandSpec, ...] = ()
    told: asyncio.Queue[tuple[Any, Room]] = field(default_factory=asyncio.Queue)
    answer: Callable[[Any, Room], Any] | None = None
    inbox: MemoryInbox = field(default_factory=MemoryInbox)
    recalls: asyncio.Queue[Recall] = field(default_factory=asyncio.Queue)
    heard_at: float = 0.0
    answers: frozenset[str] = frozenset()

    async def resume(self, platform: str, recall: Recall) -> None:
        self.recalls.put_nowait(recall)

    async def answers_in(self, place: Place) -> frozenset[str]:
        return self.answers

    async def heard(self, platform: str) -> float:
        return self.heard_at

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        await self._take(event, room)

    async def on_command(self, command: Command, room: Room) -> None:
        await self._take(command, room)

    async def on_action(self, action: Action, room: Room) -> None:
        await self._take(action, room)

    async def next(self) -> tuple[Any, Room]:
        async with asyncio.timeout(SECONDS):
            return await self.told.get()

    async def _take(self, event: Any, room: Room) -> None:
        self.told.put_nowait((event, room))
        if self.answer is not None:
            await self.answer(event, room)


@dataclass
class Bot:
    """The adapter at work."""

    server: SlackServer
    service: Service
    facts: Mapping[str, str]
    task: asyncio.Task[None]
    told: Told

    async def next(self) -> tuple[Any, Room]:
        return await self.service.next()


def settings(server: SlackServer, **more: Any) -> slack.Settings:
    """Settings for the double, by Socket Mode unless a signing secret is given."""
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
    """The adapter, until the context ends."""
    heard = service or Service()
    ready: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
    told = Told(ready.set_result)
    task = asyncio.create_task(slack.run(settings(server, **more), heard, signals=told))
    try:
        async with asyncio.timeout(SECONDS):
            await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        yield Bot(server=server, service=heard, facts=ready.result(), task=task, told=told)
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
