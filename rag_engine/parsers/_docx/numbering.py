"""The numbers and bullets that Word shows before headings and list items, and never writes into the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._docx.numerals import numeral
from rag_engine.parsers._ooxml import W, is_on, number, value
from rag_engine.parsers._symbols import as_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.parsers._docx.styles import Style
    from rag_engine.parsers._ooxml import Element

BULLET: Final = "-"
_LEVELS: Final = 9
_PLACE: Final = re.compile("%([1-9])")
_TELLING: Final = frozenset("✓✗☐☑☒")
"""Bullets that say something."""
_LONGEST_LABEL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How one level of a list counts and what it shows: `text` holds %1 for the number of the first level."""

    start: int = 1
    way: str = "decimal"
    text: str = ""
    restarts_after: int | None = None
    """The level, from 1, after which it begins anew; 0 never; None after any above it."""
    in_digits: bool = False
    style: str = ""
    """The id of the paragraph style that is numbered so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    counted: str
    """Lists with the same id here count on together."""
    levels: Mapping[int, Level]
    starts: Mapping[int, int]
    """Level -> where this list begins anew."""


class Numbering:
    """Counts as the paragraphs come."""

    def __init__(self, lists: Mapping[str, _List]) -> None:
        self._lists = lists
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, style: Style) -> tuple[str, int] | None:
        """What stands before the next paragraph of this style, and how deep; None for paragraphs that are no items."""
        if style.list_id is None or style.list_id == "0":
            return None
        one = self._lists.get(style.list_id)
        if one is None:
            return None
        depth = style.list_level
        if depth is None:
            bound = (
                at for at, level in one.levels.items() if level.style and level.style == style.list_style
            )
            depth = next(bound, 0)
        level = one.levels.get(depth)
        if level is None:
            return (BULLET, depth)
        counts = self._counts.setdefault(one.counted, [None] * _LEVELS)
        self._count(counts, one, style.list_id, depth)
        return _shown(level, counts, one.levels), depth

    def _count(self, counts: list[int | None], one: _List, list_id: str, depth: int) -> None:
        begun = (list_id, depth)
        now = counts[depth]
        if depth in one.starts and begun not in self._begun:
            counts[depth] = one.starts[depth]
        else:
            counts[depth] = one.levels[depth].start if now is None else now + 1
        self._begun.add(begun)
        for above in range(depth):
            if counts[above] is None:
                counts[above] = one.levels[above].start if above in one.levels else 1
        for below in range(depth + 1, _LEVELS):
            after = one.levels[below].restarts_after if below in one.levels else None
            if after is None or (after and depth < after):
                counts[below] = None


def numbering_of(root: Element | None) -> Numbering:
    """The lists of a part `numbering`; without one, nothing is numbered."""
    if root is None:
        return Numbering({})
    bodies = {element.get(f"{W}abstractNumId") or "": element for element in root.iterfind(f"{W}abstractNum")}
    numbers = {element.get(f"{W}numId") or "": element for element in root.iterfind(f"{W}num")}
    styled = {value(body, f"{W}styleLink"): identifier for identifier, body in bodies.items()}
    lists: dict[str, _List] = {}
    levels = {identifier: _levels(body) for identifier, body in bodies.items()}
    for list_id, element in numbers.items():
        counted = value(element, f"{W}abstractNumId") or ""
        if counted not in bodies:
            continue
        # A list may be described under the name of a list style instead.
        link = value(bodies[counted], f"{W}numStyleLink")
        counted = styled.get(link, counted) if link else counted
        own = {number(override.get(f"{W}ilvl")): override for override in element.iterfind(f"{W}lvlOverride")}
        starts = {
            at: number(start)
            for at, override in own.items()
            if (start := value(override, f"{W}startOverride")) is not None
        }
        replaced = {
            at: _level(level)
            for at, override in own.items()
            if (level := override.find(f"{W}lvl")) is not None
        }
        lists[list_id] = _List(
            counted=counted,
            levels={at: level for at, level in {**levels[counted], **replaced}.items() if 0 <= at < _LEVELS},
            starts=starts,
        )
    return Numbering(lists)


def _levels(body: Element) -> dict[int, Level]:
    return {number(element.get(f"{W}ilvl")): _level(element) for element in body.iterfind(f"{W}lvl")}


def _level(element: Element) -> Level:
    restart = value(element, f"{W}lvlRestart")
    alternative = element.find(f".//{W}numFmt")
    way = alternative.get(f"{W}val") if alternative is not None else None
    level = Level(
        start=number(value(element, f"{W}start"), 1),
        way=way or "decimal",
        text=value(element, f"{W}lvlText") or "",
        restarts_after=None if restart is None else number(restart),
        in_digits=is_on(element, f"{W}isLgl"),
        style=value(element, f"{W}pStyle") or "",
    )
    if level.way != "bullet":
        return level
    fonts = element.find(f"{W}rPr/{W}rFonts")
    font = "" if fonts is None else fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or ""
    sign = as_written(level.text, font)
    return replace(level, text=sign if sign in _TELLING else BULLET)


def _shown(level: Level, counts: list[int | None], levels: Mapping[int, Level]) -> str:
    if level.way == "bullet":
        return level.text

    def count(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        way = levels[at].way if at in levels else "decimal"
        return numeral(counts[at] or 0, "decimal" if level.in_digits and way != "decimalZero" else way)

    return (
        _PLACE.sub(count, level.text)[:_LONGEST_LABEL].strip() if level.way != "none" else _unnumbered(level)
    )


def _unnumbered(level: Level) -> str:
    return _PLACE.sub("", level.text).strip()
