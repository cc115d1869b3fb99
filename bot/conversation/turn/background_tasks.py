"""Work after an answer, which no answer waits for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.observability import log

if TYPE_CHECKING:
    from collections.abc import Coroutine

_CLOSING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BackgroundTasks:
    """One for each key; errors are logged."""

    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])

    def start(self, key: str, work: Coroutine[object, object, None], *, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._running[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    async def cancel(self, key: str) -> None:
        if (task := self._running.pop(key, None)) is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)

    def _ended(self, key: str, task: asyncio.Task[None]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.record(log.unwrapped(error))
