"""Table sections, each with the header first and an anchor to exactly its rows.

One row is one line, and no section spans missing rows: `rag_engine.text.table_anchors` relies on it.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.sheets._cells.header_rows import layout
from rag_engine.parsers.sheets._cells.typed_cells import cell_of
from rag_engine.text.table_anchors import TableGrid
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_MOST_ROWS: Final = 40
_WEIGHT: Final = 220
"""Approximate tokens; with title and header they fit small embedding models."""
_TOKEN: Final = re.compile(r"\d{1,3}|[^\W\d_]{1,6}|[^\s|]")
_SAMPLE: Final = 4_000
_SEEN: Final = 12
_LONGEST_HEADER: Final = 400
_BAND: Final = 200
_BAND_COLUMNS: Final = 24
_LONGEST_KEY: Final = 60
_LONGEST_TITLE: Final = 120
_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """`start`: the column of the first cell, from 1. `spread`: the cells with merged text repeated."""

    number: int
    cells: tuple[str, ...]
    first_column: int = 1
    spread: tuple[str, ...] = ()

    @property
    def filled(self) -> int:
        return sum(1 for cell in self.cells if cell)

    @property
    def last_column(self) -> int:
        return self.first_column + len(self.cells) - 1


def table_text(rows: Iterable[Sequence[str]]) -> str:
    lines = (" | ".join(_without_empty_end([_one_line(cell) for cell in row])) for row in rows)
    return "\n".join(line for line in lines if line)


def table_grid(names: Sequence[str], rows: Sequence[Sequence[str]]) -> TableGrid:
    """Of rows without places."""
    cells = enumerate((tuple(map(cell_of, row)) for row in rows), 1)
    return TableGrid(number=next(_NUMBERS), names=tuple(names), first_column=1, rows=tuple(cells))


def _one_line(cell: str) -> str:
    return cell if cell.isalnum() or not cell else one_line(cell)


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells


def table_sections(
    rows: Iterable[TableRow],
    *,
    anchor: Callable[[Sequence[TableRow]], str],
    headings: tuple[str, ...] = (),
    headed: bool = False,
) -> Iterator[Section]:
    """Titles above the header become sections and headings."""
    writer = TableWriter(anchor=anchor, headings=headings, headed=headed)
    for row in rows:
        yield from writer.add(row)
    yield from writer.close()


class TableWriter:
    def __init__(
        self,
        *,
        anchor: Callable[[Sequence[TableRow]], str],
        headings: tuple[str, ...] = (),
        headed: bool = False,
    ) -> None:
        self._anchor = anchor
        self._headings = headings
        self._headed = headed
        self._beginning: list[TableRow] | None = []
        self._names: tuple[str, ...] = ()
        self._left = 1
        self._bands: list[tuple[int, int]] = []
        self._density = 0.3
        self._pending: list[TableRow] = []
        self._weight = 0
        self._number = next(_NUMBERS)

    def again(self) -> TableWriter:
        return TableWriter(anchor=self._anchor, headings=self._headings)

    def add(self, row: TableRow) -> Iterator[Section]:
        if self._beginning is None:
            yield from self._take(row)
            return
        self._beginning.append(row)
        if len(self._beginning) == _SEEN:
            yield from self._begin()

    def close(self) -> Iterator[Section]:
        if self._beginning:
            yield from self._begin()
        yield from self._flush()

    def _begin(self) -> Iterator[Section]:
        rows, self._beginning = self._beginning or [], None
        found = layout(rows, headed=self._headed)
        for row in rows[: found.titles]:
            text = table_text([row.cells])
            yield Section(text=text, anchor=self._anchor([row]), headings=self._headings, kind="prose")
            if row.filled == 1 and len(text) <= _LONGEST_TITLE:
                self._headings = (*self._headings, text)
        rest = rows[found.titles + found.headers :]
        if not rest:
            rest = rows[found.titles :]
            self._names = ()
        else:
            self._names = found.names
        self._left = found.left
        sample = " | ".join(cell for row in rest for cell in row.cells)[:_SAMPLE]
        self._density = len(_TOKEN.findall(sample)) / max(len(sample), 1)
        self._bands = self._divided(max(row.last_column for row in rows))
        for row in rest:
            yield from self._take(row)

    def _divided(self, right: int) -> list[tuple[int, int]]:
        width = right - self._left + 1
        too_long = sum(len(name) + 3 for name in self._names) > _LONGEST_HEADER
        if not too_long and (self._names or width <= _BAND_COLUMNS * 2):
            return []
        bands: list[tuple[int, int]] = []
        start = length = 0
        for at in range(width):
            length += (len(self._names[at]) if at < len(self._names) else 0) + 3
            if at > start and (length > _BAND or at - start >= _BAND_COLUMNS):
                bands.append((start, at))
                start, length = at, 0
        return [*bands, (start, width)]

    def _take(self, row: TableRow) -> Iterator[Section]:
        if self._pending and row.number != self._pending[-1].number + 1:
            yield from self._flush()
        if row.first_column < self._left:
            yield from self._flush()
            self._names = ("",) * (self._left - row.first_column) * bool(self._names) + self._names
            self._left = row.first_column
        weight = int(sum(map(len, row.cells)) * self._density) + len(row.cells)
        if self._pending and (
            self._weight + weight > _WEIGHT * max(len(self._bands), 1) or len(self._pending) == _MOST_ROWS
        ):
            yield from self._flush()
        self._pending.append(row)
        self._weight += weight

    def _flush(self) -> Iterator[Section]:
        rows, self._pending, self._weight = self._pending, [], 0
        grid = self._grid(rows)
        for section in self._sections(rows) if rows else ():
            yield replace(section, grid=grid)
            grid = replace(grid, rows=())

    def _grid(self, rows: Sequence[TableRow]) -> TableGrid:
        cells = (tuple(map(cell_of, [*self._blanks(row), *row.cells])) for row in rows)
        numbered = tuple(zip((row.number for row in rows), cells, strict=True))
        return TableGrid(number=self._number, names=self._names, first_column=self._left, rows=numbered)

    def _sections(self, rows: Sequence[TableRow]) -> Iterator[Section]:
        if not self._bands:
            yield self._section(rows, self._names, [self._shifted(row) for row in rows], rows)
            return
        grid = [self._shifted(row) for row in rows]
        keyed = all(row[0] and len(row[0]) <= _LONGEST_KEY for row in grid if row)
        width = max(map(len, grid))
        bands = [*self._bands[:-1], (self._bands[-1][0], max(self._bands[-1][1], width))]
        for start, end in bands:
            key = slice(0, 1 if keyed and start else 0)
            cut = [[*row[key], *row[start:end]] for row in grid]
            if not any(any(row[start:end]) for row in grid):
                continue
            place = [
                TableRow(
                    number=row.number, cells=tuple(cells[start:end]) or ("",), first_column=self._left + start
                )
                for row, cells in zip(rows, grid, strict=True)
            ]
            yield self._section(rows, (*self._names[key], *self._names[start:end]), cut, place)

    def _section(
        self,
        rows: Sequence[TableRow],
        names: Sequence[str],
        cells: Sequence[Sequence[str]],
        place: Sequence[TableRow],
    ) -> Section:
        header = table_text([names]) if names else ""
        text = "\n".join(table_text([row]) or " " for row in cells)
        return Section(
            text=f"{header}\n{text}" if header else text,
            anchor=self._anchor(place),
            headings=self._headings,
            kind="table",
        )

    def _shifted(self, row: TableRow) -> list[str]:
        return [*self._blanks(row), *row.cells]

    def _blanks(self, row: TableRow) -> list[str]:
        return [""] * (row.first_column - self._left)
