"""What the process before us left: answers under way, and uses of commands and buttons that were not dealt with to the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from adapters.discord.places import PLATFORM
from adapters.discord.recalling import Recalling

if TYPE_CHECKING:
    from adapters.discord.connection import Connection
    from adapters.discord.tasks import Tasks
    from adapters.discord.using import Using
    from bot.port import ChatService


class Restart:
    """Takes it up once, as soon as we can write."""

    def __init__(self, connection: Connection, service: ChatService, using: Using, tasks: Tasks) -> None:
        self._connection = connection
        self._service = service
        self._using = using
        self._tasks = tasks
        self._resumed = asyncio.Event()
        self._begun = False

    def begin(self) -> None:
        """Returns at once; later calls do nothing."""
        if not self._begun:
            self._begun = True
            self._tasks.start(self._resume(), name="answers to go on with")
            self._tasks.start(self._take_up(), name="commands that were left")

    async def _resume(self) -> None:
        try:
            await self._service.resume(PLATFORM, Recalling(connection=self._connection).recall)
        finally:
            self._resumed.set()

    async def _take_up(self) -> None:
        for event, payload in await self._using.left():
            work = self._using.take_up(event, payload, resumed=self._resumed)
            self._tasks.start(work, name=event)
