from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PASSAGE = 800
"""Characters; larger groups would blur anchors."""
LONGEST = 4_000
"""Characters; ends a section inside a paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLine:
    number: int
    text: str


def group(
    lines: Iterable[NumberedLine], *, starts: Callable[[NumberedLine, NumberedLine], bool]
) -> Iterator[list[NumberedLine]]:
    pending: list[NumberedLine] = []
    block_start = size = 0
    for line in lines:
        if pending and starts(pending[-1], line):
            if size + len(line.text) > PASSAGE:
                yield from _filled(pending[:])
                pending, size = [], 0
            block_start = len(pending)
        elif size > PASSAGE and 0 < block_start < len(pending):
            yield from _filled(pending[:block_start])
            pending = pending[block_start:]
            size = sum(len(pending_line.text) + 1 for pending_line in pending)
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


def lines_anchor(lines: Sequence[NumberedLine]) -> str:
    written = [line.number for line in lines if line.text.strip()]
    if not written:
        return ""
    return f"line {written[0]}" if written[0] == written[-1] else f"lines {written[0]}–{written[-1]}"


def _filled(lines: Sequence[NumberedLine]) -> Iterator[list[NumberedLine]]:
    if any(line.text.strip() for line in lines):
        yield list(lines)
