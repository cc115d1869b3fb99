from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.messages.refusals import Refusal
from bot.observability import Observers
from bot.observability.operations import OverBudget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.messages.names import Sentence
    from bot.observability.operations import BudgetKind
    from bot.port import Directory, Person, Place

_HOUR: Final = 3600.0
_MOST_PEOPLE: Final = 10_000
_NO_OBSERVERS: Final = Observers()

_Key = tuple[str, str, str]


async def _nobody(person: Person, directory: Directory) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBudget:
    """Per person and hour; a restart resets it. 0: no limit."""

    questions: int = 0
    repeats: int = 0
    sources: int = 0
    exempt: Callable[[Person, Directory], Awaitable[bool]] = _nobody
    """Checked only when a limit is reached."""
    observers: Observers = _NO_OBSERVERS
    clock: Callable[[], float] = time.monotonic
    _used: dict[_Key, deque[float]] = field(default_factory=dict["_Key", "deque[float]"], init=False)

    async def spend(
        self,
        kind: BudgetKind,
        person: Person,
        place: Place,
        directory: Directory,
    ) -> None:
        """Raises `NotAllowed`, with the time of the next."""
        most, refusal = self._limit(kind)
        if not most:
            return
        now = self.clock()
        used = self._recent((kind, place.platform, person.id), now)  # the same in all workspaces
        if len(used) >= most and not await self.exempt(person, directory):
            with self.observers.around(OverBudget(platform=place.platform, kind=kind)):
                pass
            minutes = max(1, math.ceil((used[0] + _HOUR - now) / 60))
            raise Refusal(refusal, most=most, count=minutes)
        used.append(now)

    def _limit(self, kind: BudgetKind) -> tuple[int, Sentence]:
        match kind:
            case "question":
                return self.questions, "questions_used_up"
            case "repeat":
                return self.repeats, "repeats_used_up"
            case "sources":
                return self.sources, "sources_used_up"
            case "why":
                return self.sources, "explanations_used_up"

    def _recent(self, key: _Key, now: float) -> deque[float]:
        used = self._used.pop(key, None) or deque[float]()
        while used and used[0] <= now - _HOUR:
            used.popleft()
        self._used[key] = used
        while len(self._used) > _MOST_PEOPLE:
            del self._used[next(iter(self._used))]
        return used
