"""What is going on right now: one answer at a time per conversation, a limit over all, and each of them interruptible."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.port import Place

Reason: TypeAlias = Literal["stopped", "edited", "deleted"]

_ENDING_SECONDS = 330.0
"""How long an interrupted turn may take to end; longer than a last word is held out for a platform."""


class Interrupted(Exception):
    """The turn was interrupted from outside."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Crowded(Exception):
    """As many wait already as may; `waiting` is how many."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} are waiting")
        self.waiting = waiting


class Run:
    """One turn while it is being dealt with: where, and who asked."""

    def __init__(self, *, place: Place | None = None, asker: str = "") -> None:
        self.place = place
        self.asker = asker
        self._limit: asyncio.Timeout | None = None
        self._reason: Reason | None = None
        self._last_word = False
        self.ended = asyncio.Event()

    def interrupt(self, reason: Reason) -> bool:
        """End what is done inside `interruptible` now; False when the last word is being written already."""
        if self._last_word or self.ended.is_set():
            return False
        if self._reason is None:
            self._reason = reason
            if self._limit is not None:
                self._limit.reschedule(asyncio.get_running_loop().time())
        return True

    def last_word(self) -> None:
        """From now on it is too late to interrupt."""
        self._last_word = True

    @asynccontextmanager
    async def interruptible(self) -> AsyncGenerator[None]:
        """Raises `Interrupted` out of the block when somebody interrupts the turn. Once a turn."""
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
    """The turns that are being dealt with, by id."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def begin(self, identity: str, *, place: Place | None = None, asker: str = "") -> Run:
        """The run of that id, which goes on when it has begun already; one caller deals with it."""
        return self._runs.setdefault(identity, Run(place=place, asker=asker))

    def at(self, place: Place) -> list[Run]:
        """Those of one place, the newest last."""
        return [run for run in self._runs.values() if run.place == place]

    def end(self, identity: str) -> None:
        """The run is over, whatever became of it."""
        self._runs.pop(identity).ended.set()

    def interrupt(self, identity: str, reason: Reason) -> bool:
        """Whether there was a run of that id that could still be interrupted."""
        run = self._runs.get(identity)
        return run is not None and run.interrupt(reason)

    def is_running(self, identity: str) -> bool:
        """Whether the turn is being dealt with."""
        return identity in self._runs

    async def interrupt_and_wait(self, identity: str, reason: Reason) -> bool:
        """Interrupt the run and wait until nothing of it goes on; whether there was one. Raises `TimeoutError`."""
        found = False
        while run := self._runs.get(identity):
            found = True
            run.interrupt(reason)
            async with asyncio.timeout(_ENDING_SECONDS):
                await run.ended.wait()
        return found


@dataclass(slots=True)
class _Line:
    """Who is in a line: the one whose turn it is, and those who wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    people: int = 0


class Conversations:
    """Turns of one line one after the other, in the order in which they came; of all, so many at the same time."""

    def __init__(self, *, at_once: int, waiting: int) -> None:
        self._at_once = asyncio.Semaphore(at_once)
        self._waiting = waiting
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(
        self, line_of: str, *, on_wait: Callable[[], None], on_crowd: Callable[[], None]
    ) -> AsyncGenerator[None]:
        """Wait for one's turn, told by `on_wait`, and for room among all, told by `on_crowd`. Raises `Crowded`."""
        line = self._lines.setdefault(line_of, _Line())
        if line.people > self._waiting:
            raise Crowded(line.people - 1)
        line.people += 1
        try:
            if line.people > 1:
                on_wait()
            async with line.lock:
                if self._at_once.locked():
                    on_crowd()
                async with self._at_once:
                    yield
        finally:
            line.people -= 1
            if not line.people:
                del self._lines[line_of]
