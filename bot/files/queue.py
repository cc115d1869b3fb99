from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from bot.messages.refusals import Refusal
from bot.resilience.fair_semaphore import FairSemaphore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Hashable

AT_ONCE: Final = 3
PER_PLACE: Final = 100
PER_PERSON: Final = 50
"""Five full messages."""


class FileQueue:
    """One place never gets all slots."""

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
        return self._turns.waiting

    @contextmanager
    def entered(self, place: Hashable, person: str) -> Generator[None]:
        """Raises `Refusal`; an empty `person` has no limit."""
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
        """`on_wait` gets the number of files ahead."""
        async with self._turns.turn(place, on_wait=lambda number: on_wait(number - 1)):
            yield
