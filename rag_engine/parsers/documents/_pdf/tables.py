"""Ruled tables by their lines, others by aligned cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.documents._pdf.paragraphs import is_mark, paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.parsers.documents._pdf.layout import TextBlock
    from rag_engine.parsers.documents._pdf.lines import Box, TextLine

Rows: TypeAlias = tuple[tuple[str, ...], ...]
Row: TypeAlias = "list[TextLine]"
_Rule: TypeAlias = "tuple[float, float, float]"

_CELL_CHARACTERS: Final = 22
_FEWEST_ROWS: Final = 3
_ALIGNED: Final = 3.0
_THIN: Final = 3.0
_FEWEST_LABELS: Final = 4
_FIGURE: Final = re.compile(r"\d|^\W+$")
_MOST_MISSES: Final = 4
_SURE_SIGNS: Final = 4
_LONGEST_CELL: Final = 1_500
_NEXT_LINE: Final = 1.6
_LONGEST_BETWEEN: Final = 60
_ROWS_SEARCHED: Final = 12
_NUMBER: Final = re.compile(r"[\W\d]*\d[\W\d]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    rows: Rows
    lines: tuple[TextLine, ...]


def table_text(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(" | ".join(row) if sum(map(bool, row)) > 1 else "".join(row) for row in rows)


class Rules:
    """Reading drawn lines costs as much as the text."""

    def __init__(self) -> None:
        self.in_vain = 0
        self.expected = False

    def tables(
        self, lines: Sequence[TextLine], drawn: Callable[[], Sequence[Box]], signs: int
    ) -> list[Table]:
        if signs < (_SURE_SIGNS if self.in_vain >= _MOST_MISSES else 1):
            return []
        tables = ruled_tables(lines, drawn())
        self.expected = bool(tables)
        self.in_vain = 0 if tables else self.in_vain + 1
        return tables


def split_titles(rows: Rows) -> tuple[list[str], Rows]:
    at = 0
    while at < len(rows) - 2 and sum(map(bool, rows[at])) <= max(1, len(rows[at]) // 3):
        at += 1
    return [" ".join(filter(None, row)) for row in rows[:at]], rows[at:]


def repeated_header(before: Rows, rows: Rows) -> str:
    if not before or len(before[0]) != len(rows[0]):
        return ""
    header = before[0]
    if header == rows[0] or sum(map(bool, header)) * 2 <= len(header) or any(map(_NUMBER.fullmatch, header)):
        return ""
    return " | ".join(header) + "\n"


def carried_rows(before: Rows, blocks: Sequence[TextBlock]) -> Rows:
    last = blocks[-1]
    if not last.rows and len(blocks) > 1 and len(last.lines) == 1:
        last = blocks[-2]
    rows = split_titles(last.rows)[1]
    if rows and len(blocks) <= _FEWEST_ROWS and repeated_header(before, rows):
        return before[:1]
    return rows[:1]


def rows_of(lines: Iterable[TextLine]) -> list[Row]:
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
    """Rules or cell backgrounds form at least two rows and two columns."""
    across, upright = _rules(drawn)
    tables: list[Table] = []
    for group in _groups(upright):
        top, bottom = min(rule[1] for rule in group), max(rule[2] for rule in group)
        columns = _clusters(rule[0] for rule in group)
        heights = _clusters(
            y
            for y, left, right in across
            if top - _ALIGNED <= y <= bottom + _ALIGNED
            and right > columns[0] - _ALIGNED
            and left < columns[-1] + _ALIGNED
        )
        if len(columns) > 2 and len(heights) > 2:
            table = _filled(_cut(lines, group, columns), columns, heights)
            if table is not None:
                tables.append(table)
    return tables


def _cut(
    lines: Sequence[TextLine], rules: Sequence[_Rule], columns: Sequence[float]
) -> Iterator[tuple[TextLine, TextLine]]:
    for line in lines:
        if bisect_right(columns, line.left + _ALIGNED) == bisect_right(columns, line.right - _ALIGNED):
            yield line, line
            continue
        middle = (line.top + line.bottom) / 2
        places = _clusters(
            place
            for place, top, bottom in rules
            if top < middle < bottom and line.left + _ALIGNED < place < line.right - _ALIGNED
        )
        rest = line
        for place in places:
            at = _blank_at(rest, place)
            if at is not None:
                yield line, rest._replace(text=rest.text[:at], right=place)
                rest = rest._replace(text=rest.text[at + 1 :], left=place + 1)
        yield line, rest


def _blank_at(line: TextLine, place: float) -> int | None:
    expected = len(line.text) * (place - line.left) / max(line.right - line.left, 1.0)
    blanks = [at for at, letter in enumerate(line.text) if letter == " "]
    nearest = min(blanks, key=lambda at: abs(at - expected), default=None)
    return nearest if nearest is not None and abs(nearest - expected) <= 2 + len(line.text) / 8 else None


def _rules(drawn: Sequence[Box]) -> tuple[list[_Rule], list[_Rule]]:
    across: list[_Rule] = []
    upright: list[_Rule] = []
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


def _groups(upright: Iterable[_Rule]) -> Iterator[list[_Rule]]:
    bottom = 0.0
    group: list[_Rule] = []
    for rule in sorted(upright, key=lambda rule: rule[1]):
        if group and rule[1] > bottom + _ALIGNED:
            yield group
            group = []
        bottom = max(bottom, rule[2]) if group else rule[2]
        group.append(rule)
    if group:
        yield group


def _clusters(places: Iterable[float]) -> list[float]:
    clusters: list[float] = []
    for place in sorted(places):
        if not clusters or place - clusters[-1] > _ALIGNED:
            clusters.append(place)
    return clusters


def _filled(
    parts: Iterable[tuple[TextLine, TextLine]], columns: Sequence[float], heights: Sequence[float]
) -> Table | None:
    cells: dict[int, dict[int, Row]] = defaultdict(lambda: defaultdict(list))
    inside: dict[int, TextLine] = {}
    over = 0
    for whole, line in parts:
        middle = (line.top + line.bottom) / 2
        if not (heights[0] < middle < heights[-1] and columns[0] - _ALIGNED < line.left < columns[-1]):
            continue
        column = max(bisect_right(columns, line.left + 1) - 1, 0)
        over += column + 1 < len(columns) and line.right > columns[column + 1] + _ALIGNED
        cells[bisect_right(heights, middle)][column].append(line)
        inside[id(whole)] = whole
    if over * 3 > len(inside):
        return None
    used = sorted({column for row in cells.values() for column in row})
    rows = [
        tuple(one_line(paragraph(row[column])) if column in row else "" for column in used)
        for _, grid_row in sorted(cells.items())
        for row in _rows_within(grid_row)
    ]
    if (
        any(len(text) > _LONGEST_CELL for row in rows for text in row)
        or sum(sum(map(bool, row)) > 1 for row in rows) < 2
    ):
        return None
    return Table(rows=tuple(rows), lines=tuple(inside.values()))


def _rows_within(cells: dict[int, Row]) -> list[dict[int, Row]]:
    column_of = {id(line): column for column, cell in cells.items() for line in cell}
    rows = rows_of(line for cell in cells.values() for line in cell)
    first = min(cells)
    named = sum(column_of[id(row[0])] == first for row in rows)
    alone = sum(len(row) == 1 for row in rows)
    others = [line for row in rows for line in row if column_of[id(line)] != first]
    if (
        len(rows) < 2
        or alone * 5 > len(rows)
        or not (_are_figures(others, rows, named) or _are_values(rows, named))
    ):
        return [cells]
    parted: list[dict[int, Row]] = []
    for row in rows:
        part: dict[int, Row] = defaultdict(list)
        for line in row:
            part[column_of[id(line)]].append(line)
        parted.append(part)
    return parted


def _are_figures(others: Row, rows: Sequence[Row], named: int) -> bool:
    figures = sum(_FIGURE.search(line.text) is not None for line in others)
    return named * 4 >= len(rows) * 3 and figures * 2 >= len(others)


def _are_values(rows: Sequence[Row], named: int) -> bool:
    lines = [line for row in rows for line in row]
    going_on = sum(line.text.lstrip()[:1].islower() for line in lines)
    has_case = sum(line.text.lstrip()[:1].isupper() for line in lines)
    enough = len(rows) >= _FEWEST_LABELS and named * 3 >= len(rows) * 2
    return enough and going_on * 8 <= len(lines) and has_case * 2 >= len(lines)


def aligned_tables(rows: Sequence[Row], *, right_to_left: bool = False) -> list[Table]:
    tables: list[Table] = []
    pending: list[list[Row]] = []
    between: list[Row] = []

    def close() -> None:
        if _is_table(pending):
            lines = tuple(line for row in pending for cell in row for line in cell)
            tables.append(Table(rows=_in_columns(pending, right_to_left=right_to_left), lines=lines))
        pending.clear()
        between.clear()

    for row in rows:
        if len(row) == 1 or (len(row) == 2 and is_mark(row[0].text.strip())):
            cell = _wrapped(pending[-1], row[0]) if pending and not between and len(row) == 1 else None
            if cell is not None:
                cell.append(row[0])
            elif pending and not between and len(row) == 1 and len(row[0].text) < _LONGEST_BETWEEN:
                between.append(row)
            elif pending:
                close()
            continue
        if pending and not _continues(pending, row):
            close()
        pending.extend([[line] for line in heading] for heading in between)
        between.clear()
        pending.append([[line] for line in row])
    close()
    return tables


def _wrapped(above: list[Row], line: TextLine) -> Row | None:
    for cell in above[1:]:
        last = cell[-1]
        if abs(last.left - line.left) < _ALIGNED and 0 < line.base - last.base < _NEXT_LINE * line.size:
            return cell
    return None


def _continues(above: Sequence[list[Row]], row: Row) -> bool:
    last = above[-1][0][0]
    if row[0].top - last.top > 4 * max(row[0].size, last.size):
        return False
    before = [cell[0] for cells in above[-_ROWS_SEARCHED:] for cell in cells]
    aligned = sum(any(_are_aligned(cell, other) for other in before) for cell in row)
    if aligned >= 2 or aligned * 2 >= len(row):
        return True
    return len(above) == 1 and len(row) > 2 and _below(above[0], row)


def _are_aligned(cell: TextLine, other: TextLine) -> bool:
    return abs(cell.left - other.left) < _ALIGNED or abs(cell.right - other.right) < _ALIGNED


def _below(above: list[Row], row: Row) -> bool:
    if len(above) != len(row):
        return False
    below = sum(
        cell[0].left < line.right and line.left < cell[0].right for cell, line in zip(above, row, strict=True)
    )
    return below * 3 >= len(row) * 2


def _is_table(rows: Sequence[Sequence[Row]]) -> bool:
    if sum(len(row) > 1 for row in rows) < _FEWEST_ROWS:
        return False
    cells = [line for row in rows for cell in row for line in cell]
    return sum(len(cell.text.strip()) for cell in cells) < len(cells) * _CELL_CHARACTERS


def _in_columns(rows: Sequence[Sequence[Row]], *, right_to_left: bool) -> Rows:
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
    return max(range(len(edges)), key=lambda at: min(edges[at][1], line.right) - max(edges[at][0], line.left))
