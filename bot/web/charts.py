"""Geometry of the charts; the template `charts.html` draws them as SVG, with their figures in a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH: Final = 600
HEIGHT: Final = 100
_GAP: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """`kind`: its class in the style sheet. A value of None is a gap."""

    name: str
    kind: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChart:
    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    top: float
    bars: Sequence[Bar] = ()
    lines: Sequence[tuple[str, str]] = ()

    @property
    def is_empty(self) -> bool:
        return not self.lines and not any(value for each in self.series for value in each.values)


def stacked(title: str, labels: Sequence[str], series: Sequence[Series]) -> PageChart:
    totals = [sum(each.values[at] or 0 for each in series) for at in range(len(labels))]
    top = _rounded(max(totals, default=0))
    slot = WIDTH / max(len(labels), 1)
    bars: list[Bar] = []
    for at in range(len(labels)):
        y = float(HEIGHT)
        for each in series:
            height = HEIGHT * (each.values[at] or 0) / top
            if height:
                y -= height
                bars.append(_bar(at * slot + slot * _GAP / 2, y, slot * (1 - _GAP), height, each.kind))
    return PageChart(title=title, labels=labels, series=series, top=top, bars=bars)


def lines(title: str, labels: Sequence[str], series: Sequence[Series]) -> PageChart:
    top = _rounded(max((value or 0 for each in series for value in each.values), default=0))
    slot = WIDTH / max(len(labels), 1)
    drawn: list[tuple[str, str]] = []
    for each in series:
        run: list[str] = []
        for at, value in enumerate((*each.values, None)):
            if value is not None:
                run.append(f"{slot * (at + 0.5):.1f},{HEIGHT - HEIGHT * value / top:.1f}")
            elif run:
                # A single day becomes a short stroke.
                x, _, y = run[0].partition(",")
                drawn.append(
                    (each.kind, " ".join(run if len(run) > 1 else (run[0], f"{float(x) + 4:.1f},{y}")))
                )
                run = []
    return PageChart(title=title, labels=labels, series=series, top=top, lines=drawn)


def _bar(x: float, y: float, width: float, height: float, kind: str) -> Bar:
    return Bar(x=round(x, 2), y=round(y, 2), width=round(width, 2), height=round(height, 2), kind=kind)


def _rounded(most: float) -> float:
    if most <= 0:
        return 1
    power = 10 ** math.floor(math.log10(most))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= most)
