"""Written by the event loop, read over HTTP even while that is blocked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROGRAM: Final = "program"
"""Passes only while the program serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`since` is in seconds since the epoch."""

    ready: bool
    since: float
    detail: str
    """Without secrets."""


class Health:
    """Replaced whole: readers need no lock."""

    def __init__(
        self, *, clock: Callable[[], float] = time.time, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._ticks = ticks
        self._checks: dict[str, Check] = {}
        self._beaten = ticks()
        self.record(PROGRAM, ready=False, detail="The program starts.")

    def record(self, name: str, *, ready: bool, detail: str) -> None:
        before = self._checks.get(name)
        since = before.since if before is not None and before.ready == ready else self._clock()
        self._checks = {**self._checks, name: Check(ready=ready, since=since, detail=detail)}

    @property
    def checks(self) -> Mapping[str, Check]:
        return self._checks

    @property
    def ready(self) -> bool:
        return all(check.ready for check in self._checks.values())

    def beat(self) -> None:
        self._beaten = self._ticks()

    @property
    def silent_seconds(self) -> float:
        return self._ticks() - self._beaten
