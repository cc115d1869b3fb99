"""A computed table as a picture for a phone: bars, or a line over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag_engine.tables.answers.figures import readable_rows
from rag_engine.text.fitted_text import safe, width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.tables.types import ComputedAnswer, Value

WIDTH: Final = 900
MOST_BARS: Final = 30
_MOST_POINTS: Final = 200
_FEWEST_POINTS: Final = 3
_MARGIN: Final = 36
_FONT: Final = 32
_LINE: Final = 40
_BAR: Final = 34
_GAP: Final = 24
_PLOT: Final = 460
_STEPS: Final = 4
_LONGEST: Final = 60
_TIME: Final = re.compile(r"(?:1[89]|2[01])\d\d(?:-\d\d(?:-\d\d.*)?| Q[1-4])?")
_INK, _PALE, _COLOUR, _BELOW = "#202428", "#d5d9df", "#1f5fa8", "#b3541e"
_FAMILY: Final = 'font-family="sans-serif"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    texts: tuple[str, ...]
    """The values as people read them."""
    is_line: bool
    left_out: int = 0

    @property
    def description(self) -> str:
        named = ", ".join(f"{label} {text}" for label, text in zip(self.labels, self.texts, strict=True))
        return f"{self.title}: {named}"[:1_000]


def chart(computed: ComputedAnswer, language: str) -> Chart | None:
    """None without a column of numbers and two rows of it."""
    measured = _measured(computed)
    if measured is None:
        return None
    named = [at for at in range(len(computed.columns)) if at != measured and _is_label(computed, at)]
    shown = readable_rows(computed, language)
    points: list[tuple[str, float, str]] = []
    times: list[str] = []
    for row, texts in zip(computed.rows, shown, strict=True):
        value = row[measured]
        if isinstance(value, int | float):
            label = " · ".join(_short(texts[at]) for at in named) or str(len(points) + 1)
            points.append((label, float(value), texts[measured]))
            times.append(str(row[named[0]]) if len(named) == 1 else "")
    if len(points) < 2:
        return None
    is_line = (
        len(points) >= _FEWEST_POINTS and len(set(times)) == len(times) and all(map(_TIME.fullmatch, times))
    )
    if is_line:
        points = [point for _, point in sorted(zip(times, points, strict=True), key=lambda one: one[0])]
    kept = points[: _MOST_POINTS if is_line else MOST_BARS]
    return Chart(
        title=_short(computed.columns[measured].name),
        labels=tuple(label for label, _, _ in kept),
        values=tuple(value for _, value, _ in kept),
        texts=tuple(text for _, _, text in kept),
        is_line=is_line,
        left_out=len(points) - len(kept),
    )


def _measured(computed: ComputedAnswer) -> int | None:
    numeric = [
        at
        for at in range(len(computed.columns))
        if any(isinstance(row[at], int | float) for row in computed.rows)
    ]
    numeric = [at for at in numeric if not _holds_years([row[at] for row in computed.rows])] or numeric
    return numeric[0] if numeric else None


def _holds_years(values: Sequence[Value]) -> bool:
    return all(isinstance(value, int) and _TIME.fullmatch(str(value)) for value in values)


def _is_label(computed: ComputedAnswer, at: int) -> bool:
    values = [row[at] for row in computed.rows]
    return _holds_years(values) or not any(isinstance(value, float | int) for value in values)


def _short(text: str) -> str:
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def png(drawn: Chart) -> bytes:
    """Takes tens of milliseconds: not for the event loop."""
    import pymupdf

    document: Any = pymupdf.open("svg", svg(drawn).encode("utf-8", "replace"))
    with document:
        return bytes(document[0].get_pixmap(dpi=72, alpha=False).tobytes("png"))


def svg(drawn: Chart) -> str:
    title = wrapped(drawn.title, (WIDTH - 2 * _MARGIN) / _FONT)
    top = _MARGIN + len(title) * _LINE + (_LINE + _GAP if drawn.is_line else _GAP)
    parts = [
        _text(line, _MARGIN, _MARGIN + at * _LINE + _FONT, weight="bold") for at, line in enumerate(title)
    ]
    body, height = _line(drawn, top) if drawn.is_line else _bars(drawn, top)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}">',
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
            *parts,
            *body,
            "</svg>",
        )
    )


def _bars(drawn: Chart, top: float) -> tuple[list[str], float]:
    widest = max(width(text) for text in drawn.texts) * _FONT
    least, most = min(0.0, *drawn.values), max(0.0, *drawn.values)
    room = max(WIDTH - 2 * _MARGIN - widest - _GAP, WIDTH / 4)
    scale = room / ((most - least) or 1.0)
    zero = _MARGIN - least * scale
    parts: list[str] = []
    for label, value, text in zip(drawn.labels, drawn.values, drawn.texts, strict=True):
        for line in wrapped(label, (WIDTH - 2 * _MARGIN) / _FONT):
            parts.append(_text(line, _MARGIN, top + _FONT))
            top += _LINE
        start, length = min(zero, zero + value * scale), max(abs(value) * scale, 2)
        colour = _BELOW if value < 0 else _COLOUR
        parts.append(
            f'<rect x="{start:.1f}" y="{top + 4:.0f}" width="{length:.1f}" height="{_BAR}" fill="{colour}"/>'
        )
        end = max(zero, start + length) + 12
        parts.append(_text(text, end, top + _FONT))
        top += _BAR + _GAP
    return parts, top + _MARGIN - _GAP


def _line(drawn: Chart, top: float) -> tuple[list[str], float]:
    least, most = min(0.0, *drawn.values), max(0.0, *drawn.values)
    span = (most - least) or 1.0
    left, right, bottom = _MARGIN, WIDTH - _MARGIN, top + _PLOT
    step = (right - left) / (len(drawn.values) - 1)
    at = [(left + n * step, bottom - (value - least) / span * _PLOT) for n, value in enumerate(drawn.values)]
    zero = bottom + least / span * _PLOT
    parts = [
        f'<path d="M{left} {bottom - n * _PLOT / _STEPS:.0f} H{right}" stroke="{_PALE}" stroke-width="2"/>'
        for n in range(_STEPS + 1)
    ]
    parts.append(f'<path d="M{left} {zero:.0f} H{right}" stroke="{_INK}" stroke-width="3"/>')
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    parts.append(f'<path d="M{path}" fill="none" stroke="{_COLOUR}" stroke-width="5"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{_COLOUR}"/>' for x, y in at]
    parts += _extremes(drawn, at)
    labels, height = _time_labels(drawn, at, bottom + _LINE)
    return [*parts, *labels], height + _MARGIN


def _extremes(drawn: Chart, at: Sequence[tuple[float, float]]) -> list[str]:
    values = drawn.values
    marked = dict.fromkeys((values.index(max(values)), values.index(min(values)), len(values) - 1))
    taken: list[tuple[float, float, float]] = []
    parts: list[str] = []
    for point in marked:
        x, y = at[point]
        half = width(drawn.texts[point]) * _FONT / 2
        x = min(max(x, _MARGIN + half), WIDTH - _MARGIN - half)
        if any(abs(x - other) < half + reach and abs(y - height) < _LINE for other, height, reach in taken):
            continue
        taken.append((x, y, half))
        is_below = drawn.values[point] == min(values) and drawn.values[point] != max(values)
        parts.append(_text(drawn.texts[point], x, y + _FONT + 10 if is_below else y - 16, anchor="middle"))
    return parts


def _time_labels(drawn: Chart, at: Sequence[tuple[float, float]], top: float) -> tuple[list[str], float]:
    widest = max(width(label) for label in drawn.labels) * _FONT + _GAP
    fitting = max(int((WIDTH - 2 * _MARGIN) // widest), 2)
    count = len(drawn.labels)
    every = max(-(-(count - 1) // (fitting - 1)), 1)
    shown = [*range(0, count - every, every), count - 1] if every < count - 1 else [0, count - 1]
    parts: list[str] = []
    for n in shown:
        anchor = "start" if n == 0 else "end" if n == count - 1 else "middle"
        parts.append(_text(drawn.labels[n], at[n][0], top, anchor=anchor))
    return parts, top


def _text(text: str, x: float, y: float, *, anchor: str = "start", weight: str = "normal") -> str:
    look = f'{_FAMILY} font-size="{_FONT}" font-weight="{weight}" fill="{_INK}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{safe(text)}</text>'
