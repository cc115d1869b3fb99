from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, cast

from rag_engine.text.table_anchors import TableGrid

if TYPE_CHECKING:
    from rag_engine.text.table_anchors import Cell

_MOST_COLUMNS: Final = 16_384


def table_grid(raw: object) -> TableGrid | None:
    """None: only computing over this table is lost."""
    number, names, first_column, rows = _fields(raw, 4)
    if not isinstance(number, int) or not isinstance(first_column, int):
        return None
    if not 0 < first_column <= _MOST_COLUMNS or not isinstance(names, list) or not isinstance(rows, list):
        return None
    read = map(_row, cast("list[object]", rows))
    return TableGrid(
        number=number,
        names=tuple(map(str, cast("list[object]", names)[:_MOST_COLUMNS])),
        first_column=first_column,
        rows=tuple(row for row in read if row is not None),
    )


def _row(raw: object) -> tuple[int, tuple[Cell, ...]] | None:
    number, cells = _fields(raw, 2)
    if not isinstance(number, int) or not 0 <= number < 1 << 53 or not isinstance(cells, list):
        return None
    return number, tuple(map(_cell, cast("list[object]", cells)))


def _cell(raw: object) -> Cell:
    if isinstance(raw, str):
        return raw
    text, value, unit = _fields(raw, 3)
    if not isinstance(text, str) or not isinstance(unit, str):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return text
    is_finite = isinstance(value, str) or (math.isfinite(value) and abs(value) < 1 << 63)
    return (text, value, unit) if is_finite else text


def _fields(raw: object, count: int) -> list[object]:
    fields = cast("list[object]", raw) if isinstance(raw, list) else []
    return fields if len(fields) == count else [None] * count
