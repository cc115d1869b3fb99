from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn

from bot.conversation import triggers
from bot.port import DelegatingService, IncomingMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.port import Action, Arrival, ChatService, Command, MessageEvent, Recall, Room

_STOP = "stop"


class ClosableService(DelegatingService):
    """After `close`, a new call waits until cancelled; the restart finds its event unhandled. Stops, edits and
    deletions of running answers still pass.
    """

    def __init__(self, service: ChatService) -> None:
        super().__init__(service)
        self._inside = 0
        self._closed = False
        self._empty = asyncio.Event()

    @property
    def inside(self) -> int:
        return self._inside

    async def close(self) -> None:
        """Returns when running events have ended."""
        self._closed = True
        while self._inside:
            self._empty.clear()
            await self._empty.wait()

    async def resume(self, platform: str, recall: Recall) -> None:
        async with self._entered():
            await self._service.resume(platform, recall)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        new = isinstance(event, IncomingMessage) and not triggers.is_stop(event.text)
        async with self._entered(new=new):
            await self._service.on_message(event, room)

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        async with self._entered():
            await self._service.on_arrival(arrival, room)

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
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody has the future but this task")
