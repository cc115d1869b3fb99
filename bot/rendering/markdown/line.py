from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Border(IntEnum):
    """Lower is better for a message's end."""

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
    """For a message that starts here."""
    resumed: str = ""
    """For one that starts within this line."""
    closing: str = ""
    """For one that ends with or within this line."""
    whole: tuple[tuple[int, int], ...] = ()
    code: bool = False
