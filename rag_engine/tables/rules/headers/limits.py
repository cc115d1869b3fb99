"""Columns that set a bound for another: "Stock" and "Minimum stock"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.headers import column_names
from rag_engine.tables.rules.headers.units import CURRENCIES, unit_of
from rag_engine.tables.rules.mentions.joins import JoinedTable

if TYPE_CHECKING:
    from rag_engine.tables.types import TypedColumn, TypedTable

_PRICES: Final = frozenset({"price", "pay", "score", "rate"})


def limited_by(table: TypedTable, limit: TypedColumn, language: str) -> TypedColumn | None:
    if isinstance(table, JoinedTable) or not column_names.is_limit(limit.name, language):
        return None
    found = [
        column
        for column in table.columns
        if column != limit
        and column_names.is_quantity(column, language)
        and not column_names.is_limit(column.name, language)
        and not column_names.header(column.name, language).concepts & _PRICES
        and _is_money(column) == _is_money(limit)
    ]
    return found[0] if len(found) == 1 else None


def _is_money(column: TypedColumn) -> bool:
    return unit_of(column) in CURRENCIES
