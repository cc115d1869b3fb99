"""What an adapter sees: places, people and messages on the way in; a reply and our one visible message on the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rag_engine.types import Citation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

__all__ = [
    "Attachment",
    "ChatService",
    "Citation",
    "IncomingMessage",
    "Limits",
    "MessageStream",
    "Person",
    "Place",
    "Reply",
    "Source",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message stands. Each part is the platform's own id; `thread` is empty outside threads."""

    platform: str
    workspace: str
    channel: str
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    id: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file in a message. Nothing is downloaded before `open` is called; `size` is in bytes."""

    name: str
    media_type: str
    size: int
    uri: str
    open: Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    id: str
    place: Place
    person: Person
    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One line of the footer: a number, the file's title, and the places in it that were cited ("p. 3, p. 5")."""

    number: int
    title: str
    places: str
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The whole of our message as it should look now: either what is being done, or the text so far with its sources."""

    text: str = ""
    """CommonMark, sources not included."""
    status: str = ""
    """What is being done; shown until there is text."""
    sources: tuple[Source, ...] = ()
    notices: tuple[str, ...] = ()
    """Plain sentences to show under the text."""
    citations: tuple[Citation, ...] = ()
    """The cited passages behind `sources`, for whoever wants to check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the platform allows one message: characters, and seconds between two edits."""

    characters: int
    edit_seconds: float


class MessageStream(Protocol):
    """Our one visible message, edited in place."""

    @property
    def limits(self) -> Limits:
        """Read again before each edit: the adapter widens it when many streams are open."""
        ...

    async def show(self, reply: Reply) -> None:
        """Create or edit the message: the whole reply so far."""
        ...

    async def finish(self, reply: Reply) -> None:
        """The last edit, with the numbered citations."""
        ...


class ChatService(Protocol):
    """All behaviour behind an adapter. Never raises what a person could have been told in the message."""

    async def on_message(self, message: IncomingMessage, stream: MessageStream) -> None: ...
