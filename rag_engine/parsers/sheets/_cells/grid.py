from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.tables import TableRow, TableWriter
from rag_engine.parsers.sheets._cells.cell_kinds import kind, names_columns, usual
from rag_engine.text.table_anchors import cells_anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.types import Section

LAST_COLUMN: Final = 16_384
LAST_ROW: Final = 1 << 24
_BUFFERED: Final = 200
_AHEAD: Final = 4
_TABLE_GAP: Final = 10
_ROW_GAP: Final = 100
_WIDEST: Final = 256
_MOST_COVERING: Final = 512
_LONGEST_REPEATED: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """Filled cells by column (from 1); `wide` maps horizontally merged cells to their last column."""

    number: int
    cells: dict[int, str]
    wide: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Bounds are included and numbered from 1."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


def column_letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def cell_range(title: str) -> Callable[[Sequence[TableRow]], str]:

    def anchor(rows: Sequence[TableRow]) -> str:
        first = column_letters(min(row.first_column for row in rows))
        last = column_letters(max(row.last_column for row in rows))
        return cells_anchor(f"{title}!", (first, rows[0].number), (last, rows[-1].number))

    return anchor


def merged(rows: Iterable[GridRow], areas: Iterable[Area]) -> Iterator[GridRow]:
    """Text is repeated in each non-empty row that a cell covers."""
    waiting = sorted(
        areas, key=lambda area: (area.first_row, area.first_column, area.last_row, area.last_column)
    )
    position = number = 0
    active: list[tuple[int, int, int, str]] = []
    for row in rows:
        while active and active[0][0] < row.number:
            heapq.heappop(active)
        cells, wide = row.cells, dict[int, int]()
        if cells:
            for _, column, last, text in active:
                cells.setdefault(column, text)
                if last > column:
                    wide[column] = last
        while position < len(waiting) and waiting[position].first_row <= row.number:
            area = waiting[position]
            position += 1
            text = cells.get(area.first_column)
            if area.first_row < row.number or not text:
                continue
            if area.last_column > area.first_column:
                wide[area.first_column] = min(area.last_column, LAST_COLUMN)
            if area.last_row > row.number and len(text) <= _LONGEST_REPEATED and len(active) < _MOST_COVERING:
                number += 1
                heapq.heappush(active, (area.last_row, area.first_column, area.last_column, text))
        yield GridRow(number=row.number, cells=cells, wide=wide) if wide else row


def sheet_sections(
    rows: Iterable[GridRow], *, title: str, headings: tuple[str, ...], tables: Sequence[Area] = ()
) -> Iterator[Section]:
    """`tables` are declared ranges; their first row is the header."""
    anchor = cell_range(title)

    def writer(*caption: str, headed: bool = False) -> TableWriter:
        return TableWriter(anchor=anchor, headings=(*headings, *caption), headed=headed)

    for block in _blocks(row for row in rows if row.cells):
        seen = list(islice(block, _BUFFERED))
        own = sorted(
            (
                area
                for area in tables
                if area.first_row <= seen[-1].number and area.last_row >= seen[0].number
            ),
            key=lambda area: (area.first_row, area.first_column),
        )
        captions, seen = _captions(seen, own)
        spans = _spans([_without(row, own) for row in seen])
        writers = [(area, writer(*captions.get(area, ()), headed=True)) for area in own]
        others = [(span, writer()) for span in spans]
        apart = writer()
        if len(seen) < _BUFFERED:
            yield from _in_order(seen, writers, others, apart)
            continue
        for row in chain(seen, block):
            if not own and len(spans) == 1 and _lies_within(row, spans[0]):
                yield from _add(others[0][1], row, row.cells)
                continue
            for area, its_writer in writers:
                yield from _add(its_writer, row, _inside(row, area))
            rest = _without(row, own)
            for span, its_writer in others:
                yield from _add(its_writer, row, _within(rest, span))
            yield from _add(apart, row, _outside(rest, spans))
        for _, its_writer in (*writers, *others):
            yield from its_writer.close()
        yield from apart.close()


def _captions(rows: list[GridRow], areas: Sequence[Area]) -> tuple[dict[Area, tuple[str]], list[GridRow]]:
    """One cell over each of several declared tables, and the other rows."""
    first = min((area.first_row for area in areas), default=0)
    row = next((one for one in reversed(rows) if one.number < first), None)
    if len(areas) < 2 or row is None or first - row.number > _ROW_GAP:
        return {}, rows
    over = {area: _columns_of(row, area) for area in areas if area.first_row == first}
    if any(len(found) > 1 for found in over.values()) or sum(map(len, over.values())) != len(row.cells):
        return {}, rows
    return {area: (found[0],) for area, found in over.items() if found}, [
        one for one in rows if one is not row
    ]


def _columns_of(row: GridRow, area: Area) -> list[str]:
    return [text for column, text in row.cells.items() if area.first_column <= column <= area.last_column]


def _in_order(
    rows: Sequence[GridRow],
    writers: Sequence[tuple[Area, TableWriter]],
    others: Sequence[tuple[tuple[int, int], TableWriter]],
    apart: TableWriter,
) -> Iterator[Section]:
    areas = [area for area, _ in writers]
    rest = [_without(row, areas) for row in rows]
    first = min((area.first_row for area in areas), default=0)
    for span, its_writer in others:
        for row in rest:
            if row.number < first:
                yield from _add(its_writer, row, _within(row, span))
        if first:
            yield from its_writer.close()
    for area, its_writer in writers:
        for row in rows:
            yield from _add(its_writer, row, _inside(row, area))
        yield from its_writer.close()
    for span, its_writer in others:
        below = its_writer
        if first:
            below = its_writer.again()
        for row in rest:
            if row.number >= first:
                yield from _add(below, row, _within(row, span))
        yield from below.close()
    spans = [span for span, _ in others]
    for row in rest:
        yield from _add(apart, row, _outside(row, spans))
    yield from apart.close()


def _add(writer: TableWriter, row: GridRow, cells: dict[int, str]) -> Iterator[Section]:
    if not cells:
        return
    first, last = min(cells), max(cells)
    if last - first > len(cells) + LAST_COLUMN // 16:
        gap = max(zip(sorted(cells), sorted(cells)[1:], strict=False), key=lambda pair: pair[1] - pair[0])
        yield from _add(writer, row, {column: text for column, text in cells.items() if column <= gap[0]})
        yield from _add(writer, row, {column: text for column, text in cells.items() if column >= gap[1]})
        return
    spread: tuple[str, ...] = ()
    if row.wide:
        end = max(last, *(min(row.wide.get(column, column), column + _WIDEST) for column in cells))
        texts = dict(cells)
        for column, until in row.wide.items():
            if column in cells:
                for covered in range(column + 1, min(until, column + _WIDEST) + 1):
                    texts.setdefault(covered, cells[column])
        spread = tuple(texts.get(column, "") for column in range(first, end + 1))
        last = end
    plain = tuple(cells.get(column, "") for column in range(first, last + 1))
    yield from writer.add(TableRow(number=row.number, cells=plain, first_column=first, spread=spread))


def _inside(row: GridRow, area: Area) -> dict[int, str]:
    if not area.first_row <= row.number <= area.last_row:
        return {}
    return {
        column: text for column, text in row.cells.items() if area.first_column <= column <= area.last_column
    }


def _without(row: GridRow, areas: Sequence[Area]) -> GridRow:
    covering = [area for area in areas if area.first_row <= row.number <= area.last_row]
    if not covering:
        return row
    cells = {
        column: text
        for column, text in row.cells.items()
        if not any(area.first_column <= column <= area.last_column for area in covering)
    }
    return GridRow(number=row.number, cells=cells, wide=row.wide)


def _within(row: GridRow, span: tuple[int, int]) -> dict[int, str]:
    return {column: text for column, text in row.cells.items() if span[0] <= column <= span[1]}


def _lies_within(row: GridRow, span: tuple[int, int]) -> bool:
    return span[0] <= min(row.cells) and max(row.cells) <= span[1]


def _outside(row: GridRow, spans: Sequence[tuple[int, int]]) -> dict[int, str]:
    return {
        column: text
        for column, text in row.cells.items()
        if not any(first <= column <= last for first, last in spans)
    }


def _spans(rows: Sequence[GridRow]) -> list[tuple[int, int]]:
    columns = sorted({column for row in rows for column in row.cells})
    if not columns:
        return []
    runs: list[tuple[int, int]] = [(columns[0], columns[0])]
    for column in columns[1:]:
        first, last = runs[-1]
        runs[-1:] = [(first, column)] if column == last + 1 else [(first, last), (column, column)]
    spans = [runs[0]]
    for run in runs[1:]:
        left = spans[-1]
        far = run[0] - left[1] > _TABLE_GAP
        if far or (_is_table(rows, left) and _is_table(rows, run)):
            spans.append(run)
        else:
            spans[-1] = (left[0], run[1])
    starts = [first for first, _ in spans[1:]]
    # Later rows may be a little wider than the first ones.
    ends = [min(last + _TABLE_GAP, start - 1) for (_, last), start in zip(spans, starts, strict=False)]
    return [
        (1 if index == 0 and first <= _TABLE_GAP else first, end)
        for index, ((first, _), end) in enumerate(zip(spans, [*ends, spans[-1][1] + _TABLE_GAP], strict=True))
    ]


def _is_table(rows: Sequence[GridRow], span: tuple[int, int]) -> bool:
    if span[1] == span[0]:
        return False
    filled = [row for row in rows if sum(1 for column in row.cells if span[0] <= column <= span[1]) > 1]
    if len(filled) < 2:
        return False
    header = [filled[0].cells.get(column, "") for column in range(span[0], span[1] + 1)]
    firsts = [row.cells.get(span[0], "") for row in filled[1:]]
    return all(header) and names_columns(header) and kind(header[0]) == "words" and usual(firsts) != "number"


def _blocks(rows: Iterable[GridRow]) -> Iterator[Iterator[GridRow]]:
    for _, block in groupby(_numbered(rows), key=lambda numbered: numbered[0]):
        yield (row for _, row in block)


def _numbered(rows: Iterable[GridRow]) -> Iterator[tuple[int, GridRow]]:
    rows = iter(rows)
    ahead = list(islice(rows, _AHEAD))
    block = above = 0
    left, right, numbers, only_titles = 0, 0, False, True
    while ahead:
        row = ahead[0]
        first, last = min(row.cells), max(row.cells)
        gap = row.number > above + 1
        if not block or (
            gap
            and (
                row.number > above + _ROW_GAP
                or first > right + 1
                or last < left - 1
                or (not only_titles and _begins(ahead, (left, right), numbers=numbers))
            )
        ):
            block, left, right, numbers = block + 1, first, last, False
            only_titles = True
        only_titles = only_titles and all(column + 1 not in row.cells for column in row.cells)
        left, right, above = min(left, first), max(right, last), row.number
        numbers = numbers or any(kind(cell) == "number" for cell in row.cells.values())
        yield block, row
        ahead = [*ahead[1:], *islice(rows, 1)]


def _begins(ahead: Sequence[GridRow], span: tuple[int, int], *, numbers: bool) -> bool:
    for index, row in enumerate(ahead):
        if index and row.number != ahead[index - 1].number + 1:
            return False
        if len(row.cells) > 1:
            if not names_columns(row.cells.values()):
                return False
            below = ahead[index + 1 : index + 2]
            counted = any(kind(cell) == "number" for line in below for cell in line.cells.values())
            return bool(index or numbers or counted or (min(row.cells), max(row.cells)) != span)
    return False
