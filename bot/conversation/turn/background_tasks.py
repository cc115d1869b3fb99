"""Work that no answer waits for."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.observability import log
from bot.port import ChatError
from rag_engine.errors import RagError

if TYPE_CHECKING:
    from collections.abc import Coroutine

_log = logging.getLogger(__name__)
_CLOSING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BackgroundTasks:
    """One for each turn; errors are logged."""

    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])

    def start(self, turn: str, work: Coroutine[object, object, None], *, name: str, if_failed: str) -> None:
        """`if_failed`: what the answer does without, for the log."""
        task = asyncio.create_task(_optional(turn, work, if_failed), name=f"{name} {turn}")
        self._running[turn] = task
        task.add_done_callback(lambda done: self._ended(turn, done))

    async def cancel(self, turn: str) -> None:
        if (task := self._running.pop(turn, None)) is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_CLOSING_SECONDS)

    def _ended(self, turn: str, task: asyncio.Task[None]) -> None:
        if self._running.get(turn) is task:
            del self._running[turn]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.record(log.unwrapped(error))


async def _optional(turn: str, work: Coroutine[object, object, None], if_failed: str) -> None:
    with log.within(turn=turn):
        try:
            await work
        except (RagError, ChatError, TimeoutError) as error:
            _log.warning("%s: %s", if_failed, type(error).__name__)
