from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.tables.rules.query import EmptyFilter, RangeFilter
from rag_engine.tables.rules.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.tables.rules.interpretation import Interpretation
    from rag_engine.tables.rules.mentions.columns import ColumnMention
    from rag_engine.tables.rules.query import Filter
    from rag_engine.tables.types import TypedColumn

_OF_CELLS: Final = frozenset(
    [
        "missing",
        "empty",
        "fehlt",
        "fehlen",
        "fehlende",
        "fehlendem",
        "leer",
        "falta",
        "faltan",
        "vacio",
        "vacia",
        "manque",
        "manquent",
        "vide",
        "vides",
        "缺少",
        "缺失",
        "未填",
    ]
)


def lacking(reading: Interpretation, used: list[ColumnMention]) -> Iterator[Filter]:
    for sign in reading.signs:
        if sign.group != "links" or sign.name != "missing":
            continue
        found = next(
            (
                column
                for column in reading.columns
                if reading.question.is_beside(sign.end, column.start) and len(column.columns) == 1
            ),
            None,
        )
        if found is None:
            raise refused("question", reading.table)
        used.append(found)
        column = found.columns[0]
        is_full = column.filled == reading.table.row_count
        said = "".join(word.folded for word in reading.question.words[sign.start : sign.end])
        if said in _OF_CELLS:
            yield EmptyFilter(column=column)
        elif column.kind == "boolean" or (column.kind == "number" and is_full):
            yield RangeFilter(column=column, low=0, high=0)
        elif _may_be_zero(column):
            raise refused("unclear", reading.table, reading.question.spoken(sign.start, found.end))
        else:
            yield EmptyFilter(column=column)


def _may_be_zero(column: TypedColumn) -> bool:
    least, greatest = column.least, column.greatest
    if not isinstance(least, int | float) or not isinstance(greatest, int | float):
        return False
    return column.kind == "number" and least <= 0 <= greatest
