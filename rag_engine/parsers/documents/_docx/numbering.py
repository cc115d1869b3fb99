"""Word computes numbers and bullets and never stores them as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W, is_on, number, value
from rag_engine.parsers._shared.numerals import numeral
from rag_engine.parsers._shared.symbols import as_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.parsers._ooxml.package import Element
    from rag_engine.parsers.documents._docx.styles import DocxStyle

BULLET: Final = "-"
_LEVELS: Final = 9
_PLACE: Final = re.compile("%([1-9])")
_MEANINGFUL: Final = frozenset("✓✗☐☑☒")
_LONGEST_LABEL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """`text` contains %1 for the number of the first level."""

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    restarts_after: int | None = None
    """Level (from 1) whose items restart this one; 0: never; None: any higher level."""
    in_digits: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    counted: str
    levels: Mapping[int, Level]
    starts: Mapping[int, int]


class ListNumbering:
    def __init__(self, lists: Mapping[str, _List]) -> None:
        self._lists = lists
        self._counts: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()

    def label(self, style: DocxStyle) -> tuple[str, int] | None:
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
        return _displayed(level, counts, one.levels), depth

    def _count(self, counts: list[int | None], one: _List, list_id: str, depth: int) -> None:
        started = (list_id, depth)
        now = counts[depth]
        if depth in one.starts and started not in self._started:
            counts[depth] = one.starts[depth]
        else:
            counts[depth] = one.levels[depth].start if now is None else now + 1
        self._started.add(started)
        for above in range(depth):
            if counts[above] is None:
                counts[above] = one.levels[above].start if above in one.levels else 1
        for below in range(depth + 1, _LEVELS):
            after = one.levels[below].restarts_after if below in one.levels else None
            if after is None or (after and depth < after):
                counts[below] = None


def numbering_of(root: Element | None) -> ListNumbering:
    if root is None:
        return ListNumbering({})
    bodies = {element.get(f"{W}abstractNumId") or "": element for element in root.iterfind(f"{W}abstractNum")}
    numbers = {element.get(f"{W}numId") or "": element for element in root.iterfind(f"{W}num")}
    styled = {value(body, f"{W}styleLink"): identifier for identifier, body in bodies.items()}
    lists: dict[str, _List] = {}
    levels = {identifier: _levels(body) for identifier, body in bodies.items()}
    for list_id, element in numbers.items():
        counted = value(element, f"{W}abstractNumId") or ""
        if counted not in bodies:
            continue
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
    return ListNumbering(lists)


def _levels(body: Element) -> dict[int, Level]:
    return {number(element.get(f"{W}ilvl")): _level(element) for element in body.iterfind(f"{W}lvl")}


def _level(element: Element) -> Level:
    restart = value(element, f"{W}lvlRestart")
    alternative = element.find(f".//{W}numFmt")
    number_format = alternative.get(f"{W}val") if alternative is not None else None
    level = Level(
        start=number(value(element, f"{W}start"), 1),
        number_format=number_format or "decimal",
        text=value(element, f"{W}lvlText") or "",
        restarts_after=None if restart is None else number(restart),
        in_digits=is_on(element, f"{W}isLgl"),
        style=value(element, f"{W}pStyle") or "",
    )
    if level.number_format != "bullet":
        return level
    fonts = element.find(f"{W}rPr/{W}rFonts")
    font = "" if fonts is None else fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or ""
    sign = as_written(level.text, font)
    return replace(level, text=sign if sign in _MEANINGFUL else BULLET)


def _displayed(level: Level, counts: list[int | None], levels: Mapping[int, Level]) -> str:
    if level.number_format == "bullet":
        return level.text

    def count(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        number_format = levels[at].number_format if at in levels else "decimal"
        return numeral(
            counts[at] or 0,
            "decimal" if level.in_digits and number_format != "decimalZero" else number_format,
        )

    return (
        _PLACE.sub(count, level.text)[:_LONGEST_LABEL].strip()
        if level.number_format != "none"
        else _unnumbered(level)
    )


def _unnumbered(level: Level) -> str:
    return _PLACE.sub("", level.text).strip()
