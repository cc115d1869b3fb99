"""Numbers that name rows, such as 1043 of "Ticket", are read as texts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.results.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.tables.types import TypedColumn, TypedTable

_FEWEST_ROWS: Final = 5
_LONG: Final = 7
_LONG_IN_ORDER: Final = 4
_MOST_GAPS: Final = 1.5
"""A serial number's range is at most so many times its rows."""


def with_identifiers(tables: Iterable[TypedTable]) -> list[TypedTable]:
    """A column named as an identifier of another table of its document is one, too."""
    found = list(tables)
    keys = {(table.document, column.name) for table in found for column in _serial(table)}
    return [
        _read_as_texts(table, frozenset(name for document, name in keys if document == table.document))
        for table in found
    ]


@lru_cache(maxsize=512)
def _read_as_texts(table: TypedTable, keys: frozenset[str]) -> TypedTable:
    seen = tuple(
        replace(column, kind="text", sql_name=column.text_name, least=None, greatest=None)
        if _is_integer(column) and column.has_all_values and (column.name in keys or _is_coded(column))
        else column
        for column in table.columns
    )
    return table if seen == table.columns else replace(table, columns=seen)


@lru_cache(maxsize=512)
def _serial(table: TypedTable) -> tuple[TypedColumn, ...]:
    return tuple(
        column for column in table.columns[:1] if _is_integer(column) and _counts_rows(table, column)
    )


def _counts_rows(table: TypedTable, column: TypedColumn) -> bool:
    is_unique = column.has_all_values and len(column.values) == column.filled == table.row_count
    if not is_unique or table.row_count < _FEWEST_ROWS or _is_measure(column_names.header(column.name, "en")):
        return False
    is_dense = int(column.greatest or 0) - int(column.least or 0) < _MOST_GAPS * table.row_count
    return is_dense or _are_codes(column)


def _are_codes(column: TypedColumn) -> bool:
    lengths = {len(value) for value in column.values}
    in_order = all(one < other for one, other in pairwise(column.values))
    return len(lengths) == 1 and (min(lengths) >= _LONG or (min(lengths) >= _LONG_IN_ORDER and in_order))


def _is_coded(column: TypedColumn) -> bool:
    read = column_names.header(column.name, "en")
    return read.is_code or "telephone" in read.concepts


def _is_integer(column: TypedColumn) -> bool:
    bounds = column.least, column.greatest
    return column.kind == "number" and not column.unit and all(isinstance(one, int) for one in bounds)


def _is_measure(read: column_names.Header) -> bool:
    return (
        bool(read.concepts & (MEASURES | column_names.PIECES | column_names.TIMES)) or read.period is not None
    )
