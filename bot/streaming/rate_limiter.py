"""A call counts from its start until `seconds` after its end: wherever the platform counts it, the limit holds."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.port import Budget

_MARGIN: Final = 0.05
"""Extra seconds per call, because clocks differ."""
_RESERVED: Final = 0.5
_HEADROOM: Final = 0.15
GOOD_SECONDS: Final = 2.5
"""Frequent enough for growing text."""
_STATUS_INTERVALS: Final = 3


class Urgency(IntEnum):
    FINAL = 0
    CREATE = 1
    FIRST = 2
    GROW = 3
    STATUS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    grows: Budget
    finals: tuple[Budget, ...]


class WriteRequest:
    """Once granted, report `ended`, `throttled` or `unused`."""

    def __init__(
        self,
        limiter: RateLimiter,
        budgets: Sequence[Budget],
        *,
        urgency: Urgency,
        since: float,
        rest: float,
        not_before: float,
    ) -> None:
        self.budgets: Final = tuple({budget.name: budget for budget in budgets}.values())
        self.urgency: Final = urgency
        self.since: Final = since
        self.rest: Final = rest
        self.not_before: Final = not_before
        self._limiter = limiter
        self._held = False
        self._granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def granted(self) -> bool:
        try:
            return await self._granted
        except asyncio.CancelledError:
            self.withdraw()
            raise

    def withdraw(self) -> None:
        if not self._granted.done():
            self._granted.set_result(False)
        self._limiter.drop(self)

    def grant(self) -> None:
        self._held = True
        self._granted.set_result(True)

    @property
    def waits(self) -> bool:
        return not self._granted.done()

    def ended(self) -> None:
        self._release(counted=True)

    def throttled(self, seconds: float) -> None:
        """For `seconds` the platform takes no such call."""
        self._limiter.close(self.budgets, seconds)
        self._release(counted=True)

    def unused(self) -> None:
        """No effect after another report."""
        self._release(counted=False)

    def _release(self, *, counted: bool) -> None:
        if self._held:
            self._held = False
            self._limiter.release(self.budgets, counted=counted)


class RateLimiter:
    """Times are the event loop's."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, ...], _Window] = {}
        self._waiting: list[tuple[int, WriteRequest]] = []
        self._members: dict[object, Needs] = {}
        self._growing: Counter[tuple[str, ...]] = Counter()
        self._finals: Counter[tuple[str, ...]] = Counter()
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def join(self, member: object, needs: Needs) -> None:
        """Reserve a message's writes, or change them."""
        self._subtract(member)
        self._members[member] = needs
        self._growing[needs.grows.name] += 1
        self._finals.update(budget.name for budget in needs.finals)
        self._dispatch()

    def leave(self, member: object) -> None:
        if self._subtract(member):
            self._sweep()
            self._dispatch()

    def interval(self, budget: Budget, *, more: int = 0, more_finals: int = 0) -> float:
        """Seconds, shared by all open messages and `more`."""
        window = self._window(budget)
        free = window.calls - self._reserve(budget, more=more_finals) - int(window.calls * _HEADROOM)
        return max(self._growing[budget.name] + more, 1) * (window.seconds + _MARGIN) / max(free, 1)

    def room(self, budget: Budget, *, finals: bool = False) -> int:
        """Calls possible now; with `finals`, beyond the reserved ones."""
        window, now = self._window(budget), self._now()
        if now < window.closed_until:
            return 0
        reserved = self._finals[budget.name] if finals else self._reserve(budget)
        return window.calls - window.used(now) - reserved

    @property
    def known(self) -> int:
        return len(self._windows)

    def request(
        self,
        budgets: Sequence[Budget],
        *,
        urgency: Urgency,
        since: float | None = None,
        rest: float = 0.0,
        not_before: float = 0.0,
    ) -> WriteRequest:
        """Among equal urgencies the oldest `since` goes first. Text and status wait at
        least `rest` seconds after `since`, longer if many share the budget.
        """
        started = self._now() if since is None else since
        request = WriteRequest(
            self, budgets, urgency=urgency, since=started, rest=rest, not_before=not_before
        )
        self._waiting.append((next(self._order), request))
        self._dispatch()
        return request

    def drop(self, request: WriteRequest) -> None:
        self._waiting = [(order, waiting) for order, waiting in self._waiting if waiting is not request]

    def release(self, budgets: Iterable[Budget], *, counted: bool) -> None:
        now = self._now()
        for budget in budgets:
            self._window(budget).end(now, counted=counted)
        self._dispatch()

    def close(self, budgets: Iterable[Budget], seconds: float) -> None:
        until = self._now() + seconds
        for budget in budgets:
            window = self._window(budget)
            window.closed_until = max(window.closed_until, until)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _window(self, budget: Budget) -> _Window:
        window = self._windows.setdefault(budget.name, _Window())
        window.calls, window.seconds = max(budget.calls, 1), budget.seconds
        return window

    def _reserve(self, budget: Budget, *, more: int = 0) -> int:
        return min(self._finals[budget.name] + more, int(budget.calls * _RESERVED))

    def _subtract(self, member: object) -> bool:
        needs = self._members.pop(member, None)
        if needs is not None:
            self._growing[needs.grows.name] -= 1
            self._finals.subtract(budget.name for budget in needs.finals)
        return needs is not None

    def _dispatch(self) -> None:
        now = self._now()
        self._waiting.sort(key=lambda waiting: (waiting[1].urgency, waiting[1].since, waiting[0]))
        left: list[tuple[int, WriteRequest]] = []
        for order, request in self._waiting:
            if self._is_due(request, now):
                for budget in request.budgets:
                    self._window(budget).in_flight += 1
                request.grant()
            else:
                left.append((order, request))
        self._waiting = left
        self._wake_at(min((self._next_time(request, now) for _, request in left), default=float("inf")))

    def _is_due(self, request: WriteRequest, now: float) -> bool:
        return now >= self._earliest(request) and all(
            self._free(budget, request.urgency, now) > 0 for budget in request.budgets
        )

    def _earliest(self, request: WriteRequest) -> float:
        if request.urgency < Urgency.GROW:
            return request.not_before
        interval = max(self.interval(budget) for budget in request.budgets)
        if request.urgency == Urgency.STATUS and interval > GOOD_SECONDS:
            interval *= _STATUS_INTERVALS
        return max(request.not_before, request.since + max(request.rest, interval))

    def _free(self, budget: Budget, urgency: Urgency, now: float) -> int:
        window = self._window(budget)
        if now < window.closed_until:
            return 0
        free = window.calls - window.used(now)
        if urgency != Urgency.FINAL:
            free -= self._reserve(budget)
        if urgency >= Urgency.GROW:
            free -= int(window.calls * _HEADROOM)
        if urgency == Urgency.STATUS:
            free -= window.calls > 2
        return free

    def _next_time(self, request: WriteRequest, now: float) -> float:
        times = [self._earliest(request)]
        times += [self._window(budget).changes(now) for budget in request.budgets]
        return min((time for time in times if time > now), default=float("inf"))

    def _wake_at(self, time: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if time < float("inf"):
            self._timer = asyncio.get_running_loop().call_at(time, self._dispatch)

    def _sweep(self) -> None:
        now = self._now()
        used = {budget.name for _, request in self._waiting for budget in request.budgets}
        used |= {budget.name for needs in self._members.values() for budget in (needs.grows, *needs.finals)}
        for name in [name for name, window in self._windows.items() if window.idle(now)]:
            if name not in used:
                del self._windows[name]
        self._growing, self._finals = +self._growing, +self._finals


@dataclass(slots=True)
class _Window:
    calls: int = 1
    seconds: float = 0.0
    in_flight: int = 0
    closed_until: float = 0.0
    _ended: deque[float] = field(default_factory=deque[float])

    def used(self, now: float) -> int:
        while self._ended and self._ended[0] + self.seconds + _MARGIN <= now:
            self._ended.popleft()
        return self.in_flight + len(self._ended)

    def end(self, now: float, *, counted: bool) -> None:
        self.in_flight -= 1
        if counted:
            self._ended.append(now)

    def changes(self, now: float) -> float:
        if now < self.closed_until:
            return self.closed_until
        self.used(now)
        return self._ended[0] + self.seconds + _MARGIN if self._ended else float("inf")

    def idle(self, now: float) -> bool:
        return not self.used(now) and now >= self.closed_until
