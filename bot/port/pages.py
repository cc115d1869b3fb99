from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.research.findings import PlanStep
    from rag_engine.types import Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A line of the footer: number, file title, and cited places ("p. 3, p. 5")."""

    number: int
    title: str
    places: str
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """Both come back in the `Action`: at most 90 characters together."""

    name: str
    label: str
    value: str = ""
    style: Literal["plain", "primary", "danger"] = "plain"
    feedback: bool = False
    """`value` ends in `up` or `down`; shown in the platform's own way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    name: str
    media_type: str
    content: bytes
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    text: str = ""
    """CommonMark without the sources."""
    status: str = ""
    """Current activity; shown until there is text."""
    steps: tuple[PlanStep, ...] = ()
    sources: tuple[Source, ...] = ()
    notices: tuple[str, ...] = ()
    language: str = "en"
    """Of small print outside `notices` (ISO 639-1)."""
    citations: tuple[Citation, ...] = ()
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    links: frozenset[str] | None = None
    """To show as links, besides those of `sources`; None: all, for text of our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """In the platform's Markdown, safe to send. `text`, `footer` and `status` together fit the limit."""

    text: str = ""
    footer: str = ""
    """Only on the last page."""
    status: str = ""
    """One line, then one for each of `steps`."""
    steps: tuple[PlanStep, ...] = ()
    buttons: tuple[Button, ...] = ()
    files: tuple[File, ...] = ()
    reply: Reply = field(default_factory=Reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformLimits:
    """Characters are UTF-16 units. `dialect`: a module of `bot.rendering.dialects`."""

    characters: int
    edit_seconds: float
    dialect: str = "commonmark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """In any `seconds`, over all writes whose budget has the same `name`."""

    name: tuple[str, ...]
    calls: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """For an answer's first message, with a budget per kind of write. Later messages use the last route."""

    name: str
    create: Budget
    edit: Budget
    finish: Budget
    lifetime: float = math.inf
    """Seconds after `create`; then the next route continues the message."""
    characters: int = 1 << 30
    grows: bool = False
    """Shown text only grows; other changes wait for the final write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """`part` counts from 0; a `page` of None deletes it."""

    part: int
    page: Page | None
    route: str
    final: bool = False


class Outlet(Protocol):
    """Only `bot.streaming` writes to it, one call at a time. An adapter unsure whether a call arrived finds out before
    it repeats it. Text never pings anyone or unfolds a preview.
    """

    @property
    def limits(self) -> PlatformLimits: ...

    @property
    def routes(self) -> Sequence[Route]:
        """Best first. The last always works."""
        ...

    async def write(self, write: Write) -> str:
        """The message's id. Raises `Throttled`, `Gone`, `Unreachable`, `WriteRefused`; unless final, also `Stopped`."""
        ...
