from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.rendering.safety.pings import without_pings

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Defaults are CommonMark with tables and strikethrough."""

    footer: Callable[[Reply, int], str]
    """In at most so many UTF-16 units, naming every source if they fit."""
    footer_characters: int
    status: Callable[[str], str] = without_pings
    """May contain names."""
    verbatim: bool = False
    angles: bool = False
    """`<` always begins markup."""
    underscores_underline: bool = False
    """`__` underlines; strong is `**`."""
    bars_hide: bool = False
    """`||` hides text."""
    headings: int = 6
    rule: str = ""
    """A thematic break; empty: as written."""
    flat: bool = False
    """One kind of quote, dotted numbers, bullets `-` and `*`, three-backtick fences outside lists."""
    boxes: tuple[str, str] | None = None
    """An open and a ticked task; None: as written."""
    tables: Literal["written", "aligned"] = "written"
    columns: int = 1000
    """Widest table: in cells, or characters if aligned."""
    rows: int = 1 << 30
    closes: bool = False
    """An open fence is no code."""
