"""A typed table in memory, for tests of the rules that read questions."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.tables.query_process import add_percentile
from rag_engine.tables.types import TypedColumn, TypedTable
from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Sequence

Cell = str | int | float | bool | None
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """Its description and its rows; `run` gives the result of a SELECT over it."""

    table: TypedTable
    rows: tuple[tuple[Cell, ...], ...]

    def run(self, sql: str) -> list[tuple[Cell, ...]]:
        """The rows of the result."""
        database = sqlite3.connect(":memory:")
        database.create_function("fold", 1, _fold)
        add_percentile(database)
        columns = self.table.columns
        names = ["_row"]
        for column in columns:
            names += [column.sql_name] if column.kind == "text" else [column.sql_name, column.text_name]
        database.execute(f"CREATE TABLE {self.table.sql_name} ({', '.join(_quoted(name) for name in names)})")
        for number, row in enumerate(self.rows, 2):
            values: list[Cell] = [number]
            for column, cell in zip(columns, row, strict=True):
                values += [cell] if column.kind == "text" else [cell, None if cell is None else str(cell)]
            marks = ", ".join("?" * len(values))
            database.execute(f"INSERT INTO {self.table.sql_name} VALUES ({marks})", values)  # noqa: S608
        result = database.execute(sql).fetchall()
        database.close()
        return result


def memory_table(
    title: str,
    names: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    caption: str = "",
    units: dict[str, str] | None = None,
) -> MemoryTable:
    """Kinds follow the cells: numbers, ISO dates, truth values, else texts."""
    taken: list[str] = []
    columns: list[TypedColumn] = []
    for at, name in enumerate(names):
        cells = [row[at] for row in rows]
        columns.append(_column(name, cells, _sql_name(name, taken), (units or {}).get(name, "")))
        taken.append(columns[-1].sql_name)
    table = TypedTable(
        id="t1",
        document=DocumentId("document"),
        title=title,
        caption=caption,
        place="rows",
        sql_name=_sql_name(title.partition(".")[0], []),
        columns=tuple(columns),
        row_count=len(rows),
    )
    return MemoryTable(table, tuple(tuple(row) for row in rows))


def _column(name: str, cells: Sequence[Cell], sql_name: str, unit: str) -> TypedColumn:
    filled = [cell for cell in cells if cell is not None]
    kind = "text"
    if filled and all(isinstance(cell, bool) for cell in filled):
        kind = "boolean"
    elif filled and all(isinstance(cell, int | float) for cell in filled):
        kind = "number"
    elif filled and all(isinstance(cell, str) and _ISO.match(cell) for cell in filled):
        kind = "date"
    texts = Counter(str(cell) for cell in filled)
    extremes = [cell for cell in filled if not isinstance(cell, bool)] if kind in {"number", "date"} else []
    return TypedColumn(
        name=name,
        sql_name=sql_name,
        kind=kind,
        unit=unit,
        filled=len(filled),
        values=tuple(texts),
        has_all_values=True,
        least=min(extremes, default=None),  # type: ignore[type-var]
        greatest=max(extremes, default=None),  # type: ignore[type-var]
    )


def _sql_name(name: str, taken: Sequence[str]) -> str:
    plain = re.sub(
        r"[^a-z0-9]+", "_", unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    )
    plain = plain.strip("_") or "column"
    plain = f"c_{plain}" if plain[0].isdigit() else plain
    while plain in taken:
        plain += "_2"
    return f"{plain}_" if plain in {"order", "group", "table", "index", "select"} else plain


def _fold(text: str | None) -> str | None:
    if text is None:
        return None
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


def _quoted(name: str) -> str:
    return f'"{name}"'
