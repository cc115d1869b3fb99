from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.observability import log

if TYPE_CHECKING:
    from collections.abc import Coroutine


class Background:
    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str, work: Coroutine[object, object, object]) -> None:
        if name in self._tasks:
            work.close()
            return
        task = asyncio.create_task(self._run(work), name=f"page: {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    def runs(self, name: str) -> bool:
        return name in self._tasks

    async def close(self) -> None:
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, work: Coroutine[object, object, object]) -> None:
        try:
            await work
        except Exception as error:
            log.record(log.unwrapped(error))
