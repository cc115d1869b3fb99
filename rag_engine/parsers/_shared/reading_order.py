from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Thing = TypeVar("Thing")

_LINES_END: Final = 0.85
"""Boxes are taller than their text and may overlap."""
_MOST: Final = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Generic[Thing]):
    item: Thing
    left: float
    top: float
    width: float
    height: float


def in_reading_order(placed: Sequence[Placed[Thing]]) -> list[Thing]:
    """Rows from the top, columns from the left; the wider gap divides first."""
    if len(placed) > _MOST:
        return [one.item for one in sorted(placed, key=_by_place)]
    return [one.item for one in _ordered(placed)]


def _ordered(placed: Sequence[Placed[Thing]]) -> list[Placed[Thing]]:
    if len(placed) < 2:
        return list(placed)
    rows, columns = _divided(placed, by_rows=True), _divided(placed, by_rows=False)
    if len(rows) > 1 and len(rows[0][1]) == 1:
        return rows[0][1] + _ordered([one for _, row in rows[1:] for one in row])
    if len(rows) < 2 and len(columns) < 2:
        return sorted(placed, key=_by_place)
    by_rows = len(columns) < 2 or (len(rows) > 1 and _widest(rows) >= _widest(columns))
    groups = _in_columns_where_they_are(rows) if by_rows else [group for _, group in columns]
    return [one for group in groups for one in _ordered(group)]


_Group = tuple[float, list[Placed[Thing]]]


def _widest(groups: Sequence[_Group[Thing]]) -> float:
    return max(gap for gap, _ in groups[1:])


def _in_columns_where_they_are(rows: Sequence[_Group[Thing]]) -> list[list[Placed[Thing]]]:
    joined: list[list[Placed[Thing]]] = []
    for gap, row in rows:
        if joined:
            both = _divided([*joined[-1], *row], by_rows=False)
            if len(both) > 1 and _widest(both) > gap:
                joined[-1] += row
                continue
        joined.append(list(row))
    return joined if len(joined) > 1 else [row for _, row in rows]


def _divided(placed: Sequence[Placed[Thing]], *, by_rows: bool) -> list[_Group[Thing]]:
    spans = [
        (one.top, one.top + one.height * _LINES_END, one)
        if by_rows
        else (one.left, one.left + one.width * _LINES_END, one)
        for one in placed
    ]
    spans.sort(key=lambda span: span[0])
    groups: list[_Group[Thing]] = []
    end = 0.0
    for start, stop, one in spans:
        if not groups or start >= end:
            groups.append((start - end if groups else 0.0, []))
            end = stop
        groups[-1][1].append(one)
        end = max(end, stop)
    return groups


def _by_place(one: Placed[Thing]) -> tuple[float, float]:
    return one.top, one.left
