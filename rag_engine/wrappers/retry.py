"""`tenacity` and `stamina` would need hooks for `retry_after`, long pauses and the remaining time."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_DOUBLINGS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential, with jitter. Times are in seconds."""

    first: float
    longest: float = math.inf
    jitter: float = 0.5
    chance: Callable[[], float] = random.random

    def seconds(self, failures: int, *, retry_after: float | None = None) -> float:
        """After so many failures; at least `retry_after`."""
        doubled = min(self.first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)
        return max(doubled * (1 - self.jitter * self.chance()), retry_after or 0.0)


@dataclass(slots=True, kw_only=True)
class Attempts:
    """Raises the last error when they are used up."""

    backoff: Backoff
    most: float = math.inf
    """Attempts, the first included."""
    seconds: float = math.inf
    """No later attempt begins."""
    longest_retry_after: float = math.inf
    """With a longer pause a service is not tried again."""
    failures: int = field(default=0, init=False)
    last: Exception | None = field(default=None, init=False)
    _started: float = field(default_factory=time.monotonic, init=False)

    @property
    def seconds_left(self) -> float:
        return self._started + self.seconds - time.monotonic()

    async def pause(self, error: Exception, *, retry_after: float | None = None) -> None:
        self.failures += 1
        self.last = error
        wait = self.backoff.seconds(self.failures, retry_after=retry_after)
        if (
            self.failures >= self.most
            or wait >= self.seconds_left
            or (retry_after or 0.0) > self.longest_retry_after
        ):
            raise error
        await asyncio.sleep(wait)
