from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.resilience.fair_semaphore import FairSemaphore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Hashable

    from bot.port import Place
    from bot.resilience.fair_semaphore import OnWait

Reason: TypeAlias = Literal["stopped", "edited", "deleted"]

_FINAL_WRITE_SECONDS = 300.0
_ENDING_SECONDS = 30.0


class Interrupted(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class QueueFull(Exception):
    def __init__(self, waiting: int, *, everywhere: bool = False) -> None:
        super().__init__(f"{waiting} are waiting")
        self.waiting = waiting
        self.everywhere = everywhere


class Run:
    def __init__(self, *, place: Place | None = None, asker: str = "") -> None:
        self.place = place
        self.asker = asker
        self._limit: asyncio.Timeout | None = None
        self._reason: Reason | None = None
        self._is_final = False
        self.ended = asyncio.Event()

    def interrupt(self, reason: Reason) -> bool:
        """End the `interruptible` block; False if the final reply is being written."""
        if self._is_final or self.ended.is_set():
            return False
        if self._reason is None:
            self._reason = reason
            if self._limit is not None:
                self._limit.reschedule(asyncio.get_running_loop().time())
        return True

    def make_uninterruptible(self) -> None:
        self._is_final = True

    @asynccontextmanager
    async def interruptible(self) -> AsyncGenerator[None]:
        """Raises `Interrupted` out of the block, one at a time."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._limit = limit
                if self._reason is not None:
                    raise Interrupted(self._reason)
                try:
                    yield
                finally:
                    self._limit = None
        except TimeoutError as error:
            if self._reason is None or not limit.expired():
                raise
            raise Interrupted(self._reason) from error


class Runs:
    """`final_write_seconds`: how long the final write is retried."""

    def __init__(self, *, final_write_seconds: float = _FINAL_WRITE_SECONDS) -> None:
        self._runs: dict[str, Run] = {}
        self._ending_seconds = final_write_seconds + _ENDING_SECONDS

    @property
    def count(self) -> int:
        return len(self._runs)

    def begin(self, identity: str, *, place: Place | None = None, asker: str = "") -> Run:
        return self._runs.setdefault(identity, Run(place=place, asker=asker))

    def at(self, place: Place) -> list[Run]:
        return [run for run in self._runs.values() if run.place == place]

    def end(self, identity: str) -> None:
        self._runs.pop(identity).ended.set()

    def interrupt(self, identity: str, reason: Reason) -> bool:
        """False if it is too late."""
        run = self._runs.get(identity)
        return run is not None and run.interrupt(reason)

    def is_running(self, identity: str) -> bool:
        return identity in self._runs

    async def interrupt_and_wait(self, identity: str, reason: Reason) -> bool:
        """False without such a run. Raises `TimeoutError`."""
        found = False
        while run := self._runs.get(identity):
            found = True
            run.interrupt(reason)
            async with asyncio.timeout(self._ending_seconds):
                await run.ended.wait()
        return found


@dataclass(slots=True)
class _Line:
    turns: FairSemaphore = field(default_factory=lambda: FairSemaphore(1))
    size: int = 0


class TurnQueue:
    """One by one with the same key, `at_once` in all. At most `waiting` turns wait per key, `queue` in all. Places take turns."""

    def __init__(self, *, at_once: int, waiting: int, queue: int) -> None:
        self._answers = FairSemaphore(at_once)
        self._waiting = waiting
        self._queue = queue
        self._lines: dict[str, _Line] = {}

    @property
    def waiting(self) -> int:
        return self._answers.waiting + sum(line.turns.waiting for line in self._lines.values())

    @asynccontextmanager
    async def turn(
        self, key: str, *, place: Hashable, on_wait: OnWait, on_busy: OnWait
    ) -> AsyncGenerator[None]:
        """Raises `QueueFull`. `on_wait` gets the position within the key, `on_busy` among all."""
        line = self._lines.get(key) or _Line()
        self._admit(line)
        self._lines[key] = line
        line.size += 1
        try:
            async with line.turns.turn(key, on_wait=on_wait), self._answers.turn(place, on_wait=on_busy):
                yield
        finally:
            line.size -= 1
            if not line.size:
                del self._lines[key]

    def _admit(self, line: _Line) -> None:
        if line.size > self._waiting:
            raise QueueFull(line.size - 1)
        if (line.size or self._answers.is_full) and self.waiting >= self._queue:
            raise QueueFull(self.waiting, everywhere=True)
