"""How the program does: written by the event loop, read by the thread that tells it over HTTP, also while the loop stands still."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROGRAM: Final = "program"
"""The check that holds while the program serves: neither while it starts nor while it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must be well for questions to be answered; `since` is in seconds since the epoch."""

    ready: bool
    since: float
    detail: str
    """A plain sentence, without secrets."""


class Health:
    """What is known of each thing. One value takes the place of another whole, so that no reader needs a lock."""

    def __init__(
        self, *, clock: Callable[[], float] = time.time, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._ticks = ticks
        self._checks: dict[str, Check] = {}
        self._beaten = ticks()
        self.tell(PROGRAM, ready=False, detail="The program starts.")

    def tell(self, name: str, *, ready: bool, detail: str) -> None:
        """How the thing is now."""
        before = self._checks.get(name)
        since = before.since if before is not None and before.ready == ready else self._clock()
        self._checks = {**self._checks, name: Check(ready=ready, since=since, detail=detail)}

    @property
    def checks(self) -> Mapping[str, Check]:
        """All that is known."""
        return self._checks

    @property
    def ready(self) -> bool:
        """Whether questions that are asked now are answered."""
        return all(check.ready for check in self._checks.values())

    def beat(self) -> None:
        """The event loop turns."""
        self._beaten = self._ticks()

    @property
    def silent_seconds(self) -> float:
        """Since when it does not."""
        return self._ticks() - self._beaten
