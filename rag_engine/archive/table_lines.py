"""Typed tables as lines: one with the columns, then some with rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, model_validator

from rag_engine.archive.zip_container import StrictModel
from rag_engine.tables import table_file
from rag_engine.tables.table_file import TOTAL
from rag_engine.tables.types import ROW_NUMBER, ColumnKind, TypedColumn, TypedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rag_engine.tables.table_file import StoredTable
    from rag_engine.types import Document

_ROWS: Final = 200
_DESCRIPTION: Final = "description"
_Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,80}$")]
"""It becomes part of SQL."""
_Integer = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]
_Count = Annotated[_Integer, Field(ge=0)]
_Cell = str | _Integer | float | None


class ColumnLine(StrictModel):
    name: str
    sql_name: _Name
    kind: ColumnKind = "text"
    unit: str = ""
    filled: _Count = 0
    unread: _Count = 0
    values: tuple[str, ...] = Field(default=(), max_length=1_000)
    has_all_values: bool = False
    least: _Cell = None
    greatest: _Cell = None


class TableLine(StrictModel):
    id: _Name
    caption: str
    place: str
    sql_name: _Name
    columns: tuple[ColumnLine, ...] = Field(min_length=1, max_length=300)
    layout: tuple[str, ...]
    row_count: _Count = 0
    totals: _Count = 0
    too_large: bool = False
    lines: _Count = 0
    """With its rows."""

    @model_validator(mode="after")
    def _fits(self) -> TableLine:
        names = _names(_columns(self))
        if len({name.lower() for name in names}) < len(names):
            raise ValueError("two columns have one name")
        if not {*self.layout} <= {"", *names}:
            raise ValueError("the layout names an unknown column")
        return self


class RowsLine(StrictModel):
    rows: tuple[tuple[_Cell, ...], ...] = Field(max_length=_ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedTable:
    line: TableLine
    rows: tuple[tuple[_Cell, ...], ...]


def lines(stored: StoredTable) -> Iterator[TableLine | RowsLine]:
    table = stored.table
    rows = [] if table.too_large else list(_batches(table_file.rows(stored)))
    about: dict[str, Any] = asdict(table)
    for name in ("document", "title", "uri"):
        del about[name]
    yield TableLine(**about, layout=stored.layout, lines=len(rows))
    yield from (RowsLine(rows=batch) for batch in rows)


def _batches(rows: Iterator[tuple[_Cell, ...]]) -> Iterator[tuple[tuple[_Cell, ...], ...]]:
    while batch := tuple(islice(rows, _ROWS)):
        yield batch


def read(
    count: int, next_table: Callable[[], TableLine], next_rows: Callable[[], RowsLine]
) -> Iterator[ArchivedTable]:
    """Raises `ValueError` for rows that do not fit."""
    taken = {_DESCRIPTION}
    for _ in range(count):
        line = next_table()
        if line.id in taken or line.id.startswith("sqlite_"):
            raise ValueError(f"the id {line.id} is taken")
        taken.add(line.id)
        rows = tuple(row for _ in range(line.lines) for row in next_rows().rows)
        width = len(_names(_columns(line)))
        for row in rows:
            if len(row) != width or not isinstance(row[0], int) or row[1] not in (0, 1):
                raise ValueError(f"a row of the table {line.id} does not fit its columns")
        yield ArchivedTable(line=line, rows=rows)


def typed(line: TableLine, document: Document) -> TypedTable:
    return TypedTable(
        **line.model_dump(exclude={"columns", "layout", "lines"}),
        document=document.id,
        title=document.title,
        uri=document.uri,
        columns=_columns(line),
    )


def _columns(line: TableLine) -> tuple[TypedColumn, ...]:
    return tuple(TypedColumn(**column.model_dump()) for column in line.columns)


def _names(columns: Sequence[TypedColumn]) -> list[str]:
    names = [ROW_NUMBER, TOTAL]
    for column in columns:
        names += dict.fromkeys((column.sql_name, column.text_name))
    return names
