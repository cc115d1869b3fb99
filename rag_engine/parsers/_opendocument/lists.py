"""The numbers of OpenDocument's lists and headings, which the file does not hold but counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._docx.numerals import numeral
from rag_engine.parsers._opendocument.package import STYLE, TEXT, repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage] - the only name lxml has for it

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
    shown: int
    """Levels that the number is made of: "2.1" shows two."""
    start: int


@dataclass(slots=True)
class Numbering:
    """The list styles read so far, and how far each list has counted."""

    styles: dict[str, dict[int, _Level]] = field(default_factory=dict[str, dict[int, _Level]])
    counted: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def learn(self, style: _Element, name: str = "") -> None:
        """Take in a list style, or the outline style under a name of ours."""
        levels: dict[int, _Level] = {}
        for element in style.iterchildren():
            if str(element.tag).endswith(("-style-number", "outline-level-style")):
                levels[repeated(element, f"{TEXT}level", _LEVELS)] = _Level(
                    _FORMATS.get(element.get(f"{STYLE}num-format") or "", ""),
                    element.get(f"{STYLE}num-prefix") or "",
                    element.get(f"{STYLE}num-suffix") or "",
                    repeated(element, f"{TEXT}display-levels", _LEVELS),
                    repeated(element, f"{TEXT}start-value", _LARGEST),
                )
        self.styles[name or style.get(f"{STYLE}name") or ""] = levels

    def begin(self, style: str, level: int, *, goes_on: bool) -> None:
        """A list of that style begins at a level."""
        if not goes_on:
            counters = self.counted.setdefault(style, [0] * (_LEVELS + 1))
            counters[level:] = [0] * len(counters[level:])

    def next(self, style: str, level: int, *, start: int | None = None) -> str:
        """What stands before the next item or heading: "3.", "b)", "2.1", or the bullet."""
        level = min(level, _LEVELS)
        levels = self.styles.get(style, {})
        counters = self.counted.setdefault(style, [0] * (_LEVELS + 1))
        first = levels[level].start if level in levels else 1
        counters[level] = start if start is not None else counters[level] + 1 if counters[level] else first
        counters[level + 1 :] = [0] * (_LEVELS - level)
        return _label(levels, level, counters)


def _label(levels: dict[int, _Level], level: int, counters: Sequence[int]) -> str:
    own = levels.get(level)
    if own is None or not own.format:
        return BULLET
    numbers = [
        numeral(max(counters[at], 1), levels[at].format)
        for at in range(max(level - own.shown + 1, 1), level + 1)
        if at in levels and levels[at].format
    ]
    return f"{own.prefix}{'.'.join(numbers)}{own.suffix}".strip()
