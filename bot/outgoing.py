"""What goes out to a platform: replies, the pages they are shown on, and the outlet that pages are written through.

Adapters know all of it by the names in `bot.port`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One line of the footer: a number, the file's title, and the places in it that were cited ("p. 3, p. 5")."""

    number: int
    title: str
    places: str
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button under a message; `name` and `value` come back in the `Action`. Together they have 90 characters at most."""

    name: str
    label: str
    value: str = ""
    style: Literal["plain", "primary", "danger"] = "plain"
    feedback: bool = False
    """One of two that rate the answer (`value` ends in `up` or `down`); shown as the platform shows such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to send with a message: the picture of a page (`image/png`), an export."""

    name: str
    media_type: str
    content: bytes
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The whole of our answer as it should look now: either what is being done, or the text so far with its sources."""

    text: str = ""
    """CommonMark, sources not included."""
    status: str = ""
    """What is being done; shown until there is text."""
    sources: tuple[Source, ...] = ()
    notices: tuple[str, ...] = ()
    """Plain sentences to show under the text."""
    citations: tuple[Citation, ...] = ()
    """The cited passages behind `sources`, for whoever wants to check."""
    buttons: tuple[Button, ...] = ()
    """The adapter puts up to five in a row."""
    files: tuple[File, ...] = ()
    """Sent with the final write only."""
    links: frozenset[str] | None = None
    """The only addresses that may be shown as links, beside those of `sources`; None for text of our own, where all may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one of our messages shows, in the Markdown of the platform: safe to send as it is.

    `text`, `footer` and `status` together keep to the limit of characters. `reply` is what the page was made from.
    """

    text: str = ""
    footer: str = ""
    """Sources and notices, in the platform's own small print; only on the last page."""
    status: str = ""
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    reply: Reply = field(default_factory=Reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the platform allows one message: characters (UTF-16 units), and seconds between two edits of one message.

    `dialect` names the Markdown it shows: a module of `bot.rendering.dialects`.
    """

    characters: int
    edit_seconds: float
    dialect: str = "commonmark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """At most `calls` in any `seconds`, counted over all writes whose budget has the same `name`."""

    name: tuple[str, ...]
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way of writing a message, with what each kind of write costs. Other messages of an answer take the last route."""

    name: str
    create: Budget
    edit: Budget
    finish: Budget
    lifetime: float = math.inf
    """Seconds after `create` in which the message can be written this way; later it goes on by the next route."""
    characters: int = 1 << 30
    """The most text that this way can carry."""
    grows: bool = False
    """Text that is shown can only be added to; what differs waits for the final write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One call: message number `part` (from 0) of the answer is to show `page`. `page` is None: take the message away."""

    part: int
    page: Page | None
    route: str
    final: bool = False


class Outlet(Protocol):
    """Our messages under one question: where pages go. Written by `bot.streaming` alone, one call at a time.

    A part that has no message yet is created, one that has is edited. Creating is done once: an adapter that does not know whether
    a call arrived makes sure before it repeats it. Text is sent so that it can ping nobody and unfolds no preview.
    """

    @property
    def limits(self) -> Limits: ...

    @property
    def routes(self) -> Sequence[Route]:
        """The ways of writing, the best first. At least one; the last one works at any time."""
        ...

    async def write(self, write: Write) -> str:
        """Do it; the platform's id of the message. Raises `Throttled`, `Gone`, `Unreachable`, `Refused`.

        A write that is not final raises `Stopped` once a person has stopped the message.
        """
        ...
