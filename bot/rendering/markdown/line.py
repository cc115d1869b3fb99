from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Border(IntEnum):
    """How well a message ends before a line; lower is better."""

    BLOCK = 0
    ITEM = 1
    PART = 2
    LINE = 3
    AFTER_HEADING = 7
    NEVER = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedLine:
    text: str
    border: Border = Border.LINE
    opened: str = ""
    """For a message that starts with this line."""
    resumed: str = ""
    """For a message that starts within this line."""
    closing: str = ""
    """For a message that ends with or within this line."""
    whole: tuple[tuple[int, int], ...] = ()
    code: bool = False
