"""Pure: how much of a growing text is decided, line by line: the rest waits for more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.rendering.blocks import SourceLine

_ONLY_MARKS: Final = regex.compile(r"[\s>*+\-#_=~`|:.\d)\[\]xX\\]*")
"""A line of these alone may still become anything."""
_FENCE: Final = regex.compile(r"[\s>*+\-\d.)]*(?:`{3,}|~{3,})")
_END_OF_CODE: Final = regex.compile(r"[\s>`~]*")
_DELIMITER: Final = regex.compile(r"[\s>|:\-]*")


def decided(lines: Sequence[SourceLine]) -> tuple[int, bool]:
    """How many of the lines are decided, and whether the last of these is only begun: its end may not be."""
    last = lines[-1]
    if not _waits(last):
        return len(lines), True
    kept = len(lines) - 1
    before = lines[kept - 1] if kept else None
    # the line above a table's rule is its header, and is a paragraph until that is seen
    header = before is not None and before.kind in ("prose", "header") and before.content.startswith("|")
    if header and (last.kind == "delimiter" or _DELIMITER.fullmatch(last.written)):
        kept -= 1
    return kept, False


def _waits(line: SourceLine) -> bool:
    """Whether nothing of the line that is being written can be shown yet."""
    match line.kind:
        case "code" | "close":
            return _END_OF_CODE.fullmatch(line.written) is not None
        case "prose":
            return (
                line.content.startswith("|")
                or _ONLY_MARKS.fullmatch(line.written) is not None
                or _FENCE.match(line.written) is not None
            )
        case _:
            return True
