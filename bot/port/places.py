from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

NO_WORKSPACE: Final = "@me"
"""Of direct messages that belong to no workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The platform's own ids; `thread` is empty outside threads."""

    platform: str
    workspace: str
    channel: str
    thread: str = ""

    @property
    def parent(self) -> Place:
        return replace(self, thread="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`language` (ISO 639-1) and `time_zone` (IANA) are empty if unknown."""

    id: str
    name: str = ""
    language: str = ""
    time_zone: str = ""


ChannelKind = Literal["public", "private", "group", "direct"]
"""Read by the whole workspace, invited members, a few people, or one person and the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """`external`: people of other organisations may read it."""

    id: str
    name: str
    kind: ChannelKind
    external: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """With the names of roles or groups."""

    admin: bool = False
    roles: frozenset[str] = frozenset()
    member: bool = False
    """Neither guest nor external. False if uncertain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """A person, or a group of the platform (user group, role) with its members."""

    id: str
    name: str
    members: tuple[str, ...]


class Directory(Protocol):
    """At most one minute old. Every coroutine raises `ChatError` if the platform does not answer; the caller must then refuse."""

    @property
    def home(self) -> str:
        """Empty if others can install the bot, too."""
        ...

    def of_workspace(self, workspace: str) -> Directory | None:
        """Of any workspace that the bot is in."""
        ...

    async def channel(self, channel: str) -> Channel: ...

    async def membership(self, person: str) -> Membership: ...

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """Can the person, or all who read the channel `everyone_in`, also read `channel`? False if uncertain: guests,
        external people.
        """
        ...

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        """Is the person, or everyone in the channel, a full member? False if uncertain."""
        ...

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        """Those that the person is in; without joining, those they can read."""
        ...

    async def may_read_place(self, place: Place, person: str) -> bool:
        """As `may_read`, and the thread too."""
        ...

    async def shares_thread(self, place: Place) -> bool:
        """With all who read the channel? False if uncertain."""
        ...

    async def present(self, place: Place, person: str) -> bool:
        """Asks the platform, never a cache."""
        ...

    async def people(self, mention: str) -> People:
        """Who `<@U1>`, `<@&R1>` or `<!subteam^S1>` is, without bots. Raises `WriteRefused` if members are not listed."""
        ...

    async def direct(self, person: str) -> Place:
        """Opens the person's direct messages with us."""
        ...
