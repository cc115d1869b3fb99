"""A chat platform in memory: people, places, posts and what the adapters of it do."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bot.port import (
    Attachment,
    Budget,
    Channel,
    ChatError,
    File,
    Gone,
    IncomingMessage,
    Membership,
    People,
    Person,
    Place,
    PlainRoom,
    PlatformLimits,
    Reply,
    Route,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Sequence,
    )

    from bot.port import Directory, Page, Write


ANN = Person(id="U1", name="Ann", language="en")


BEN = Person(id="U2", name="Ben", language="en")


ADMIN = Person(id="U9", name="Ada", language="en")


CHANNEL = Place(platform="test", workspace="w", channel="general")


THREAD = replace(CHANNEL, thread="t1")


DIRECT = Place(platform="test", workspace="w", channel="dm-ann")


_FREE = Budget(name=("free",), calls=1_000_000, seconds=1)


_ROUTE = Route(name="plain", create=_FREE, edit=_FREE, finish=_FREE)


@dataclass
class Post:
    """One message of ours: every page it ever showed."""

    id: str
    place: Place
    private: Person | None
    pages: list[Page] = field(default_factory=list)
    gone: bool = False

    @property
    def reply(self) -> Reply:
        return self.pages[-1].reply

    @property
    def text(self) -> str:
        return self.pages[-1].text

    @property
    def statuses(self) -> list[str]:
        return [page.status for page in self.pages if page.status]

    def button(self, name: str, *, ends: str = "") -> str:
        """The value of the button of that name."""
        return next(
            one.value for one in self.pages[-1].buttons if one.name == name and one.value.endswith(ends)
        )

    @property
    def buttons(self) -> list[str]:
        return [one.name for one in self.pages[-1].buttons]


async def no_pictures() -> tuple[File, ...]:
    return ()


@dataclass
class Chat:
    """What everybody has written, and where."""

    posts: dict[str, Post] = field(default_factory=dict)
    said: list[IncomingMessage] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    fault: Exception | None = None
    """Raised by every public write."""
    pictures: Callable[[], Awaitable[tuple[File, ...]]] = no_pictures
    """Of the Sources."""
    reactions: list[str] | None = field(default_factory=list[str])
    """Ids of messages marked as read; None: not permitted."""
    mute: bool = False
    """Earlier messages cannot be read."""
    reads: int = 0
    titles: list[tuple[str, str]] = field(default_factory=list)
    """Of threads, with their ids."""

    @property
    def public(self) -> list[Post]:
        return [post for post in self.posts.values() if post.private is None and not post.gone]

    @property
    def private(self) -> list[Post]:
        return [post for post in self.posts.values() if post.private is not None and not post.gone]

    async def until(self, predicate: object) -> None:
        """Wait until the predicate holds; it is asked whenever a message of ours changes."""
        assert callable(predicate)
        async with asyncio.timeout(5), self.changed:
            await self.changed.wait_for(predicate)

    def message(self, text: str = "", *attachments: Attachment, **values: object) -> IncomingMessage:
        """A message that somebody writes; by default a question of Ann's that opens a thread of the channel."""
        number = next(self.numbers)
        identity = f"m{number}"
        given: dict[str, Any] = {
            "id": identity,
            "place": replace(CHANNEL, thread=identity),
            "person": ANN,
            "at": time.time(),
            "uri": f"chat://general/{identity}",
            **values,
        }
        message = IncomingMessage(text=text, attachments=attachments, **given)
        self.said.append(message)
        return message


class Outlet:
    """Where pages go. What exists is edited, what does not is created."""

    limits = PlatformLimits(characters=4000, edit_seconds=0)
    routes = (_ROUTE,)

    def __init__(self, chat: Chat, place: Place, private: Person | None, posted: Sequence[str]) -> None:
        self._chat = chat
        self._place = place
        self._private = private
        self._parts = list(posted)

    async def write(self, write: Write) -> str:
        if self._chat.fault is not None and self._private is None:
            raise self._chat.fault
        async with self._chat.changed:
            if write.part == len(self._parts):
                number = next(self._chat.numbers)
                identity = f"b{number}"
                post = Post(id=identity, place=self._place, private=self._private)
                self._chat.posts[identity] = post
                self._parts.append(identity)
                if self._private is None:
                    bot = Person(id="bot")
                    self._chat.said.append(
                        IncomingMessage(
                            id=identity, place=self._place, person=bot, text="ours", ours=True, at=time.time()
                        )
                    )
            post = self._chat.posts[self._parts[write.part]]
            if write.page is None:
                post.gone = True
                self._parts.pop()
            else:
                post.pages.append(write.page)
            self._chat.changed.notify_all()
        return post.id


@dataclass
class Here(PlainRoom):
    """The room of one event."""

    chat: Chat
    place: Place
    event: IncomingMessage | None = None
    directory: Directory = field(default_factory=lambda: Everybody())
    threads: bool = True
    """Whether the thread that the answer is to open can be opened."""
    opened: int = 0
    """How often the answer's place was requested."""

    async def open_thread(self) -> Place:
        self.opened += 1
        opens = self.event is not None and not self.event.in_thread
        return self.place.parent if opens and not self.threads else self.place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        return Outlet(self.chat, self.place if self.threads else self.place.parent, private, posted)

    async def mark_read(self) -> bool:
        if self.chat.reactions is None or self.event is None:
            return False
        self.chat.reactions.append(self.event.id)
        return True

    async def show_activity(self, *, title: str, status: str) -> None: ...

    @property
    def can_be_renamed(self) -> bool:
        return bool(self.place.thread)

    async def rename(self, title: str) -> None:
        self.chat.titles.append((self.place.thread, title))

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        self.chat.reads += 1
        if self.chat.mute:
            raise Unreachable("The platform does not answer.")
        in_thread = self.event is None or self.event.in_thread
        before = [
            said
            for said in self.chat.said
            if said.place.channel == self.place.channel
            and (not in_thread or said.place.thread == self.place.thread)
            and (self.event is None or (said.at < self.event.at and said.id != self.event.id))
        ]
        return before[-limit:]

    async def fetch(self, link: str) -> IncomingMessage | None:
        return next((said for said in self.chat.said if said.uri == link), None)


@dataclass
class Everybody:
    """Everybody is known, and Ada is the administrator."""

    home: str = "w"
    gone: set[str] = field(default_factory=set)
    """People who can read nothing any more."""
    closed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """People with channels that they may not read."""
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    direct_workspace: str = "w"
    refuses: ChatError | None = None
    """What the platform answers about who is present."""
    guests: set[str] = field(default_factory=set[str])
    silent: bool = False
    """The platform does not say who is a member."""

    def of_workspace(self, workspace: str) -> Directory | None:
        return self if workspace == self.home else None

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        if self.silent:
            raise Unreachable("away")
        return person not in self.guests

    async def shares_thread(self, place: Place) -> bool:
        return True

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        return frozenset(channels)

    async def present(self, place: Place, person: str) -> bool:
        if self.refuses is not None:
            raise self.refuses
        return person not in self.gone

    async def channel(self, channel: str) -> Channel:
        return Channel(id=channel, name=channel, kind="direct" if channel.startswith("dm") else "public")

    async def membership(self, person: str) -> Membership:
        return Membership(admin=person == ADMIN.id, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        return (person, channel) not in self.closed

    async def may_read_place(self, place: Place, person: str) -> bool:
        return await self.may_read(place.channel, person=person)

    async def people(self, mention: str) -> People:
        named = mention.strip("<@>").removeprefix("!subteam^")
        if named in self.groups:
            return People(id=named, name=named, members=self.groups[named])
        known = {each.id: each.name for each in (ANN, BEN, ADMIN)}
        if named not in known:
            raise Gone("nobody")
        return People(id=named, name=known[named], members=(named,))

    async def direct(self, person: str) -> Place:
        return Place(platform="test", workspace=self.direct_workspace, channel=f"dm-{person}")


def attachment(name: str, content: str | bytes | Exception, **values: object) -> Attachment:
    """A file of a message; an exception comes when it is opened."""
    data = content.encode() if isinstance(content, str) else content

    async def pieces() -> AsyncIterator[bytes]:
        if isinstance(data, Exception):
            raise data
        yield data

    size = 0 if isinstance(data, Exception) else len(data)
    given = {
        "media_type": "application/octet-stream",
        "size": size,
        "uri": f"chat://files/{name}",
        "id": f"F-{name}",
        **values,
    }
    return Attachment(name=name, open=pieces, **given)
