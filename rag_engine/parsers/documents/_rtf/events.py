from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class RtfParagraph:
    text: str
    style: int = 0
    outline: int | None = None
    label: str = ""
    level: int = 0
    in_table: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RtfCell:
    """The end of a cell, with its last paragraph; `depth` is 1 in a nested table."""

    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEnd:
    """`continued`: positions of vertically merged cells."""

    continued: frozenset[int]
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RtfNote:
    kind: str
    text: str
    author: str = ""


Event: TypeAlias = RtfParagraph | RtfCell | RowEnd | RtfNote


@dataclass(slots=True)
class Group:
    codec: str
    font: int = -1
    role: str = ""
    skipped: bool = False
    hidden: bool = False
    deleted: bool = False
    raised: bool = False
    fallback: int = 1
    """Replacement characters after a Unicode character (`\\uc`)."""
    style: int = 0
    outline: int | None = None
    listed: bool = False
    level: int = 0
    in_table: bool = False
    nesting: int = 0
    contents: bool = False


@dataclass(slots=True)
class RtfStyle:
    name: str = ""
    outline: int | None = None
    parent: int | None = None
