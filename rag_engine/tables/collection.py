from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.sheets._cells.grid import column_letters, column_number
from rag_engine.tables import lists, table_file
from rag_engine.tables.columns import ColumnProfile, readings, sql_name, typed_columns
from rag_engine.tables.totals import TotalRows
from rag_engine.tables.types import MOST_VALUES, TypedColumn, TypedTable
from rag_engine.tables.values import is_empty
from rag_engine.text.table_anchors import cells_anchor, rows_anchor, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rag_engine.tables.columns import CellReading
    from rag_engine.tables.types import Value
    from rag_engine.text.table_anchors import Cell, TableGrid
    from rag_engine.types import Document, Section

_CELLS: Final = re.compile(r"(.*!)[A-Z]{1,3}[0-9]{1,9}(?::[A-Z]{1,3}[0-9]{1,9})?", re.DOTALL)
_ROWS: Final = re.compile(r"(|.* › )(row)s? [0-9]{1,12}(?:–[0-9]{1,12})?", re.DOTALL)
_SEPARATOR: Final = " | "
_LONGEST_CAPTION: Final = 120
_COUNTED_VALUES: Final = 20_000
_LONGEST_VALUE: Final = 80
_MOST_NAMED: Final = 50
_WIDE: Final = 4
_NAME_WORDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimits:
    """A table beyond them keeps its columns and no rows."""

    rows: int = 200_000
    cells: int = 3_000_000
    columns: int = 300
    tables: int = 500


@dataclass(slots=True, kw_only=True)
class _Collected:
    number: int
    names: tuple[str, ...]
    first_column: int
    anchor: str
    headings: tuple[str, ...]
    has_places: bool
    rows: int = 0
    first_row: int = 0
    last_row: int = 0
    too_large: bool = False
    profiles: dict[int, ColumnProfile] = field(default_factory=dict[int, ColumnProfile])

    def place(self, columns: Sequence[int]) -> str:
        cells, rows = _CELLS.fullmatch(self.anchor), _ROWS.fullmatch(self.anchor)
        if cells and columns and self.has_places:
            first, last = column_letters(columns[0]), column_letters(columns[-1])
            return cells_anchor(cells[1], (first, self.first_row), (last, self.last_row))
        if rows and self.has_places:
            return rows[1] + rows_anchor(self.first_row, self.last_row)
        return self.anchor


class TableCollection:
    """Rows wait in a temporary file. For one thread at a time."""

    def __init__(self, limits: TableLimits | None = None) -> None:
        self._limits = limits or TableLimits()
        self._staged = sqlite3.connect("", check_same_thread=False)
        self._staged.execute("CREATE TABLE cells (number INTEGER, line INTEGER, first INTEGER, texts TEXT)")
        self._tables: dict[int, _Collected] = {}
        self._open: _Collected | None = None
        """Of the latest section without a grid."""
        self._rows = self._cells = 0

    def close(self) -> None:
        self._staged.close()

    def extend(self, sections: Iterable[Section]) -> None:
        for section in sections:
            if section.kind != "table":
                self._open = None
            elif section.grid is not None:
                self._open = None
                self._add_grid(section, section.grid)
            else:
                self._add_text(section)

    def _add_grid(self, section: Section, grid: TableGrid) -> None:
        table = self._tables.get(grid.number)
        if table is None:
            if not grid.rows or len(self._tables) >= self._limits.tables:
                return
            table = self._opened(section, grid.number, grid.names, grid.first_column, has_places=True)
        table.names, table.first_column = grid.names, grid.first_column
        self._stage(table, grid.rows)

    def _add_text(self, section: Section) -> None:
        header, *lines = section.text.split("\n")
        places = table_lines(section.anchor, section.text)
        if places is not None and not places.header_lines:
            header, lines = "", [header, *lines]
        names = tuple(header.split(_SEPARATOR))
        table = self._open
        if table is None or (table.names, table.headings) != (names, section.headings):
            if not lines or len(self._tables) >= self._limits.tables:
                return
            # Those of grids are positive.
            first = column_number(places.first_column) if places and places.first_column else 1
            has_places = places is not None
            table = self._opened(section, -1 - len(self._tables), names, first, has_places=has_places)
            self._open = table
        above = places.first_row - 1 if places else table.rows
        rows = [(above + at, tuple(line.split(_SEPARATOR))) for at, line in enumerate(lines, 1)]
        self._stage(table, rows)

    def _opened(
        self, section: Section, number: int, names: tuple[str, ...], first: int, *, has_places: bool
    ) -> _Collected:
        table = _Collected(
            number=number,
            names=names,
            first_column=first,
            anchor=section.anchor,
            headings=section.headings,
            has_places=has_places,
        )
        self._tables[number] = table
        return table

    def _stage(self, table: _Collected, rows: Sequence[tuple[int, tuple[Cell, ...]]]) -> None:
        staged: list[tuple[int, int, int, str]] = []
        for line, raw in rows:
            cells = [_clean(cell) for cell in raw]
            texts = [cell if isinstance(cell, str) else cell[0] for cell in cells]
            if not any(texts) or texts == list(table.names):
                continue
            table.rows += 1
            table.first_row, table.last_row = table.first_row or line, line
            self._rows += 1
            self._cells += len(cells)
            limits = self._limits
            if (
                self._rows > limits.rows
                or self._cells > limits.cells
                or table.first_column + len(cells) > limits.columns + table.first_column
            ):
                self._give_up(table)
            if table.too_large:
                continue
            for column, cell in enumerate(cells, table.first_column):
                profile = table.profiles.get(column)
                if profile is None:
                    profile = table.profiles[column] = ColumnProfile(name="")
                profile.add(cell)
            staged.append((table.number, line, table.first_column, json.dumps(cells)))
        self._staged.executemany("INSERT INTO cells VALUES (?, ?, ?, ?)", staged)

    def _give_up(self, table: _Collected) -> None:
        if not table.too_large:
            table.too_large = True
            self._staged.execute("DELETE FROM cells WHERE number = ?", (table.number,))
            self._rows -= table.rows
            self._cells = self._staged.execute(
                "SELECT coalesce(sum(json_array_length(texts)), 0) FROM cells"
            ).fetchone()[0]

    def write(self, path: Path, document: Document) -> int:
        """In one step; returns how many tables there are."""
        with table_file.written(path) as database:
            tables: list[tuple[TypedTable, list[str]]] = []
            taken: set[str] = set()
            for collected in self._tables.values():
                found = self._typed(
                    database, collected, document, identity=f"t{len(tables) + 1}", taken=taken
                )
                if found is not None:
                    tables.append(found)
                    taken |= {found[0].sql_name, found[0].all_name}
            table_file.describe(database, document, tables)
        return len(tables)

    def _typed(
        self,
        database: sqlite3.Connection,
        collected: _Collected,
        document: Document,
        *,
        identity: str,
        taken: set[str],
    ) -> tuple[TypedTable, list[str]] | None:
        for at, name in enumerate(collected.names):
            column = collected.first_column + at
            if name or column in collected.profiles:
                collected.profiles.setdefault(column, ColumnProfile(name="")).name = one_line(name)
        places = sorted(column for column, found in collected.profiles.items() if found.filled or found.name)
        if not collected.rows or (len(places) < 2 and not self._is_list(collected, places, document)):
            return None
        if collected.too_large:
            places = places[:_MOST_NAMED]
        profiles = [collected.profiles[column] for column in places]
        read = readings(profiles)
        columns = typed_columns(profiles, read)
        caption = _caption(collected, document)
        table = TypedTable(
            id=identity,
            document=document.id,
            title=document.title,
            uri=document.uri,
            caption=caption,
            place=collected.place(places),
            sql_name=sql_name(_own_name(collected, document), taken, otherwise=_code(document, identity)),
            columns=tuple(columns),
            row_count=0,
            too_large=collected.too_large,
        )
        layout = _layout(columns, places)
        if collected.too_large:
            return replace(table, row_count=collected.rows), layout
        return self._filled(database, table, collected.number, read, places), layout

    def _is_list(self, collected: _Collected, places: Sequence[int], document: Document) -> bool:
        if len(places) != 1 or collected.number < 0 or collected.too_large:
            return False
        rows = [(line, cells[0]) for line, _, cells in self._staged_rows(collected.number)]
        texts = [cell if isinstance(cell, str) else cell[0] for _, cell in rows]
        if len(texts) + any(collected.names) < lists.SHORTEST or any(
            len(text) > _LONGEST_VALUE for text in texts
        ):
            return False
        names = (document.title, *collected.headings)
        if not any(collected.names) and lists.begins_with_header(texts, *names):
            self._staged.execute(
                "DELETE FROM cells WHERE number = ? AND line = ?", (collected.number, rows[0][0])
            )
            profile = ColumnProfile(name=texts[0])
            for _, cell in rows[1:]:
                profile.add(cell)
            collected.profiles[places[0]] = profile
            collected.rows -= 1
        return True

    def _filled(
        self,
        database: sqlite3.Connection,
        table: TypedTable,
        number: int,
        read: Sequence[CellReading],
        places: Sequence[int],
    ) -> TypedTable:
        table_file.create(database, table)
        written = _Written(table.columns)
        staged = ((line, _aligned(first, cells, places)) for line, first, cells in self._staged_rows(number))
        rows = (written.row(line, cells, read) for line, cells in _without_remarks(staged))
        table_file.insert(database, table, rows)
        return written.described(table)

    def _staged_rows(self, number: int) -> Iterator[tuple[int, int, list[Cell]]]:
        rows = self._staged.execute(
            "SELECT line, first, texts FROM cells WHERE number = ? ORDER BY rowid", (number,)
        )
        for line, first, texts in rows:
            found = cast("list[str | list[str | float]]", json.loads(texts))
            yield line, first, [one if isinstance(one, str) else cast("Cell", tuple(one)) for one in found]


def _without_remarks(rows: Iterable[tuple[int, list[Cell]]]) -> Iterator[tuple[int, list[Cell]]]:
    above: int | None = None
    for line, cells in rows:
        filled = [cell if isinstance(cell, str) else cell[0] for cell in cells if cell and cell[0]]
        is_apart = above is not None and line > above + 1
        above = line
        if not (
            is_apart and len(cells) >= _WIDE and len(filled) == 1 and len(filled[0].split()) > _NAME_WORDS
        ):
            yield line, cells


class _WrittenColumn:
    def __init__(self, column: TypedColumn) -> None:
        self.column = column
        self._texts: Counter[str] = Counter()
        self._too_many = False
        self._filled = self._unread = 0
        self._least: Value = None
        self._greatest: Value = None

    def note(self, value: Value, text: str) -> None:
        if not text:
            return
        short = text[:_LONGEST_VALUE]
        if short in self._texts or len(self._texts) < _COUNTED_VALUES:
            self._texts[short] += 1
        else:
            self._too_many = True
        is_unread = value is None and not is_empty(text)
        self._filled += value is not None or is_unread
        if value is None:
            self._unread += is_unread
        elif self.column.kind != "text":
            if self._least is None or _before(value, self._least):
                self._least = value
            if self._greatest is None or _before(self._greatest, value):
                self._greatest = value

    def described(self) -> TypedColumn:
        is_all = not self._too_many and len(self._texts) <= MOST_VALUES
        most = self._texts if is_all else dict(self._texts.most_common(MOST_VALUES))
        return replace(
            self.column,
            filled=self._filled,
            unread=self._unread,
            values=tuple(most),
            has_all_values=is_all and all(len(text) < _LONGEST_VALUE for text in most),
            least=self._least,
            greatest=self._greatest,
        )


class _Written:
    def __init__(self, columns: Sequence[TypedColumn]) -> None:
        self._columns = [_WrittenColumn(column) for column in columns]
        self._totals = TotalRows()
        self._rows = self._total_rows = 0

    def row(self, line: int, cells: Sequence[Cell], read: Sequence[CellReading]) -> list[Value]:
        texts = [cell if isinstance(cell, str) else cell[0] for cell in cells]
        found = [one.value(cell) for one, cell in zip(read, cells, strict=True)]
        is_total = self._totals.is_total(
            [text for one, text in zip(read, texts, strict=True) if one.kind != "number"],
            [value for one, value in zip(read, found, strict=True) if one.kind == "number"],
        )
        self._total_rows += is_total
        self._rows += not is_total
        row: list[Value] = [line, int(is_total)]
        for one, value, text in zip(self._columns, found, texts, strict=True):
            row += [value] if one.column.kind == "text" else [value, text or None]
            if not is_total:
                one.note(value, text)
        return row

    def described(self, table: TypedTable) -> TypedTable:
        columns = tuple(one.described() for one in self._columns)
        return replace(table, columns=columns, row_count=self._rows, totals=self._total_rows)


def _before(first: Value, second: Value) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return str(first) < str(second)
    return first is not None and second is not None and first < second


def _clean(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return cell if cell.isalnum() or not cell else one_line(cell)
    return (one_line(cell[0]), cell[1], one_line(cell[2]))


def _aligned(first: int, cells: Sequence[Cell], places: Sequence[int]) -> list[Cell]:
    return [cells[place - first] if 0 <= place - first < len(cells) else "" for place in places]


def _layout(columns: Sequence[TypedColumn], places: Sequence[int]) -> list[str]:
    named = dict(zip(places, (column.text_name for column in columns), strict=True))
    return [named.get(place, "") for place in range(places[0], places[-1] + 1)]


def _code(document: Document, identity: str) -> str:
    return f"table_{hashlib.sha256(f'{document.id} {identity}'.encode()).hexdigest()[:6]}"


def _caption(collected: _Collected, document: Document) -> str:
    caption = " › ".join(dict.fromkeys(heading for heading in collected.headings if heading))
    return caption[:_LONGEST_CAPTION] or document.title


def _own_name(collected: _Collected, document: Document) -> str:
    own = [heading for heading in collected.headings if heading]
    return own[-1] if own else document.title.rpartition(".")[0] or document.title
