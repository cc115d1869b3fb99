"""The file does not store the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._opendocument.package import STYLE, TEXT, repeat_count
from rag_engine.parsers._shared.numerals import numeral

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_FORMATS: Final = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}
_LEVELS: Final = 10
_LARGEST: Final = 1_000_000
BULLET: Final = "-"


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    prefix: str
    suffix: str
    display_levels: int
    start: int


@dataclass(slots=True)
class OdfListNumbering:
    styles: dict[str, dict[int, _Level]] = field(default_factory=dict[str, dict[int, _Level]])
    counters: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def add_style(self, style: _Element, name: str = "") -> None:
        levels: dict[int, _Level] = {}
        for element in style.iterchildren():
            if str(element.tag).endswith(("-style-number", "outline-level-style")):
                levels[repeat_count(element, f"{TEXT}level", _LEVELS)] = _Level(
                    _FORMATS.get(element.get(f"{STYLE}num-format") or "", ""),
                    element.get(f"{STYLE}num-prefix") or "",
                    element.get(f"{STYLE}num-suffix") or "",
                    repeat_count(element, f"{TEXT}display-levels", _LEVELS),
                    repeat_count(element, f"{TEXT}start-value", _LARGEST),
                )
        self.styles[name or style.get(f"{STYLE}name") or ""] = levels

    def begin_list(self, style: str, level: int, *, continues: bool) -> None:
        if not continues:
            values = self.counters.setdefault(style, [0] * (_LEVELS + 1))
            values[level:] = [0] * len(values[level:])

    def next_label(self, style: str, level: int, *, start: int | None = None) -> str:
        level = min(level, _LEVELS)
        levels = self.styles.get(style, {})
        values = self.counters.setdefault(style, [0] * (_LEVELS + 1))
        first = levels[level].start if level in levels else 1
        values[level] = start if start is not None else values[level] + 1 if values[level] else first
        values[level + 1 :] = [0] * (_LEVELS - level)
        return _label(levels, level, values)


def _label(levels: dict[int, _Level], level: int, values: Sequence[int]) -> str:
    own = levels.get(level)
    if own is None or not own.format:
        return BULLET
    numbers = [
        numeral(max(values[at], 1), levels[at].format)
        for at in range(max(level - own.display_levels + 1, 1), level + 1)
        if at in levels and levels[at].format
    ]
    return f"{own.prefix}{'.'.join(numbers)}{own.suffix}".strip()
