"""The files that wait to be read: so many at a time over all places, so many in the line, and no place before all others."""

from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from bot.fairness import FairSemaphore
from bot.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Hashable

AT_ONCE: Final = 3
"""Enough for one file to come while others are read by the two workers there are by default."""
PER_PLACE: Final = 100
PER_PERSON: Final = 50
"""What five full messages bring: Slack and Discord take ten files in one."""


class FileQueue:
    """Who may have how many files on their way. One slot of several is always free for another place than the busiest."""

    def __init__(
        self, *, at_once: int = AT_ONCE, per_place: int = PER_PLACE, per_person: int = PER_PERSON
    ) -> None:
        self._turns = FairSemaphore(at_once, each=max(1, at_once - 1))
        self._per_place = per_place
        self._per_person = per_person
        self._places: Counter[Hashable] = Counter()
        self._persons: Counter[Hashable] = Counter()

    @property
    def waiting(self) -> int:
        """How many files wait for their turn."""
        return self._turns.waiting

    @contextmanager
    def entered(self, place: Hashable, person: str) -> Generator[None]:
        """One more file is on its way until the block ends. Raises `Refusal` where there are too many; nobody is nobody's limit."""
        if self._places[place] >= self._per_place:
            raise Refusal("file_place_full", count=str(self._per_place))
        if person and self._persons[person] >= self._per_person:
            raise Refusal("file_person_full", count=str(self._per_person))
        self._places[place] += 1
        self._persons[person] += 1
        try:
            yield
        finally:
            for counter, key in ((self._places, place), (self._persons, person)):
                counter[key] -= 1
                if not counter[key]:
                    del counter[key]

    @asynccontextmanager
    async def turn(self, place: Hashable, *, on_wait: Callable[[int], None]) -> AsyncGenerator[None]:
        """The file's turn, which it has until the block ends; `on_wait` is told how many come before it, whenever that changes."""
        async with self._turns.turn(place, on_wait=lambda number: on_wait(number - 1)):
            yield
