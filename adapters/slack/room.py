"""One place in Slack as the service sees it while it deals with one event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.slack.outlet import Outlet, Target
from adapters.slack.private import PrivateOutlet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.messages import Messages
    from bot import port
    from bot.port import IncomingMessage, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """See `bot.port.Room`."""

    messages: Messages
    target: Target

    @property
    def directory(self) -> port.Directory:
        return self.messages.people

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> port.Outlet:
        """See `bot.port.Room`."""
        if private is not None:
            return PrivateOutlet(self.messages.wire, self.target, person=private.id, posted=posted)
        return Outlet(self.messages.wire, self.target, posted=posted)

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """See `bot.port.Room`."""
        target = self.target
        thread = target.place.thread if target.in_thread else ""
        return await self.messages.before(target.place.channel, ts=target.asked, thread=thread, limit=limit)

    async def fetch(self, link: str) -> IncomingMessage | None:
        """See `bot.port.Room`."""
        return await self.messages.fetch(link)
