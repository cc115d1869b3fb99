"""Pure: numbered lines, put together into sections that begin where a paragraph or a definition begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PASSAGE = 800
"""Characters: about what one passage holds. Small neighbours are put together up to this, so that an anchor stays exact."""
LONGEST = 4_000
"""Characters after which a section ends even where no paragraph does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file, numbered from 1. A very long line comes in several parts with one number."""

    number: int
    text: str


def group(lines: Iterable[Line], *, starts: Callable[[Line, Line], bool]) -> Iterator[list[Line]]:
    """Lines in groups: a new one begins at a line that `starts` a block (seen with the line before it) when the group
    has grown to a passage, and anywhere when it has grown too long. Blank groups are left out.
    """
    pending: list[Line] = []
    block_start = size = 0
    for line in lines:
        if pending and starts(pending[-1], line):
            if size + len(line.text) > PASSAGE:
                yield from _filled(pending[:])
                pending, size = [], 0
            block_start = len(pending)
        elif size > PASSAGE and 0 < block_start < len(pending):
            # The block that is growing no longer fits beside those before it.
            yield from _filled(pending[:block_start])
            pending = pending[block_start:]
            size = sum(len(kept.text) + 1 for kept in pending)
            block_start = 0
        if size > LONGEST:
            yield from _filled(pending)
            pending, size, block_start = [], 0, 0
        pending.append(line)
        size += len(line.text) + 1
    if size > PASSAGE and 0 < block_start < len(pending):
        yield from _filled(pending[:block_start])
        pending = pending[block_start:]
    yield from _filled(pending)


def lines_anchor(lines: Sequence[Line]) -> str:
    """ "line 7" or "lines 7–12", of the lines that have text."""
    written = [line.number for line in lines if line.text.strip()]
    if not written:
        return ""
    return f"line {written[0]}" if written[0] == written[-1] else f"lines {written[0]}–{written[-1]}"


def _filled(lines: Sequence[Line]) -> Iterator[list[Line]]:
    if any(line.text.strip() for line in lines):
        yield list(lines)
