"""Pure: the tables of a page: ruled ones by what is drawn, others by cells that stand below each other."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.parsers._pdf_paragraphs import is_mark, paragraph
from rag_engine.parsers._sections import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.parsers._pdf_layout import Block
    from rag_engine.parsers._pdf_lines import Box, TextLine

Rows: TypeAlias = tuple[tuple[str, ...], ...]
Row: TypeAlias = "list[TextLine]"

_CELL_CHARACTERS: Final = 22
"""Cells of a table without rules are shorter than this on average; the lines of a column of prose are longer."""
_FEWEST_ROWS: Final = 3
_ALIGNED: Final = 3.0
"""Points by which two left edges of one column, or two rules of one line, may differ."""
_THIN: Final = 3.0
_PATIENCE: Final = 4
"""Pages on which rules of tables are looked for in vain before it takes more to look again."""
_SURE_SIGNS: Final = 4
_LONGEST_CELL: Final = 1_500
"""Characters: what is longer stands in a frame of the layout, and in no cell."""
_NEXT_LINE: Final = 1.6
_NUMBER: Final = re.compile(r"[\W\d]*\d[\W\d]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells from left to right, and the lines that they are made of."""

    rows: Rows
    lines: tuple[TextLine, ...]


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """One row a line, cells joined by " | "."""
    return "\n".join(" | ".join(row) for row in rows)


class Rules:
    """Whether the pages so far had ruled tables: to look for what is drawn costs as much as the text of a page."""

    def __init__(self) -> None:
        self.in_vain = 0
        self.expected = False

    def tables(
        self, lines: Sequence[TextLine], drawn: Callable[[], Sequence[Box]], signs: int
    ) -> list[Table]:
        """The ruled tables of a page with so many signs of one."""
        if signs < (_SURE_SIGNS if self.in_vain >= _PATIENCE else 1):
            return []
        tables = ruled_tables(lines, drawn())
        self.expected = bool(tables)
        self.in_vain = 0 if tables else self.in_vain + 1
        return tables


def repeated_header(before: Rows, rows: Rows) -> str:
    """The header line to put before `rows` when they go on with the table that the page before ended with."""
    if not before or len(before[0]) != len(rows[0]):
        return ""
    header = before[0]
    if header == rows[0] or sum(map(bool, header)) * 2 <= len(header) or any(map(_NUMBER.fullmatch, header)):
        return ""
    return " | ".join(header) + "\n"


def carried_rows(before: Rows, blocks: Sequence[Block]) -> Rows:
    """The table that a page ends with, its header that of the page on which it began."""
    rows = blocks[-1].rows
    if rows and len(blocks) == 1 and repeated_header(before, rows):
        return before[:1]
    return rows[:1]


def rows_of(lines: Iterable[TextLine]) -> list[Row]:
    """Lines that stand at one height, from left to right; the rows from top to bottom."""
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: line.base):
        if rows and line.base - rows[-1][0].base < min(line.size, rows[-1][0].size) * 0.4:
            rows[-1].append(line)
        else:
            rows.append([line])
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda line: line.left)
    return rows


def ruled_tables(lines: Sequence[TextLine], drawn: Sequence[Box]) -> list[Table]:
    """The tables of which rules or the edges of coloured cells part at least two rows and two columns."""
    across, upright = _rules(drawn)
    tables: list[Table] = []
    for top, bottom, places in _groups(upright):
        columns = _together(places)
        heights = _together(
            [
                y
                for y, left, right in across
                if top - _ALIGNED <= y <= bottom + _ALIGNED
                and right > columns[0] - _ALIGNED
                and left < columns[-1] + _ALIGNED
            ]
        )
        if len(columns) > 2 and len(heights) > 2:
            table = _filled(lines, columns, heights)
            if table is not None:
                tables.append(table)
    return tables


def _rules(
    drawn: Sequence[Box],
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """Rules across: height, left, right; and upright: place, top, bottom."""
    across: list[tuple[float, float, float]] = []
    upright: list[tuple[float, float, float]] = []
    for left, top, right, bottom in drawn:
        width, height = right - left, bottom - top
        if height <= _THIN < width:
            across.append(((top + bottom) / 2, left, right))
        elif width <= _THIN < height:
            upright.append(((left + right) / 2, top, bottom))
        elif width > 3 * _THIN and height > 2 * _THIN:
            across += ((top, left, right), (bottom, left, right))
            upright += ((left, top, bottom), (right, top, bottom))
    return across, upright


def _groups(upright: Iterable[tuple[float, float, float]]) -> Iterator[tuple[float, float, list[float]]]:
    """Upright rules that go on where others end, as those of one table do: top, bottom, places."""
    top = bottom = 0.0
    places: list[float] = []
    for place, start, end in sorted(upright, key=lambda rule: rule[1]):
        if places and start > bottom + _ALIGNED:
            yield top, bottom, places
            places = []
        if not places:
            top, bottom = start, end
        bottom = max(bottom, end)
        places.append(place)
    if places:
        yield top, bottom, places


def _together(places: Iterable[float]) -> list[float]:
    """Places, those that are next to each other as one."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > _ALIGNED:
            kept.append(place)
    return kept


def _filled(lines: Sequence[TextLine], columns: Sequence[float], heights: Sequence[float]) -> Table | None:
    """The grid with its text, unless that shows it to be no table: lines go over its rules, or it is a frame of the layout."""
    cells: dict[tuple[int, int], list[TextLine]] = defaultdict(list)
    inside: list[TextLine] = []
    over = 0
    for line in lines:
        middle = (line.top + line.bottom) / 2
        if not (heights[0] < middle < heights[-1] and columns[0] - _ALIGNED < line.left < columns[-1]):
            continue
        column = max(bisect_right(columns, line.left + 1) - 1, 0)
        over += column + 1 < len(columns) and line.right > columns[column + 1] + _ALIGNED
        cells[bisect_right(heights, middle) - 1, column].append(line)
        inside.append(line)
    if over * 3 > len(inside):
        return None
    texts = {place: one_line(paragraph(cell)) for place, cell in cells.items()}
    if any(len(text) > _LONGEST_CELL for text in texts.values()):
        return None
    used_rows, used_columns = sorted({row for row, _ in texts}), sorted({column for _, column in texts})
    rows = tuple(tuple(texts.get((row, column), "") for column in used_columns) for row in used_rows)
    if sum(sum(map(bool, row)) > 1 for row in rows) < 2:
        return None
    return Table(rows=rows, lines=tuple(inside))


def aligned_tables(rows: Sequence[Row], *, right_to_left: bool = False) -> list[Table]:
    """Runs of rows whose short cells stand below each other."""
    tables: list[Table] = []
    pending: list[list[Row]] = []

    def close() -> None:
        if _is_table(pending):
            lines = tuple(line for row in pending for cell in row for line in cell)
            tables.append(Table(rows=_in_columns(pending, right_to_left=right_to_left), lines=lines))
        pending.clear()

    for row in rows:
        if len(row) == 1:
            cell = _wrapped(pending[-1], row[0]) if pending else None
            if cell is not None:
                cell.append(row[0])
            elif (pending and row[0].top - pending[-1][0][0].top > 2 * row[0].size) or pending:
                close()
            continue
        if is_mark(row[0].text.strip()) and len(row) == 2:
            close()
            continue
        if pending and not _continues(pending[-1], row):
            close()
        pending.append([[line] for line in row])
    close()
    return tables


def _wrapped(above: list[Row], line: TextLine) -> Row | None:
    """The cell of the row above that `line` goes on, if it is right under one other than the first."""
    for cell in above[1:]:
        last = cell[-1]
        if abs(last.left - line.left) < _ALIGNED and 0 < line.base - last.base < _NEXT_LINE * line.size:
            return cell
    return None


def _continues(above: list[Row], row: Row) -> bool:
    if row[0].top - above[0][0].top > 4 * max(row[0].size, above[0][0].size):
        return False
    aligned = sum(
        any(
            abs(cell.left - other[0].left) < _ALIGNED or abs(cell.right - other[0].right) < _ALIGNED
            for other in above
        )
        for cell in row
    )
    return aligned >= 2 or aligned * 2 >= len(row)


def _is_table(rows: Sequence[Sequence[Row]]) -> bool:
    if len(rows) < _FEWEST_ROWS:
        return False
    cells = [line for row in rows for cell in row for line in cell]
    return sum(len(cell.text.strip()) for cell in cells) < len(cells) * _CELL_CHARACTERS


def _in_columns(rows: Sequence[Sequence[Row]], *, right_to_left: bool) -> Rows:
    """The texts of the rows with a cell for every column, as far as it can be told which are missing."""
    most = max(map(len, rows))
    full = [row for row in rows if len(row) == most]
    edges = [
        (min(row[at][0].left for row in full), max(line.right for row in full for line in row[at]))
        for at in range(most)
    ]
    known = all(right <= left + _ALIGNED for (_, right), (left, _) in pairwise(edges))
    result: list[tuple[str, ...]] = []
    for row in rows:
        texts = [one_line(paragraph(cell)) for cell in row]
        if known and len(row) < most:
            placed = [""] * most
            for cell, text in zip(row, texts, strict=True):
                at = _column(edges, cell[0])
                placed[at] = f"{placed[at]} {text}".strip()
            texts = placed
        result.append(tuple(reversed(texts) if right_to_left else texts))
    return tuple(result)


def _column(edges: Sequence[tuple[float, float]], line: TextLine) -> int:
    """The column that most of the line stands in, or the nearest."""
    return max(
        range(len(edges)),
        key=lambda at: min(edges[at][1], line.right) - max(edges[at][0], line.left),
    )
