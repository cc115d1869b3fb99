"""What a platform's Markdown is like: one value a platform, in `bot.rendering.dialects`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one platform's Markdown differs from CommonMark with tables and strikethrough; the defaults are CommonMark itself."""

    footer: Callable[[Reply, int], str]
    """Sources and notices in small print, in so many UTF-16 units at most; one that names every source where that fits."""
    footer_characters: int
    """The longest footer the platform takes, whatever the room."""
    verbatim: bool = False
    """Text is shown as it is: no links are made of it and nobody is pinged."""
    angles: bool = False
    """`<` begins the platform's own markup anywhere; it is written as an entity."""
    underscores_underline: bool = False
    """`__` underlines: strong emphasis must be written `**`."""
    bars_hide: bool = False
    """`||` hides what stands between two of them."""
    headings: int = 6
    """The deepest heading that is shown as one."""
    rule: str = ""
    """What is shown for a thematic break; empty: as written."""
    flat: bool = False
    """One kind of quote, numbers with a dot, bullets `-` and `*`, code fences of three backticks outside lists."""
    boxes: tuple[str, str] | None = None
    """What is shown for an open and a ticked box of a task list; None: as written."""
    tables: Literal["written", "aligned"] = "written"
    columns: int = 1000
    """The widest table that is shown as one: cells side by side, or characters when aligned."""
    rows: int = 1 << 30
    """The most rows of one table."""
    closes: bool = False
    """A code fence that is still open is not shown as code."""
