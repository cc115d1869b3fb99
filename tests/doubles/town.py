"""A workspace for tests: channels, who is in them, who is what; and a platform that can stop telling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.port import Channel, Gone, Standing, Unreachable

if TYPE_CHECKING:
    from bot.port import ChannelKind, IncomingMessage, Outlet, Person, Place


@dataclass(slots=True, kw_only=True)
class Town:
    """A `bot.port.Directory`. A public channel is read by all members, and by the guests that are in it."""

    members: set[str] = field(default_factory=set)
    admins: set[str] = field(default_factory=set)
    guests: set[str] = field(default_factory=set)
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    inside: dict[str, set[str]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Channels and people of which the platform tells nothing now."""
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def add(
        self, channel: str, kind: ChannelKind, *inside: str, external: bool = False, name: str | None = None
    ) -> None:
        name = channel.lower() if name is None else name
        self.channels[channel] = Channel(id=channel, name=name, kind=kind, external=external)
        self.inside[channel] = set(inside)

    async def channel(self, channel: str) -> Channel:
        self._tell("channel", channel)
        if channel not in self.channels:
            raise Gone("no such channel")
        return self.channels[channel]

    async def standing(self, person: str) -> Standing:
        self._tell("standing", person)
        member = person in self.members and person not in self.guests
        return Standing(admin=person in self.admins, roles=self.roles.get(person, frozenset()), member=member)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        self._tell("may_read", channel, person or everyone_in)
        if channel not in self.channels:
            return False
        readers = {person} if person else self._readers(everyone_in)
        return readers <= self._readers(channel)

    def _readers(self, channel: str) -> set[str]:
        full = self.members - self.guests
        return self.inside[channel] | (full if self.channels[channel].kind == "public" else set())

    def _tell(self, *what: str) -> None:
        self.asked.append(what)
        if self.silent & set(what):
            raise Unreachable("the platform does not answer")


@dataclass(slots=True, kw_only=True)
class TownRoom:
    """A `bot.port.Room` with a directory and messages that links lead to; nothing is written in it."""

    directory: Town
    messages: dict[str, IncomingMessage] = field(default_factory=dict)

    async def settle(self) -> Place:
        raise AssertionError("commands write nothing by themselves")

    def outlet(self, *, private: Person | None = None, posted: object = ()) -> Outlet:
        raise AssertionError("commands write nothing by themselves")

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        raise AssertionError("commands do not read along")

    async def fetch(self, link: str) -> IncomingMessage | None:
        if link == "https://chat.test/down":
            raise Unreachable("no answer")
        return self.messages.get(link)
