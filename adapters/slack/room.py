"""One place in Slack as the service sees it while it deals with one event."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapters.slack.outlet import Outlet, Target
from adapters.slack.private import PrivateOutlet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from adapters.slack.messages import Messages
    from bot import port
    from bot.port import IncomingMessage, Person, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """See `bot.port.Room`."""

    messages: Messages
    target: Target
    answers_in: Callable[[Place], Awaitable[frozenset[str]]]
    """`ChatService.answers_in`."""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def directory(self) -> port.Directory:
        return self.messages.people

    async def settle(self) -> Place:
        """See `bot.port.Room`. A thread of Slack's is there as soon as something stands in it."""
        return self.target.place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> port.Outlet:
        """See `bot.port.Room`."""
        if private is not None:
            return PrivateOutlet(self.messages.wire, self.target, person=private.id, posted=posted)
        return Outlet(
            self.messages.wire,
            self.target,
            posted=posted,
            number=next(self._numbers),
            answers_in=self.answers_in,
        )

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """See `bot.port.Room`."""
        target = self.target
        thread = target.place.thread if target.in_thread else ""
        return await self.messages.before(target.place.channel, ts=target.asked, thread=thread, limit=limit)

    async def fetch(self, link: str) -> IncomingMessage | None:
        """See `bot.port.Room`."""
        return await self.messages.fetch(link)
