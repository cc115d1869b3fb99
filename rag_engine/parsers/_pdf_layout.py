"""Pure: from the lines of a page, with their places and sizes, to paragraphs, tables and columns in reading order.

Distances are in points, from the top left corner of the page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_HYPHENS: Final = ("-", "\u00ad", "\u2010")
_WIDE: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_CELL_CHARACTERS: Final = 22
"""Cells of a table are shorter than this on average; the lines of a column of prose are longer."""
_FEWEST_ROWS: Final = 3
_NEXT_LINE: Final = 1.8
"""Line spacings, in sizes of the letters, up to which a line is the next of its paragraph."""
_ALIGNED: Final = 3.0
"""Points by which two left edges of one column may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line of a page as the PDF draws it; a row of a table is several."""

    text: str
    top: float
    left: float
    size: float
    bold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines that belong together. Rows of a table hold one line per cell."""

    lines: tuple[TextLine, ...]
    rows: tuple[tuple[TextLine, ...], ...] = ()

    @property
    def top(self) -> float:
        return min(line.top for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)


def arranged(blocks: Sequence[Sequence[TextLine]]) -> list[Block]:
    """The blocks of a page with its tables put together row by row, and columns drawn line by line taken apart."""
    blocks = _mended(blocks)
    rows = _rows(line for block in blocks for line in block)
    if all(len(row) == 1 for row in rows):
        return [Block(lines=tuple(block)) for block in blocks]
    tables = list(_tables(rows))
    table_of = {id(line): number for number, table in enumerate(tables) for row in table for line in row}
    arranged_blocks: list[Block] = []
    done: set[int] = set()
    for block in blocks:
        prose: list[TextLine] = []
        for line in block:
            number = table_of.get(id(line))
            if number is None:
                prose.append(line)
            elif number not in done:
                done.add(number)
                arranged_blocks += _prose(prose)
                prose = []
                table = tables[number]
                arranged_blocks.append(
                    Block(lines=tuple(line for row in table for line in row), rows=tuple(table))
                )
        arranged_blocks += _prose(prose)
    return arranged_blocks


def _mended(blocks: Sequence[Sequence[TextLine]]) -> list[list[TextLine]]:
    """The blocks, those put together again that were parted in the middle of a sentence."""
    mended: list[list[TextLine]] = []
    for block in blocks:
        if mended and block and mended[-1] and _goes_on(mended[-1][-1], block[0]):
            mended[-1].extend(block)
        else:
            mended.append(list(block))
    return mended


def _goes_on(last: TextLine, first: TextLine) -> bool:
    """Whether `first` is the next line of the paragraph of `last`: it starts small, right under it and alike."""
    return (
        first.text.lstrip()[:1].islower()
        and abs(first.left - last.left) < _ALIGNED
        and 0 < first.top - last.top < _NEXT_LINE * last.size
        and (first.size, first.bold) == (last.size, last.bold)
    )


def paragraph(lines: Sequence[TextLine], page_text: str = "") -> str:
    """The text of a paragraph: words broken at line ends mended, full lines joined, short lines kept as they are.

    A hyphen stays where `page_text` has the same word with the hyphen elsewhere.
    """
    text = ""
    longest = max((len(line.text) for line in lines), default=0)
    for before, line in pairwise((None, *lines)):
        if line is None:
            continue
        if before is None:
            text = line.text.strip()
        elif abs(before.top - line.top) < line.size * 0.4:
            text = f"{text} {line.text.strip()}"
        else:
            full = len(before.text.strip()) >= longest * 0.6
            text = _continued(text, line.text.strip(), full=full, page_text=page_text)
    return text


def table_text(rows: Iterable[Sequence[TextLine]]) -> str:
    """One row a line, cells joined by " | "."""
    return "\n".join(" | ".join(" ".join(cell.text.split()) for cell in row) for row in rows)


def _continued(text: str, following: str, *, full: bool, page_text: str) -> str:
    if text.endswith(_HYPHENS) and following[:1].islower() and text[-2:-1].isalpha():
        first = text[:-1].split()[-1]
        second = following.split()[0]
        soft = text.endswith("\u00ad")
        if not soft and ("-" in first or f"{first}-{second}" in page_text):
            return text + following
        return text[:-1] + following
    if not full:
        return f"{text}\n{following}"
    if _WIDE.match(text[-1:]) and _WIDE.match(following[:1]):
        return text + following
    return f"{text} {following}"


def _prose(lines: Sequence[TextLine]) -> list[Block]:
    """One block, or one for each column when lines of two columns alternate."""
    if not lines:
        return []
    beside = sum(
        abs(first.top - second.top) < second.size * 0.4 and first.left < second.left
        for first, second in pairwise(lines)
    )
    if beside < _FEWEST_ROWS or sum(len(line.text) for line in lines) < len(lines) * _CELL_CHARACTERS * 0.8:
        return [Block(lines=tuple(lines))]
    columns: dict[int, list[TextLine]] = defaultdict(list)
    edges: list[float] = []
    for line in sorted(lines, key=lambda line: line.left):
        if not edges or line.left - edges[-1] > 8 * line.size:
            edges.append(line.left)
    for line in lines:
        columns[max(number for number, edge in enumerate(edges) if line.left >= edge)].append(line)
    if min(len(column) for column in columns.values()) < _FEWEST_ROWS:
        return [Block(lines=tuple(lines))]
    return [Block(lines=tuple(columns[number])) for number in sorted(columns)]


def _rows(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Lines at one height, from left to right; the rows from top to bottom."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.top):
        if rows and line.top - rows[-1][0].top < min(line.size, rows[-1][0].size) * 0.4:
            rows[-1].append(line)
        else:
            rows.append([line])
    for row in rows:
        row.sort(key=lambda line: line.left)
    return rows


def _tables(rows: Sequence[Sequence[TextLine]]) -> Iterator[list[tuple[TextLine, ...]]]:
    """Runs of rows whose short cells stand below each other."""
    pending: list[tuple[TextLine, ...]] = []
    for row in rows:
        if pending and not _continues_table(pending[-1], row):
            if _is_table(pending):
                yield pending
            pending = []
        if len(row) > 1:
            pending.append(tuple(row))
    if _is_table(pending):
        yield pending


def _continues_table(above: Sequence[TextLine], row: Sequence[TextLine]) -> bool:
    if len(row) < 2 or row[0].top - above[0].top > 4 * max(row[0].size, above[0].size):
        return False
    aligned = sum(any(abs(cell.left - other.left) < _ALIGNED for other in above) for cell in row)
    return aligned >= 2 or aligned * 2 >= len(row)


def _is_table(rows: Sequence[Sequence[TextLine]]) -> bool:
    if len(rows) < _FEWEST_ROWS:
        return False
    cells = [cell for row in rows for cell in row]
    return sum(len(cell.text.strip()) for cell in cells) < len(cells) * _CELL_CHARACTERS
