"""What is going on right now: one answer at a time per conversation, a limit over all, and each of them interruptible."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from bot.fairness import FairSemaphore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Hashable

    from bot.fairness import OnWait
    from bot.port import Place

Reason: TypeAlias = Literal["stopped", "edited", "deleted"]

_LAST_WORD_SECONDS = 300.0
_ENDING_SECONDS = 30.0
"""How much longer than its last word an interrupted turn may take to end."""


class Interrupted(Exception):
    """The turn was interrupted from outside."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Crowded(Exception):
    """As many wait already as may; `waiting` is how many, in the conversation or `everywhere`."""

    def __init__(self, waiting: int, *, everywhere: bool = False) -> None:
        super().__init__(f"{waiting} are waiting")
        self.waiting = waiting
        self.everywhere = everywhere


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
        """Raises `Interrupted` out of the block when somebody interrupts the turn; of several blocks, only one at a time."""
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
    """The turns that are being dealt with, by id. `last_word_seconds`: as long as the end of an answer is tried to be written."""

    def __init__(self, *, last_word_seconds: float = _LAST_WORD_SECONDS) -> None:
        self._runs: dict[str, Run] = {}
        self._ending_seconds = last_word_seconds + _ENDING_SECONDS

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
            async with asyncio.timeout(self._ending_seconds):
                await run.ended.wait()
        return found


@dataclass(slots=True)
class _Line:
    """Who is in a line: the one whose turn it is, and those who wait."""

    turns: FairSemaphore = field(default_factory=lambda: FairSemaphore(1))
    people: int = 0


class Conversations:
    """Turns of one line one after the other, in the order in which they came; of all, so many at the same time.

    `waiting` may wait in one line, `queue` in all of them. What becomes free goes to the places in turn, so that one with a hundred
    questions does not keep another waiting for all of them.
    """

    def __init__(self, *, at_once: int, waiting: int, queue: int) -> None:
        self._answers = FairSemaphore(at_once)
        self._waiting = waiting
        self._queue = queue
        self._lines: dict[str, _Line] = {}

    @property
    def waiting(self) -> int:
        """How many wait, in their lines or for room among all."""
        return self._answers.waiting + sum(line.turns.waiting for line in self._lines.values())

    @asynccontextmanager
    async def turn(
        self, line_of: str, *, place: Hashable, on_wait: OnWait, on_crowd: OnWait
    ) -> AsyncGenerator[None]:
        """Wait for one's turn in the line, told by `on_wait`, and for room among all, told by `on_crowd`. Raises `Crowded`."""
        line = self._lines.get(line_of) or _Line()
        self._admit(line)
        self._lines[line_of] = line
        line.people += 1
        try:
            async with line.turns.turn(line_of, on_wait=on_wait), self._answers.turn(place, on_wait=on_crowd):
                yield
        finally:
            line.people -= 1
            if not line.people:
                del self._lines[line_of]

    def _admit(self, line: _Line) -> None:
        if line.people > self._waiting:
            raise Crowded(line.people - 1)
        if (line.people or self._answers.is_full) and self.waiting >= self._queue:
            raise Crowded(self.waiting, everywhere=True)
