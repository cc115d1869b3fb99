"""One line as a platform shows it, and where a message may end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Border(IntEnum):
    """How well a message may end before a line: the lower, the better."""

    BLOCK = 0
    ITEM = 1
    PART = 2
    LINE = 3
    AFTER_HEADING = 7
    NEVER = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as it is shown."""

    text: str
    border: Border = Border.LINE
    opened: str = ""
    """What a message must begin with that begins with this line."""
    resumed: str = ""
    """What a message must begin with that begins in the middle of it."""
    closing: str = ""
    """What a message must end with that ends with this line, or in the middle of it."""
    whole: tuple[tuple[int, int], ...] = ()
    """Stretches that should stay in one message."""
    code: bool = False
