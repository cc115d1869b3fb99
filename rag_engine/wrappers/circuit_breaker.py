"""Libraries count other exceptions, let all callers through when half-open, and raise their own error."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rag_engine.errors import RagError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

BreakerState: TypeAlias = Literal["closed", "open", "half_open"]
"""All calls pass; none does; one does, as a trial."""

_TRIAL_SECONDS: Final = 1.0
"""`retry_after` during another call's trial."""
_LONGEST_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    failures: int = 5
    """In a row."""
    within_seconds: float = 60.0
    """Failures over a longer time do not count."""
    rest_seconds: float = 10.0
    slow_seconds: float = 5.0
    """Cancelled later, a call counts as a failure."""


class CircuitBreaker:
    """Other errors show that the service answers."""

    def __init__(
        self,
        backend: str,
        *,
        limits: BreakerLimits = BreakerLimits(),
        away: type[Unavailable] = Unavailable,
        on_change: Callable[[str, BreakerState], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.backend: Final = backend
        self.state: BreakerState = "closed"
        self._limits = limits
        self._on_change = on_change
        self._clock = clock
        self._failures: deque[float] = deque(maxlen=limits.failures)
        self._last = away(backend=backend)
        """The error itself would keep the request alive."""
        self._rests_until = 0.0

    @contextmanager
    def call(self) -> Generator[None]:
        """While open, raises the last failure with `retry_after`."""
        trial = self._admit()
        began = self._clock()
        try:
            yield
        except Unavailable as error:
            self._last = self._again(error, retry_after=error.retry_after)
            self._failed(trial=trial)
            raise
        except RagError:
            self._answered()
            raise
        except asyncio.CancelledError:
            if self._clock() - began >= self._limits.slow_seconds:
                self._failed(trial=trial)
            elif trial:
                self._change("open")  # unknown: the next call is the trial
            raise
        except BaseException:
            if trial:
                self._change("open")
            raise
        else:
            self._answered()

    def _admit(self) -> bool:
        if self.state == "closed":
            return False
        left = self._rests_until - self._clock()
        if self.state == "half_open" or left > 0:
            raise self._again(self._last, retry_after=max(left, _TRIAL_SECONDS), reason="left_alone")
        self._change("half_open")
        return True

    def _answered(self) -> None:
        self._failures.clear()
        self._change("closed")

    def _again(self, error: Unavailable, *, retry_after: float | None, reason: str = "") -> Unavailable:
        return type(error)(
            str(error),
            backend=error.backend or self.backend,
            retry_after=retry_after,
            reason=reason or error.reason,
        )

    def _failed(self, *, trial: bool) -> None:
        now = self._clock()
        self._failures.append(now)
        in_a_row = (
            len(self._failures) == self._limits.failures
            and now - self._failures[0] <= self._limits.within_seconds
        )
        if trial or (in_a_row and self.state == "closed"):
            asked = min(self._last.retry_after or 0.0, _LONGEST_SECONDS)
            self._rests_until = now + max(asked, self._limits.rest_seconds)
            self._change("open")

    def _change(self, state: BreakerState) -> None:
        if state == self.state:
            return
        before, self.state = self.state, state
        if state == "open" and before == "closed":
            _log.info("calls to %s are suspended: %s", self.backend, self._last)
        elif state == "closed":
            _log.info("%s answers again", self.backend)
        if self._on_change is not None:
            self._on_change(self.backend, state)
