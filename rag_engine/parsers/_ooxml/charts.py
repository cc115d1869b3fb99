from __future__ import annotations

import datetime
import re
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import CX, A, C, number
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._shared.tables import table_text
from rag_engine.parsers.sheets._cells.number_formats import format_value
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.parsers._ooxml.package import Element

Column = dict[int, str]
"""Row (from 0) -> value."""

_MOST_ROWS: Final = 20_000
_FIRST_DAY: Final = datetime.datetime(1899, 12, 30)
_DATE: Final = re.compile(r"[ymd]", re.IGNORECASE)
_LONGEST_FORMAT: Final = 255
_LITERAL: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')


def chart_sections(root: Element, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
    title = _title(root)
    if title:
        yield Section(text=title, anchor=anchor, headings=headings)
        headings = (*headings, title)
    for categories, series in _tables(root):
        text = table_text(_rows(categories, series))
        yield Section(text=text, anchor=anchor, headings=headings, kind="table")


def _rows(categories: Column, series: Sequence[tuple[str, Column]]) -> Iterator[list[str]]:
    yield ["", *(name for name, _ in series)]
    numbers = {at for column in (categories, *(column for _, column in series)) for at in column}
    for at in sorted(numbers)[:_MOST_ROWS]:
        cells = [column.get(at, "") for _, column in series]
        if any(cells):
            yield [categories.get(at, "") or (str(at + 1) if not categories else ""), *cells]


def _title(root: Element) -> str:
    for path in (f"{C}chart/{C}title", f"{CX}chart/{CX}title"):
        found = root.find(path)
        if found is not None:
            return one_line(
                " ".join(_paragraphs(found))
                or " ".join(element.text or "" for element in found.iter(f"{C}v", f"{CX}v"))
            )
    return ""


def _paragraphs(element: Element) -> Iterator[str]:
    for paragraph in element.iter(f"{A}p"):
        yield "".join(words.text or "" for words in paragraph.iter(f"{A}t"))


def _tables(root: Element) -> list[tuple[Column, list[tuple[str, Column]]]]:
    tables: list[tuple[Column, list[tuple[str, Column]]]] = []
    for name, categories, values in (*_series(root), *_new_series(root)):
        same = next((columns for known, columns in tables if known == categories), None)
        if same is None:
            tables.append((categories, [(name, values)]))
        else:
            same.append((name, values))
    return tables


def _series(root: Element) -> Iterator[tuple[str, Column, Column]]:
    for one in root.iterfind(f"{C}chart/{C}plotArea/*/{C}ser"):
        name = " ".join(_column(one.find(f"{C}tx")).values())
        categories = _column(one.find(f"{C}cat")) or _column(one.find(f"{C}xVal"))
        yield name, categories, _column(one.find(f"{C}val")) or _column(one.find(f"{C}yVal"))
        sizes = _column(one.find(f"{C}bubbleSize"))
        if sizes:
            yield f"{name} (size)", categories, sizes


def _column(element: Element | None) -> Column:
    if element is None:
        return {}
    levels = list(element.iter(f"{C}lvl"))
    if levels:
        return _nested_categories([_points(level, "") for level in levels])
    column: Column = {}
    for cache in element.iter(f"{C}strCache", f"{C}numCache", f"{C}strLit", f"{C}numLit"):
        code = cache.find(f"{C}formatCode")
        column.update(_points(cache, "" if code is None else code.text or ""))
    if not column and (text := element.find(f"{C}v")) is not None:
        column[0] = text.text or ""
    return column


def _nested_categories(levels: Sequence[Column]) -> Column:
    """The inner level comes first in the file."""
    outer = [(level, sorted(level)) for level in levels[:0:-1]]
    return {
        at: ", ".join(
            [*(name for level, starts in outer if (name := _outer_label(level, starts, at))), inner]
        )
        for at, inner in levels[0].items()
    }


def _outer_label(level: Column, starts: Sequence[int], at: int) -> str:
    before = bisect_right(starts, at)
    return level[starts[before - 1]] if before else ""


def _points(parent: Element, code: str) -> Column:
    points: Column = {}
    for point in parent.iterfind(f"{C}pt"):
        text = point.find(f"{C}v")
        at = number(point.get("idx"), -1)
        if text is not None and text.text and at >= 0:
            points[at] = _formatted(text.text, point.get("formatCode") or code)
    return points


def _formatted(text: str, code: str) -> str:
    with suppress(ValueError, OverflowError):
        amount = float(text)
        plain = _LITERAL.sub("", code[:_LONGEST_FORMAT].partition(";")[0])
        if "%" in plain:
            return f"{amount * 100:.12g}%"
        if (
            plain.lower() not in {"", "general"}
            and _DATE.search(plain)
            and "#" not in plain
            and "0" not in plain
        ):
            return format_value(_FIRST_DAY + datetime.timedelta(days=amount), code)
        return f"{amount:.15g}" if code else text
    return text


def _new_series(root: Element) -> Iterator[tuple[str, Column, Column]]:
    data = {element.get("id") or "": element for element in root.iterfind(f"{CX}chartData/{CX}data")}
    for one in root.iterfind(f"{CX}chart/{CX}plotArea/{CX}plotAreaRegion/{CX}series"):
        found = one.find(f"{CX}dataId")
        source = data.get(found.get("val") or "") if found is not None else None
        if source is None:
            continue
        name = one.find(f"{CX}tx//{CX}v")
        levels = [_new_points(level) for level in source.iterfind(f"{CX}strDim/{CX}lvl")]
        categories = _nested_categories(levels) if levels else {}
        values = next((_new_points(level) for level in source.iterfind(f"{CX}numDim/{CX}lvl")), Column())
        yield (name.text or "") if name is not None else "", categories, values


def _new_points(level: Element) -> Column:
    points = ((number(point.get("idx"), -1), point.text or "") for point in level.iterfind(f"{CX}pt"))
    return {at: text for at, text in points if at >= 0 and text}
