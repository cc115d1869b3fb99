"""What an adapter and the service say to each other: nothing of a platform's SDK passes here.

In: events (`MessageEvent`, `Command`, `Action`), each with the `Room` it happened in. Out: pages, written through the room's
`Outlet` by `bot.streaming` alone, which owns the rate budgets that the outlet names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from bot.lifecycle import Inbox, Recall, Signals
from bot.outgoing import Budget, Button, File, Limits, Outlet, Page, Reply, Route, Source, Write
from rag_engine.types import Citation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

__all__ = [
    "Action",
    "Attachment",
    "Budget",
    "Button",
    "Channel",
    "ChannelKind",
    "ChatError",
    "ChatService",
    "Citation",
    "Command",
    "CommandSpec",
    "Directory",
    "File",
    "Finding",
    "Gone",
    "Inbox",
    "IncomingMessage",
    "Limits",
    "MessageDeleted",
    "MessageEdited",
    "MessageEvent",
    "Option",
    "Outlet",
    "Page",
    "Person",
    "Place",
    "Posted",
    "Recall",
    "Refused",
    "Reply",
    "Room",
    "Route",
    "Signals",
    "Source",
    "Standing",
    "Stopped",
    "Throttled",
    "Unreachable",
    "Write",
]


# --- who and where ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message stands. Each part is the platform's own id; `thread` is empty outside threads."""

    platform: str
    workspace: str
    channel: str
    thread: str = ""

    @property
    def parent(self) -> Place:
        """The channel that the place is, or is a thread of."""
        return replace(self, thread="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody on a platform, by the platform's own id; `language` is the one of their client (ISO 639-1), where it is told."""

    id: str
    name: str = ""
    language: str = ""


ChannelKind = Literal["public", "private", "group", "direct"]
"""Who can read it: everyone of the workspace, those let in, a few people, or one person and the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel as the platform describes it; `external` when people of other organisations can read it."""

    id: str
    name: str
    kind: ChannelKind
    external: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a person is in the workspace: an administrator of it, and the names of their roles or groups."""

    admin: bool = False
    roles: frozenset[str] = frozenset()
    member: bool = False
    """A full member: no guest, and nobody of another organisation. False whenever that is not certain."""


class Directory(Protocol):
    """Channels and people of one workspace, told by the platform now or a short while ago (one minute at most).

    Every method raises `ChatError` when the platform does not tell: whoever asks must then refuse.
    """

    async def channel(self, channel: str) -> Channel: ...

    async def standing(self, person: str) -> Standing: ...

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        """Whether the person, or everyone who can read the channel `everyone_in`, can read `channel` too.

        False whenever that is not certain: guests, people of other organisations, permissions that cannot be compared.
        """
        ...


# --- what comes in ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file in a message. Nothing is downloaded before `open` is called; `size` is in bytes.

    `open` raises `Refused` with a plain sentence when the platform gives something else than the file (a login page, an
    expired link) and `Unreachable` when it does not answer.
    """

    name: str
    media_type: str
    size: int
    uri: str
    """Where a person finds the file again: the permalink of the message it came in."""
    open: Callable[[], AsyncIterator[bytes]]
    id: str = ""
    """The platform's id of the file: the same file in a message that is seen twice has the same one."""
    refusal: str = ""
    """Why it cannot be read, known before any download: one plain sentence, e.g. of a voice message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A message that a person (or another bot) wrote where we can read it; `text` is CommonMark without our own mention."""

    id: str
    """The platform's id, unique in its channel; a message that is delivered twice has the same one."""
    place: Place
    """Where it is answered: `place.thread` is set when it stands in a thread, and when the answer will open one."""
    person: Person
    text: str
    attachments: tuple[Attachment, ...] = ()
    addressed: bool = True
    """It mentions us, is a direct message, replies to a message of ours, or was handed to us by shortcut or command."""
    to_others: bool = False
    """It mentions other people or replies to one of them."""
    by_bot: bool = False
    in_thread: bool = False
    """It stands in a thread that was there before it."""
    private: bool = False
    """Only `person` may see the answer."""
    uri: str = ""
    """Its permalink."""
    at: float = 0.0
    """Seconds since the epoch, UTC."""
    ours: bool = False
    """It is a message of our own; only seen when earlier messages are read."""
    about: str = ""
    """The platform's id of the message whose text and files these are, where that is another one: somebody asked about it."""
    handle: str = ""
    """What the adapter needs beside all this to go on with the answer after a restart (the address of a private reply). It may be
    a key for some minutes: it is kept while the answer is unfinished, and never logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """The message as it is now. Adapters do not report changes that leave its text as it was."""

    message: IncomingMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    id: str
    place: Place
    """Only platform, workspace and channel are known for certain."""


MessageEvent: TypeAlias = IncomingMessage | MessageEdited | MessageDeleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing a command can be told. `choices` are the only values; a `file` is an attachment, where the platform has such."""

    name: str
    description: str
    kind: Literal["text", "channel", "file"] = "text"
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A slash command as data. `name` has one word (`ask`) or two (`kb list`): the second is a subcommand of the first."""

    name: str
    description: str
    options: tuple[Option, ...] = ()
    admin: bool = False
    """Hidden from others where the platform can; who may really do it is asked again when it is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One use of a slash command. Where the platform gives one line of text, `line` holds it and `values` is empty."""

    id: str
    name: str
    """The first word at least, `kb`; the subcommand is in it (`kb list`) or begins `line`."""
    place: Place
    person: Person
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    line: str = ""
    attachments: tuple[Attachment, ...] = ()
    handle: str = ""
    """As in `IncomingMessage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A button pressed under one of our messages: the `Button`'s own `name` and `value`."""

    id: str
    name: str
    value: str
    place: Place
    person: Person
    message: str = ""
    """The platform's id of our message that holds the button."""


# --- where it happens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """Where a message of ours stands: the ids of its parts, in order, for going on with them later."""

    place: Place
    messages: tuple[str, ...]


class Room(Protocol):
    """One place on a platform, as the service sees it while it deals with one event."""

    @property
    def directory(self) -> Directory: ...

    async def settle(self) -> Place:
        """Where the answer will stand: opens the thread that it is to stand in, if it is to open one; done once.

        Where the platform does not tell now, the place that the event came with; then the outlet tries again.
        """
        ...

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """Where the answer to this event goes; for one person's eyes, or into messages of ours that are there already."""
        ...

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """The messages before this event in its thread, else in its channel, oldest first; our own are marked `ours`.

        Raises `ChatError` when the platform does not give them.
        """
        ...

    async def fetch(self, link: str) -> IncomingMessage | None:
        """The message a permalink leads to, with its files; None when it is not in this workspace or cannot be read."""
        ...


class ChatService(Protocol):
    """All behaviour behind an adapter. Never raises what a person could have been told in a message.

    Each call may take as long as the answer does: an adapter acknowledges the event first and runs the call in a task. A call that is
    cancelled did not deal with its event: when the program ends, what comes is left for its next start in that way.
    """

    commands: Sequence[CommandSpec]
    inbox: Inbox

    async def resume(self, platform: str, recall: Recall) -> None:
        """Go on with the answers that were under way on the platform when the program ended; returns when they are done.

        Called once by an adapter that can write, before or while events come in.
        """
        ...

    async def answers_in(self, place: Place) -> frozenset[str]:
        """Our messages in the place's thread that are known to belong to an answer; a lost one is none of them."""
        ...

    async def answered_in(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        """The channels of the workspace in which somebody was answered, the latest first.

        For adapters whose platform does not list all conversations that we have part in.
        """
        ...

    async def heard(self, platform: str) -> float:
        """When the latest message of the platform that was looked at was written, in seconds since the epoch; 0: never.

        For adapters whose platform does not send again what came while nobody listened.
        """
        ...

    async def on_message(self, event: MessageEvent, room: Room) -> None: ...

    async def on_command(self, command: Command, room: Room) -> None: ...

    async def on_action(self, action: Action, room: Room) -> None: ...


# --- what goes wrong -------------------------------------------------------------------------------------------------


class ChatError(Exception):
    """A platform did not do what it was asked. The text is for the log and for `doctor`; it holds no secret."""


class Throttled(ChatError):
    """Too many calls: nothing was done; again after `seconds`."""

    def __init__(self, message: str = "", *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Unreachable(ChatError):
    """The platform does not answer, or answers with a fault of its own: the same call may work later."""


class Stopped(ChatError):
    """A person stopped this message by a button of the platform's own: only the last word is still to be written."""


class Gone(ChatError):
    """The message, thread or channel is no longer there, or closed to us: further calls cannot work."""


class Refused(ChatError):
    """The platform will not do this. The text is one plain sentence for people, with what would mend it where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of `footnote doctor`: what was checked, how it is, and what to do about it."""

    check: str
    state: Literal["ok", "note", "bad"]
    detail: str
    mend: str = ""
