from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.tables.types import QueryRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.tables.types import Missing, TypedTable

_MOST_SHOWN = 12


class Unanswered(Exception):
    def __init__(self, refusal: QueryRefusal) -> None:
        super().__init__(refusal.missing)
        self.refusal = refusal


def refused(missing: Missing, table: TypedTable, name: str = "", available: Iterable[str] = ()) -> Unanswered:
    shown = tuple(dict.fromkeys(available))[:_MOST_SHOWN]
    return Unanswered(QueryRefusal(missing=missing, name=name, available=shown, table=table.sql_name))


def no_column(table: TypedTable, name: str) -> Unanswered:
    return refused("column", table, name, [column.name for column in table.columns])
