"""A workspace in memory, and a platform that can fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.port import Channel, Gone, Membership, People, Place, PlainRoom, Unreachable

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.port import ChannelKind, ChatError, IncomingMessage, Outlet, Person


@dataclass(slots=True, kw_only=True)
class Town:
    """A `bot.port.Directory`. Public channels are read by all members, and by guests in them."""

    members: set[str] = field(default_factory=set)
    admins: set[str] = field(default_factory=set)
    guests: set[str] = field(default_factory=set)
    roles: dict[str, frozenset[str]] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    inside: dict[str, set[str]] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Channels and people for which the platform fails."""
    refusals: dict[str, ChatError] = field(default_factory=dict[str, "ChatError"])
    """Questions about which the platform says why it refuses them."""
    asked: list[tuple[str, ...]] = field(default_factory=list)
    private_threads: set[str] = field(default_factory=set)
    home: str = "T1"
    others: dict[str, Town] = field(default_factory=dict[str, "Town"])
    """The towns of other workspaces, from a direct message that belongs to none."""

    def of_workspace(self, workspace: str) -> Town | None:
        return self.others.get(workspace)

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

    async def membership(self, person: str) -> Membership:
        self._tell("membership", person)
        member = person in self.members and person not in self.guests
        return Membership(
            admin=person in self.admins, roles=self.roles.get(person, frozenset()), member=member
        )

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        self._tell("may_read", channel, person or everyone_in)
        if channel not in self.channels:
            return False
        readers = {person} if person else self._readers(everyone_in)
        return readers <= self._readers(channel)

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        self._tell("are_members", person or everyone_in)
        return ({person} if person else self._readers(everyone_in)) <= self.members - self.guests

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        self._tell("joined", person)
        return frozenset(
            each
            for each in channels
            if person in self.inside.get(each, ()) and self.channels[each].kind in ("public", "private")
        )

    async def may_read_place(self, place: Place, person: str) -> bool:
        return await self.may_read(place.channel, person=person)

    async def shares_thread(self, place: Place) -> bool:
        self._tell("shares_thread", place.thread)
        return place.thread not in self.private_threads

    async def present(self, place: Place, person: str) -> bool:
        self._tell("present", person)
        return place.channel in self.channels and person in self._readers(place.channel)

    async def people(self, mention: str) -> People:
        self._tell("people", mention)
        named = mention.strip("<@>").removeprefix("!subteam^").removeprefix("&")
        if named in self.groups:
            return People(id=named, name=named.lower(), members=self.groups[named])
        if named not in self.members:
            raise Gone("nobody")
        return People(id=named, name=named.lower(), members=(named,))

    async def direct(self, person: str) -> Place:
        self._tell("direct", person)
        return Place(platform="slack", workspace=self.home, channel=f"D-{person}")

    def _readers(self, channel: str) -> set[str]:
        full = self.members - self.guests
        return self.inside[channel] | (full if self.channels[channel].kind == "public" else set())

    def _tell(self, *what: str) -> None:
        self.asked.append(what)
        for refused in self.refusals.keys() & set(what):
            raise self.refusals[refused]
        if self.silent & set(what):
            raise Unreachable("the platform does not answer")


@dataclass(slots=True, kw_only=True)
class TownRoom(PlainRoom):
    """A `bot.port.Room` without outlets, with messages behind links."""

    directory: Town
    messages: dict[str, IncomingMessage] = field(default_factory=dict)

    async def open_thread(self) -> Place:
        raise AssertionError("commands write nothing by themselves")

    def outlet(self, *, private: Person | None = None, posted: object = ()) -> Outlet:
        raise AssertionError("commands write nothing by themselves")

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        raise AssertionError("commands do not read along")

    async def fetch(self, link: str) -> IncomingMessage | None:
        if link == "https://chat.test/down":
            raise Unreachable("no answer")
        return self.messages.get(link)
