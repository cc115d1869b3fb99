"""The state of the doubled Discord: users, guilds, roles, channels, messages, and who may do what.

Ids are snowflakes as strings: their upper bits are the creation time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.doubles.chat_server import Text

EPOCH_MS = 1_420_070_400_000

ADMINISTRATOR = 1 << 3
MANAGE_CHANNELS = 1 << 4
MANAGE_GUILD = 1 << 5
ADD_REACTIONS = 1 << 6
VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
MANAGE_MESSAGES = 1 << 13
EMBED_LINKS = 1 << 14
ATTACH_FILES = 1 << 15
READ_MESSAGE_HISTORY = 1 << 16
MENTION_EVERYONE = 1 << 17
USE_APPLICATION_COMMANDS = 1 << 31
MANAGE_THREADS = 1 << 34
CREATE_PUBLIC_THREADS = 1 << 35
CREATE_PRIVATE_THREADS = 1 << 36
SEND_MESSAGES_IN_THREADS = 1 << 38
EVERYTHING = (1 << 52) - 1
USUAL = (
    ADD_REACTIONS
    | VIEW_CHANNEL
    | SEND_MESSAGES
    | EMBED_LINKS
    | ATTACH_FILES
    | READ_MESSAGE_HISTORY
    | USE_APPLICATION_COMMANDS
    | CREATE_PUBLIC_THREADS
    | CREATE_PRIVATE_THREADS
    | SEND_MESSAGES_IN_THREADS
)
"""The permissions of @everyone in a new guild."""

TEXT, DIRECT, VOICE, ANNOUNCEMENT, FORUM = 0, 1, 2, 5, 15
ANNOUNCEMENT_THREAD, PUBLIC_THREAD, PRIVATE_THREAD = 10, 11, 12
KINDS = {"text": TEXT, "voice": VOICE, "announcement": ANNOUNCEMENT, "forum": FORUM}


@dataclass(slots=True, kw_only=True, eq=False)
class User:
    id: str
    name: str
    bot: bool = False
    locale: str = "en-US"

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(slots=True, kw_only=True, eq=False)
class Role:
    id: str
    name: str
    permissions: int = 0
    position: int = 1


@dataclass(slots=True, kw_only=True, eq=False)
class Overwrite:
    """What a role (kind 0) or member (kind 1) is allowed or denied."""

    id: str
    kind: int
    allow: int = 0
    deny: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Member:
    user: User
    roles: set[str] = field(default_factory=set)
    joined: float = 0.0


@dataclass(slots=True, kw_only=True, eq=False)
class Guild:
    id: str
    name: str
    owner: str
    system_channel: str = ""
    roles: dict[str, Role] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    id: str
    kind: int
    name: str = ""
    guild: Guild | None = None
    overwrites: dict[str, Overwrite] = field(default_factory=dict)
    recipients: tuple[User, ...] = ()
    parent: Channel | None = None
    owner: str = ""
    members: set[str] = field(default_factory=set)
    archived: bool = False
    locked: bool = False
    archive_minutes: int = 1440
    created: float = 0.0
    messages: list[str] = field(default_factory=list)
    deleted: bool = False

    @property
    def is_thread(self) -> bool:
        return self.parent is not None


@dataclass(slots=True, kw_only=True, eq=False)
class Attachment:
    id: str
    name: str
    content: bytes
    media_type: str
    description: str = ""
    seconds: float | None = None
    """Seconds of a voice message."""


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    id: str
    channel: Channel
    author: User
    kind: int = 0
    content: str = ""
    components: list[dict[str, object]] = field(default_factory=list)
    embeds: list[dict[str, object]] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flags: int = 0
    nonce: str | None = None
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[str] = field(default_factory=list)
    mention_everyone: bool = False
    reactions: dict[str, set[str]] = field(default_factory=dict)
    created: float = 0.0
    edited: float | None = None
    deleted: bool = False
    reference: tuple[str, str] | None = None
    """Channel and message that it replies to."""
    only_for: str = ""
    """The only user who sees it."""
    interaction: Mapping[str, object] | None = None
    texts: list[Text] = field(default_factory=list)


class World:
    def __init__(self, wall: Callable[[], float]) -> None:
        self.wall = wall
        self.users: dict[str, User] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, Message] = {}
        self.attachments: dict[str, Attachment] = {}
        self._counter = itertools.count()
        self._latest = 0

    def snowflake(self) -> str:
        """A new id, greater than all before."""
        milliseconds = max(int(self.wall() * 1000) - EPOCH_MS, self._latest)
        count = next(self._counter) % (1 << 22)
        if count == (1 << 22) - 1:
            milliseconds += 1
        self._latest = milliseconds
        return str((milliseconds << 22) | count)

    def user(self, name: str, *, bot: bool = False, locale: str = "en-US") -> User:
        user = User(id=self.snowflake(), name=name, bot=bot, locale=locale)
        self.users[user.id] = user
        return user

    def guild(self, name: str, owner: User) -> Guild:
        guild = Guild(id=self.snowflake(), name=name, owner=owner.id)
        guild.roles[guild.id] = Role(id=guild.id, name="@everyone", permissions=USUAL, position=0)
        self.guilds[guild.id] = guild
        self.join(guild, owner)
        return guild

    def role(self, guild: Guild, name: str, permissions: int = 0) -> Role:
        role = Role(id=self.snowflake(), name=name, permissions=permissions, position=len(guild.roles))
        guild.roles[role.id] = role
        return role

    def join(self, guild: Guild, user: User, roles: Iterable[Role] = ()) -> Member:
        member = Member(user=user, roles={role.id for role in roles}, joined=self.wall())
        guild.members[user.id] = member
        return member

    def channel(
        self, guild: Guild, name: str, *, kind: int = TEXT, only: Iterable[User | Role] | None = None
    ) -> Channel:
        """A channel of the guild; `only` makes it private for those users and roles."""
        channel = Channel(id=self.snowflake(), kind=kind, name=name, guild=guild, created=self.wall())
        if only is not None:
            channel.overwrites[guild.id] = Overwrite(id=guild.id, kind=0, deny=VIEW_CHANNEL)
            for who in only:
                kind_of = 0 if isinstance(who, Role) else 1
                channel.overwrites[who.id] = Overwrite(id=who.id, kind=kind_of, allow=VIEW_CHANNEL)
        self.channels[channel.id] = channel
        return channel

    def direct(self, one: User, other: User) -> Channel:
        both = {one.id, other.id}
        for channel in self.channels.values():
            if channel.kind == DIRECT and {user.id for user in channel.recipients} == both:
                return channel
        channel = Channel(id=self.snowflake(), kind=DIRECT, recipients=(one, other), created=self.wall())
        self.channels[channel.id] = channel
        return channel

    def thread(
        self, parent: Channel, name: str, owner: str, *, identity: str = "", private: bool = False
    ) -> Channel:
        public = ANNOUNCEMENT_THREAD if parent.kind == ANNOUNCEMENT else PUBLIC_THREAD
        channel = Channel(
            id=identity or self.snowflake(),
            kind=PRIVATE_THREAD if private else public,
            name=name,
            guild=parent.guild,
            parent=parent,
            owner=owner,
            members={owner},
            created=self.wall(),
        )
        self.channels[channel.id] = channel
        return channel

    def attachment(
        self,
        name: str,
        content: bytes,
        media_type: str,
        *,
        description: str = "",
        seconds: float | None = None,
    ) -> Attachment:
        made = Attachment(
            id=self.snowflake(),
            name=name,
            content=content,
            media_type=media_type,
            description=description,
            seconds=seconds,
        )
        self.attachments[made.id] = made
        return made

    def in_channel(self, channel: Channel) -> list[Message]:
        """The messages in it, oldest first, private ones included."""
        found = (self.messages[message] for message in channel.messages)
        return [message for message in found if not message.deleted]


def permissions_in_guild(guild: Guild, user: str) -> int:
    """Server permissions of roles."""
    member = guild.members.get(user)
    if member is None:
        return 0
    if guild.owner == user:
        return EVERYTHING
    granted = guild.roles[guild.id].permissions
    for role in member.roles:
        granted |= guild.roles[role].permissions
    return EVERYTHING if granted & ADMINISTRATOR else granted


def permissions(channel: Channel, user: str) -> int:
    """Permissions in a channel or thread; 0 if it is not visible."""
    if channel.guild is None:
        return USUAL if any(user == recipient.id for recipient in channel.recipients) else 0
    granted = permissions_in_guild(channel.guild, user)
    if granted == EVERYTHING or not granted:
        return granted
    granted = _overwritten(granted, channel.parent or channel, channel.guild, user)
    if not granted & VIEW_CHANNEL:
        return 0
    if channel.kind == PRIVATE_THREAD and user not in channel.members and not granted & MANAGE_THREADS:
        return 0
    return granted


def _overwritten(granted: int, channel: Channel, guild: Guild, user: str) -> int:
    everyone = channel.overwrites.get(guild.id)
    if everyone is not None:
        granted = granted & ~everyone.deny | everyone.allow
    allow = deny = 0
    for role in guild.members[user].roles:
        if role in channel.overwrites:
            allow |= channel.overwrites[role].allow
            deny |= channel.overwrites[role].deny
    granted = granted & ~deny | allow
    own = channel.overwrites.get(user)
    return granted if own is None else granted & ~own.deny | own.allow
