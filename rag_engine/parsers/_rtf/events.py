"""What reading RTF tells, and what its groups inherit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph's end; `style` and `outline` say whether it is a heading, `label` what its list puts before it."""

    text: str
    style: int = 0
    outline: int | None = None
    label: str = ""
    level: int = 0
    in_table: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A table cell's end; what its paragraphs said came before, but for the last. `depth` is 1 for a table in a table."""

    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEnd:
    """A row's end; `continued` has the positions of cells that are the lower part of one above."""

    continued: frozenset[int]
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A footnote, an endnote, a comment, a header or a footer."""

    kind: str
    text: str
    author: str = ""


Event: TypeAlias = Paragraph | Cell | RowEnd | Note


@dataclass(slots=True)
class Group:
    """What a group inherits and may change until it ends."""

    codec: str
    font: int = -1
    role: str = ""
    skipped: bool = False
    hidden: bool = False
    deleted: bool = False
    raised: bool = False
    fallback: int = 1
    """Characters after a Unicode one that stand in for it."""
    style: int = 0
    outline: int | None = None
    listed: bool = False
    level: int = 0
    in_table: bool = False
    nesting: int = 0
    contents: bool = False
    """Whether this field is a table of contents."""


@dataclass(slots=True)
class Style:
    name: str = ""
    outline: int | None = None
    parent: int | None = None
