from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Coroutine

_log = logging.getLogger(__name__)


class Tasks:
    """On exit, tasks get `seconds` to end."""

    def __init__(self, *, seconds: float) -> None:
        self._seconds = seconds
        self._running: set[asyncio.Task[None]] = set()
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        self._open = False
        for task in self._running:
            task.cancel()
        if self._running:
            ended = await asyncio.wait(self._running, timeout=self._seconds)
            for task in ended[1]:
                _log.warning("%s did not end in time", task.get_name())

    def start(self, work: Coroutine[object, object, None], *, name: str) -> None:
        if not self._open:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("%s failed", task.get_name(), exc_info=error)
