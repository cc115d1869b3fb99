from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from bot.port.places import Person, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """`size` is in bytes. `open` downloads it and raises `Unreachable`, or `WriteRefused` if the platform sends
    something else.
    """

    name: str
    media_type: str
    size: int
    uri: str
    """Permalink of its message."""
    open: Callable[[], AsyncIterator[bytes]]
    id: str = ""
    """The same each time."""
    refusal: str = ""
    """Why it cannot be read, if known before the download: one sentence."""
    voice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """By a person or bot; `text` is CommonMark without our own mention."""

    id: str
    """Unique in its channel, the same for each delivery."""
    place: Place
    """Where to answer: in `place.thread`, if the answer will open one, too."""
    person: Person
    text: str
    attachments: tuple[Attachment, ...] = ()
    addressed: bool = True
    """A mention, a direct message, a reply to us, a shortcut or a command."""
    to_others: bool = False
    by_bot: bool = False
    in_thread: bool = False
    private: bool = False
    """Only `person` may see the answer."""
    uri: str = ""
    replies_to: str = ""
    """A message, where replies are more than threads."""
    at: float = 0.0
    """Seconds since the epoch, UTC."""
    ours: bool = False
    """True only in a history."""
    restricted: bool = False
    """Fewer people can read it than its channel: a private thread."""
    about: str = ""
    """The message with the text and files, if not this one."""
    author: str = ""
    handle: str = ""
    """Adapter data for continuing after a restart (a private reply's address). A secret: stored only while the answer
    is unfinished, never logged.
    """

    @property
    def voices(self) -> tuple[Attachment, ...]:
        return tuple(each for each in self.attachments if each.voice)

    @property
    def files(self) -> tuple[Attachment, ...]:
        return tuple(each for each in self.attachments if not each.voice)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """Only if the text changed."""

    message: IncomingMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """Only platform, workspace and channel of `place` are certain."""

    id: str
    place: Place


MessageEvent: TypeAlias = IncomingMessage | MessageEdited | MessageDeleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """`name` and `value` are the `Button`'s; `text` was typed into its form."""

    id: str
    name: str
    value: str
    place: Place
    person: Person
    message: str = ""
    text: str = ""
