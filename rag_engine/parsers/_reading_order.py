"""Pure: in which order a person reads what stands about on a slide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Thing = TypeVar("Thing")

_LINES_END: Final = 0.85
"""Boxes are taller than their text, so that they overlap a little where the eye sees a gap."""
_MOST: Final = 400
"""With more boxes than these the slide is a drawing: from top to bottom, then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Generic[Thing]):
    """A thing and the box it is drawn in."""

    thing: Thing
    left: float
    top: float
    width: float
    height: float


def in_reading_order(placed: Sequence[Placed[Thing]]) -> list[Thing]:
    """Rows from top to bottom, columns from left to right: whichever have the wider gap between them divide first."""
    if len(placed) > _MOST:
        return [one.thing for one in sorted(placed, key=_by_place)]
    return [one.thing for one in _ordered(placed)]


def _ordered(placed: Sequence[Placed[Thing]]) -> list[Placed[Thing]]:
    if len(placed) < 2:
        return list(placed)
    row_gap, rows = _divided(placed, by_rows=True)
    column_gap, columns = _divided(placed, by_rows=False)
    groups = rows if row_gap >= column_gap else columns
    if len(groups) < 2:
        groups = rows if len(rows) > 1 else columns
    if len(groups) < 2:
        return sorted(placed, key=_by_place)
    return [one for group in groups for one in _ordered(group)]


def _divided(placed: Sequence[Placed[Thing]], *, by_rows: bool) -> tuple[float, list[list[Placed[Thing]]]]:
    """The widest gap, below 0 if there is none, and the groups between all gaps."""
    spans = [
        (one.top, one.top + one.height * _LINES_END, one)
        if by_rows
        else (one.left, one.left + one.width * _LINES_END, one)
        for one in placed
    ]
    spans.sort(key=lambda span: span[0])
    groups: list[list[Placed[Thing]]] = []
    widest, end = -1.0, 0.0
    for start, stop, one in spans:
        if not groups or start >= end:
            # The gap as it is drawn, without what was taken from the boxes above.
            widest = max(widest, start - end) if groups else widest
            groups.append([])
        groups[-1].append(one)
        end = max(end, stop) if len(groups[-1]) > 1 else stop
    return widest, groups


def _by_place(one: Placed[Thing]) -> tuple[float, float]:
    return one.top, one.left
