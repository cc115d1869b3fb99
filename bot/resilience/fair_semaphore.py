from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Hashable

    OnWait: TypeAlias = Callable[[int], None]
    """Called with the queue position, from 1, and on each change."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Ticket:
    on_wait: OnWait
    granted: asyncio.Future[None]
    number: int = field(default=0, init=False)

    def set_number(self, number: int) -> None:
        if number != self.number:
            self.number = number
            self.on_wait(number)


class FairSemaphore:
    """`at_once` callers hold it, `each` of one group. Groups take turns: small ones never queue behind large ones."""

    def __init__(self, at_once: int, *, each: int | None = None) -> None:
        self._free = at_once
        self._each = at_once if each is None else each
        self._running: Counter[Hashable] = Counter()
        self._groups: dict[Hashable, deque[_Ticket]] = {}
        """Waiting callers by group, in serving order."""

    @property
    def waiting(self) -> int:
        return sum(map(len, self._groups.values()))

    @property
    def is_full(self) -> bool:
        return not self._free

    @asynccontextmanager
    async def turn(self, group: Hashable, *, on_wait: OnWait) -> AsyncGenerator[None]:
        """Cancelling frees the position."""
        await self._acquire(group, on_wait)
        try:
            yield
        finally:
            self._release(group)

    async def _acquire(self, group: Hashable, on_wait: OnWait) -> None:
        if self._admits(group):
            self._take(group)
            return
        ticket = _Ticket(on_wait=on_wait, granted=asyncio.get_running_loop().create_future())
        self._groups.setdefault(group, deque()).append(ticket)
        self._renumber()
        try:
            await ticket.granted
        except asyncio.CancelledError:
            if ticket.granted.cancelled():
                self._leave(group, ticket)
            else:
                self._release(group)
            raise

    def _admits(self, group: Hashable) -> bool:
        return self._free > 0 and self._running[group] < self._each

    def _take(self, group: Hashable) -> None:
        self._free -= 1
        self._running[group] += 1

    def _release(self, group: Hashable) -> None:
        self._free += 1
        self._running[group] -= 1
        if not self._running[group]:
            del self._running[group]
        while admitted := list(islice(filter(self._admits, self._groups), 1)):
            (group,) = admitted
            line = self._groups.pop(group)
            ticket = line.popleft()
            if line:
                self._groups[group] = line
            if not ticket.granted.done():
                self._take(group)
                ticket.granted.set_result(None)
                self._renumber()

    def _leave(self, group: Hashable, ticket: _Ticket) -> None:
        line = self._groups.get(group, deque[_Ticket]())
        if ticket in line:
            line.remove(ticket)
            if not line:
                del self._groups[group]
            self._renumber()

    def _renumber(self) -> None:
        number = 0
        lines = [list(line) for line in self._groups.values()]
        while lines:
            for line in lines:
                number += 1
                line.pop(0).set_number(number)
            lines = [line for line in lines if line]
