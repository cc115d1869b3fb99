"""The chat service, round another one, with a door: when the program ends it is closed, and what is inside may finish."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn

from bot import triggers
from bot.port import IncomingMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.port import (
        Action,
        ChatService,
        Command,
        CommandSpec,
        Inbox,
        MessageEvent,
        Place,
        Recall,
        Room,
    )

_STOP = "stop"
"""The button under an answer that is being written."""


class ClosableService:
    """`bot.port.ChatService`.

    What comes when the door is closed is left alone: the call does not return, and is cancelled with its adapter. So it is found
    again after the restart, as something that was never dealt with: adapters keep it, or look back. What belongs to an answer that
    is being written still goes through: stop, edits and deletions.
    """

    def __init__(self, service: ChatService) -> None:
        self.commands: Sequence[CommandSpec] = service.commands
        self.inbox: Inbox = service.inbox
        self._service = service
        self._inside = 0
        self._closed = False
        self._empty = asyncio.Event()

    @property
    def inside(self) -> int:
        """How many events are being dealt with."""
        return self._inside

    async def close(self) -> None:
        """Let nothing new in; returns when all that is inside has come to its end."""
        self._closed = True
        while self._inside:
            self._empty.clear()
            await self._empty.wait()

    async def resume(self, platform: str, recall: Recall) -> None:
        async with self._entered():
            await self._service.resume(platform, recall)

    async def answers_in(self, place: Place) -> frozenset[str]:
        return await self._service.answers_in(place)

    async def answered_in(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        return await self._service.answered_in(platform, workspace, limit=limit)

    async def heard(self, platform: str) -> float:
        return await self._service.heard(platform)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        new = isinstance(event, IncomingMessage) and not triggers.is_stop(event.text)
        async with self._entered(new=new):
            await self._service.on_message(event, room)

    async def on_command(self, command: Command, room: Room) -> None:
        async with self._entered():
            await self._service.on_command(command, room)

    async def on_action(self, action: Action, room: Room) -> None:
        async with self._entered(new=action.name != _STOP):
            await self._service.on_action(action, room)

    @asynccontextmanager
    async def _entered(self, *, new: bool = True) -> AsyncGenerator[None]:
        if self._closed and new:
            await _left_alone()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._empty.set()


async def _left_alone() -> NoReturn:
    """Until the task is cancelled."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody has the future but this task")
