"""Pacing: who of all the answers that are running may write now, so that no budget of a platform is ever overdrawn.

A call is counted from when it is sent until `seconds` after it has ended: wherever between the two the platform counted it,
no `seconds` of its own hold more than `calls`.
"""

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
"""Seconds that a call is counted longer: two clocks do not run alike."""
_RESERVED: Final = 0.5
"""The most of a budget that is kept for final writes, whatever the number of messages: without the rest, nothing would move."""
_HEADROOM: Final = 0.15
"""What growing texts leave of a budget for the first texts of those who come later."""
GOOD_SECONDS: Final = 2.5
"""Text that grows this often is good enough."""
_STATUS_TURNS: Final = 3
"""How many turns a change of status waits where turns are scarcer than that."""


class Urgency(IntEnum):
    """Which write goes first where not all can."""

    FINAL = 0
    CREATE = 1
    FIRST = 2
    """The first text of a message."""
    GROW = 3
    STATUS = 4
    """What is being done, in a message that has no text yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What an open message will write next: edits as it grows, and in the end the final writes."""

    grows: Budget
    finals: tuple[Budget, ...]


class Ask:
    """A wish to write once. Whoever was granted it says how it went: `ended`, `throttled` or `unused`."""

    def __init__(
        self,
        pacer: Pacer,
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
        self._pacer = pacer
        self._held = False
        self._granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def granted(self) -> bool:
        """Wait for it; False when it was withdrawn meanwhile."""
        try:
            return await self._granted
        except asyncio.CancelledError:
            self.withdraw()
            raise

    def withdraw(self) -> None:
        """Wait no longer. What is granted already stays so."""
        if not self._granted.done():
            self._granted.set_result(False)
        self._pacer.forget(self)

    def grant(self) -> None:
        """Said by the pacer, once."""
        self._held = True
        self._granted.set_result(True)

    @property
    def waits(self) -> bool:
        """Whether it is neither granted nor withdrawn."""
        return not self._granted.done()

    def ended(self) -> None:
        """The call was made, and is over."""
        self._release(counted=True)

    def throttled(self, seconds: float) -> None:
        """The call was made, and the platform wants none of this kind for so long."""
        self._pacer.close(self.budgets, seconds)
        self._release(counted=True)

    def unused(self) -> None:
        """No call was made, unless it has been said already how it went."""
        self._release(counted=False)

    def _release(self, *, counted: bool) -> None:
        if self._held:
            self._held = False
            self._pacer.release(self.budgets, counted=counted)


class Pacer:
    """Every budget of the process. Times are those of the running event loop."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, ...], _Window] = {}
        self._waiting: list[tuple[int, Ask]] = []
        self._members: dict[object, Needs] = {}
        self._growing: Counter[tuple[str, ...]] = Counter()
        self._finals: Counter[tuple[str, ...]] = Counter()
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    # --- open messages

    def join(self, member: object, needs: Needs) -> None:
        """The message is open, or needs something else from now on."""
        self._subtract(member)
        self._members[member] = needs
        self._growing[needs.grows.name] += 1
        self._finals.update(budget.name for budget in needs.finals)
        self._dispatch()

    def leave(self, member: object) -> None:
        """The message is final, or was given up."""
        if self._subtract(member):
            self._sweep()
            self._dispatch()

    def interval(self, budget: Budget, *, more: int = 0, more_finals: int = 0) -> float:
        """Seconds between two edits of one message while so many share the budget, and so `many` more."""
        window = self._window(budget)
        free = (
            window.calls - self._reserve(budget, more=more_finals) - int(window.calls * _HEADROOM)
        )  # at least one: a reserve is half of the calls at most
        return max(self._growing[budget.name] + more, 1) * (window.seconds + _MARGIN) / max(free, 1)

    def room(self, budget: Budget, *, finals: bool = False) -> int:
        """How many calls could be made now; beside those that all open messages will end with, when `finals`."""
        window, now = self._window(budget), self._now()
        if now < window.closed_until:
            return 0
        kept = self._finals[budget.name] if finals else self._reserve(budget)
        return window.calls - window.used(now) - kept

    @property
    def known(self) -> int:
        """How many budgets are kept in mind."""
        return len(self._windows)

    # --- writes

    def ask(
        self,
        budgets: Sequence[Budget],
        *,
        urgency: Urgency,
        since: float | None = None,
        rest: float = 0.0,
        not_before: float = 0.0,
    ) -> Ask:
        """A wish to write at the cost of one call of each budget, taken up in its turn.

        Among the equally urgent the one with the oldest `since` goes first. One that only grows, or tells a status, is taken up
        `rest` seconds after `since` at the earliest, and later where many share the budget.
        """
        started = self._now() if since is None else since
        wish = Ask(self, budgets, urgency=urgency, since=started, rest=rest, not_before=not_before)
        self._waiting.append((next(self._order), wish))
        self._dispatch()
        return wish

    def forget(self, wish: Ask) -> None:
        """It is not waited for any longer."""
        self._waiting = [(order, waiting) for order, waiting in self._waiting if waiting is not wish]

    def release(self, budgets: Iterable[Budget], *, counted: bool) -> None:
        """A granted call is over, or was not made."""
        now = self._now()
        for budget in budgets:
            self._window(budget).end(now, counted=counted)
        self._dispatch()

    def close(self, budgets: Iterable[Budget], seconds: float) -> None:
        """The platform wants no call on these budgets for so long."""
        until = self._now() + seconds
        for budget in budgets:
            window = self._window(budget)
            window.closed_until = max(window.closed_until, until)

    # --- inside

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _window(self, budget: Budget) -> _Window:
        window = self._windows.setdefault(budget.name, _Window())
        window.calls, window.seconds = max(budget.calls, 1), budget.seconds  # as it was told last
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
        """Grant what can be granted, the most urgent first, and come back when the next may be."""
        now = self._now()
        self._waiting.sort(key=lambda waiting: (waiting[1].urgency, waiting[1].since, waiting[0]))
        left: list[tuple[int, Ask]] = []
        for order, wish in self._waiting:
            if self._may(wish, now):
                for budget in wish.budgets:
                    self._window(budget).in_flight += 1
                wish.grant()
            else:
                left.append((order, wish))
        self._waiting = left
        self._wake_at(min((self._again(wish, now) for _, wish in left), default=float("inf")))

    def _may(self, wish: Ask, now: float) -> bool:
        return now >= self._earliest(wish) and all(
            self._free(budget, wish.urgency, now) > 0 for budget in wish.budgets
        )

    def _earliest(self, wish: Ask) -> float:
        if wish.urgency < Urgency.GROW:
            return wish.not_before
        turn = max(self.interval(budget) for budget in wish.budgets)
        if wish.urgency == Urgency.STATUS and turn > GOOD_SECONDS:
            turn *= _STATUS_TURNS
        return max(wish.not_before, wish.since + max(wish.rest, turn))

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
            free -= window.calls > 2  # the text that follows must not wait for it
        return free

    def _again(self, wish: Ask, now: float) -> float:
        """When it is worth another look; the end of a call in flight is one in any case."""
        times = [self._earliest(wish)]
        times += [self._window(budget).changes(now) for budget in wish.budgets]
        return min((time for time in times if time > now), default=float("inf"))

    def _wake_at(self, time: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if time < float("inf"):
            self._timer = asyncio.get_running_loop().call_at(time, self._dispatch)

    def _sweep(self) -> None:
        """Forget budgets that nobody has used for a while: every channel has its own."""
        now = self._now()
        wanted = {budget.name for _, wish in self._waiting for budget in wish.budgets}
        wanted |= {budget.name for needs in self._members.values() for budget in (needs.grows, *needs.finals)}
        for name in [name for name, window in self._windows.items() if window.idle(now)]:
            if name not in wanted:
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
        """When there is next more room, as far as time alone makes it."""
        if now < self.closed_until:
            return self.closed_until
        self.used(now)
        return self._ended[0] + self.seconds + _MARGIN if self._ended else float("inf")

    def idle(self, now: float) -> bool:
        return not self.used(now) and now >= self.closed_until
