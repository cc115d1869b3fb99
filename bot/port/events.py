from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bot.port.places import Person, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Only `open` downloads it; `size` is in bytes.

    `open` raises `Unreachable`, or `WriteRefused` with a sentence for people if the platform sends something
    else.
    """

    name: str
    media_type: str
    size: int
    uri: str
    """Permalink of its message."""
    open: Callable[[], AsyncIterator[bytes]]
    id: str = ""
    """The platform's id, the same each time the file is seen."""
    refusal: str = ""
    """Why it cannot be read, if known before the download (e.g. a voice message): one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """By a person or another bot; `text` is CommonMark without our own mention."""

    id: str
    """The platform's id, unique in its channel, the same for each delivery."""
    place: Place
    """Where to answer: `place.thread` is set if the message is in a thread or its answer will open one."""
    person: Person
    text: str
    attachments: tuple[Attachment, ...] = ()
    addressed: bool = True
    """It mentions us, is a direct message, replies to us, or came through a shortcut or command."""
    to_others: bool = False
    by_bot: bool = False
    in_thread: bool = False
    private: bool = False
    """Only `person` may see the answer."""
    uri: str = ""
    at: float = 0.0
    """Seconds since the epoch, UTC."""
    ours: bool = False
    """We wrote it; True only in the history of a channel or thread."""
    about: str = ""
    """Id of the message with the text and files, if the person asked about another message."""
    author: str = ""
    """Id of the person who wrote that message."""
    handle: str = ""
    """Adapter data for continuing the answer after a restart (a private reply's address). A secret: stored only while the answer
    is unfinished, and never logged.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """Adapters report only edits that change the text."""

    message: IncomingMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """Of `place`, only platform, workspace and channel are certain."""

    id: str
    place: Place


MessageEvent: TypeAlias = IncomingMessage | MessageEdited | MessageDeleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A press of a button under our message; `name` and `value` are the `Button`'s own."""

    id: str
    name: str
    value: str
    place: Place
    person: Person
    message: str = ""
