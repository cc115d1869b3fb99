from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

NO_WORKSPACE: Final = "@me"
"""The workspace of direct messages on platforms where these belong to none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Each part is the platform's own id; `thread` is empty outside threads."""

    platform: str
    workspace: str
    channel: str
    thread: str = ""

    @property
    def parent(self) -> Place:
        return replace(self, thread="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`id` is the platform's own; `language` (ISO 639-1) and `time_zone` (IANA) are the client's, empty if unknown."""

    id: str
    name: str = ""
    language: str = ""
    time_zone: str = ""


ChannelKind = Literal["public", "private", "group", "direct"]
"""Readers: the whole workspace, invited members, a few people, or one person and the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """`external`: people of other organisations or workspaces can read it, or are invited to."""

    id: str
    name: str
    kind: ChannelKind
    external: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A person's rights in the workspace, with the names of their roles or groups."""

    admin: bool = False
    roles: frozenset[str] = frozenset()
    member: bool = False
    """Neither guest nor external. False if uncertain."""


class Directory(Protocol):
    """Channels and people of one workspace, at most one minute old.

    Every coroutine raises `ChatError` if the platform does not answer; the caller must then refuse.
    """

    @property
    def home(self) -> str:
        """The operator's workspace; empty if others can install the bot, too."""
        ...

    def of_workspace(self, workspace: str) -> Directory | None:
        """The directory of any workspace that the bot is in."""
        ...

    async def channel(self, channel: str) -> Channel: ...

    async def membership(self, person: str) -> Membership: ...

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """Whether the person, or everyone who can read the channel `everyone_in`, can also read `channel`.

        False if uncertain: guests, external people, permissions that cannot be compared.
        """
        ...

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        """Whether the person, or everyone who can read the channel, is a full member. False if uncertain."""
        ...

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        """Those of the channels that the person is in; without joining, those that they can read."""
        ...

    async def present(self, place: Place, person: str) -> bool:
        """Whether the person can read the place now. Asks the platform, never a cache."""
        ...
