"""By local names: "strict" files have other namespaces."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from rag_engine.errors import FileTooLarge
from rag_engine.parsers._ooxml.package import number
from rag_engine.parsers._shared.charts import LONGEST, ChartTable, Column, DocumentChart, series_name
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.sheets._cells.date_formats import EPOCH, EPOCH_1904, LITERAL, LONGEST_FORMAT
from rag_engine.parsers.sheets._cells.number_formats import format_value, plain
from rag_engine.parsers.sheets._cells.typed_cells import typed_number

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator, Sequence

    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage
    from rag_engine.types import Section

_GENERAL: Final = frozenset({"", "General"})
_LARGEST: Final = 8 << 20
_MOST_LEVELS: Final = 8
_LONGEST_AXIS: Final = 60
_MOST_DECIMALS: Final = 4
_NO_DIGITS: Final = re.compile(r"[ymdhse@/]", re.IGNORECASE)
_DIGITS: Final = re.compile(
    rf"(?P<literal>{LITERAL.pattern})|[#0?](?P<decimals>\.[#0?]+)?(?=(?P<scale>,*)(?:[^#0?,.]|$))"
)
_SCALED: Final = re.compile(r"[#0?],+(?![#0?,])")
_CACHES: Final = ("{*}strCache", "{*}numCache", "{*}strLit", "{*}numLit")
_VALUES: Final = ("{*}val", "{*}yVal", "{*}bubbleSize")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Series:
    name: str
    categories: Column
    values: Column
    across_title: str = ""
    along_title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    title: str
    has_values: bool
    is_flat: bool
    is_scaled: bool
    """Its title is not the values' unit."""

    @property
    def name(self) -> str:
        return "" if self.is_scaled or len(self.title) > _LONGEST_AXIS else self.title


def chart_sections(
    package: OoxmlPackage, part: str, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    def load() -> DocumentChart:
        if package.unpacked(part) > _LARGEST:
            raise FileTooLarge("A part of the file is too large to be read; split it into smaller files.")
        return chart(package.root(part))

    yield from package.charts.sections(load, anchor, headings)


def chart(root: Element) -> DocumentChart:
    epoch = EPOCH_1904 if _is_on(root.find("{*}date1904")) else EPOCH
    series = [*_series(root, epoch), *_new_series(root)]
    axes = [*root.iterfind("{*}chart/{*}plotArea/*/{*}title")]
    return DocumentChart(
        title=_title(root, series),
        axes=tuple(dict.fromkeys(filter(None, map(_words, axes)))),
        tables=_tables(series),
    )


def references(root: Element) -> Iterator[str]:
    """Of all values; "" for those without cells."""
    for one in root.iterfind("{*}chart/{*}plotArea/*/{*}ser"):
        for values in (found for name in _VALUES if (found := one.find(name)) is not None):
            yield next((cells.text or "" for cells in values.iter("{*}f")), "")
    for values in root.iterfind("{*}chartData/{*}data/{*}numDim"):
        yield next((cells.text or "" for cells in values.iterfind("{*}f")), "")


def _title(root: Element, series: Sequence[_Series]) -> str:
    found = root.find("{*}chart/{*}title")
    if found is None:
        return ""
    return _words(found) or (series[0].name if len(series) == 1 else "")


def _words(title: Element) -> str:
    paragraphs = (
        "".join(words.text or "" for words in paragraph.iter("{*}t")) for paragraph in title.iter("{*}p")
    )
    text = " ".join(paragraphs).strip() or " ".join(found.text or "" for found in title.iter("{*}v"))
    return one_line(text)[:LONGEST]


def _tables(series: Sequence[_Series]) -> list[ChartTable]:
    grouped: dict[tuple[tuple[int, str], ...], list[_Series]] = {}
    for one in series:
        grouped.setdefault(tuple(one.categories.items()), []).append(one)
    return [
        ChartTable(
            name=group[0].across_title,
            categories=group[0].categories,
            series=[
                (series_name(one.name, one.along_title, at), one.values) for at, one in enumerate(group, 1)
            ],
        )
        for group in grouped.values()
    ]


def _axes(plot: Element) -> dict[str, _Axis]:
    axes: dict[str, _Axis] = {}
    for axis in plot.iterfind("*/{*}title/.."):
        code = axis.find("{*}numFmt")
        bare = LITERAL.sub("", "" if code is None else _code(code.get("formatCode")))
        axes[_value(axis.find("{*}axId"))] = _Axis(
            title=_words(title) if (title := axis.find("{*}title")) is not None else "",
            has_values=str(axis.tag).endswith("}valAx"),
            is_flat=_value(axis.find("{*}axPos")) in {"b", "t"},
            is_scaled=axis.find("{*}dispUnits") is not None or _SCALED.search(bare) is not None,
        )
    return axes


def _value(element: Element | None) -> str:
    return "" if element is None else element.get("val") or ""


def _is_on(element: Element | None) -> bool:
    return element is not None and (element.get("val") or "1") in {"1", "true"}


def _series(root: Element, epoch: datetime.datetime) -> Iterator[_Series]:
    plot = root.find("{*}chart/{*}plotArea")
    axes = {} if plot is None else _axes(plot)
    for group in plot if plot is not None else ():
        own = [axes[name] for one in group.iterfind("{*}axId") if (name := _value(one)) in axes]
        has_points = group.find("{*}ser/{*}yVal") is not None
        across = next((one for one in own if (one.is_flat if has_points else not one.has_values)), None)
        along = next((one for one in own if one is not across and one.has_values), None)
        names = ("" if across is None else across.name, "" if along is None else along.name)
        for one in group.iterfind("{*}ser"):
            yield from _one_series(one, names, epoch)


def _one_series(one: Element, axes: tuple[str, str], epoch: datetime.datetime) -> Iterator[_Series]:
    across, along = axes
    name = one_line(" ".join(_column(one.find("{*}tx"), epoch).values()))[:LONGEST]
    categories = _column(one.find("{*}cat"), epoch) or _column(one.find("{*}xVal"), epoch)
    values = _column(one.find("{*}val"), epoch) or _column(one.find("{*}yVal"), epoch)
    yield _Series(name=name, categories=categories, values=values, across_title=across, along_title=along)
    sizes = _column(one.find("{*}bubbleSize"), epoch)
    if sizes:
        yield _Series(name=f"{name} (size)".strip(), categories=categories, values=sizes, across_title=across)


def _column(element: Element | None, epoch: datetime.datetime) -> Column:
    if element is None:
        return {}
    levels = list(element.iter("{*}lvl"))[:_MOST_LEVELS]
    if levels:
        return _nested_categories([_points(level) for level in levels])
    column: Column = {}
    for cache in element.iter(*_CACHES):
        code = cache.find("{*}formatCode")
        is_text = "}str" in str(cache.tag)
        column.update(
            _points(cache) if is_text else _numbers(cache, "" if code is None else _code(code.text), epoch)
        )
    if not column and (text := element.find("{*}v")) is not None:
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


def _points(parent: Element) -> Column:
    return {at: text[:LONGEST] for at, text, _ in _given(parent)}


def _numbers(parent: Element, code: str, epoch: datetime.datetime) -> Column:
    return {at: _formatted(text, own or code, epoch) for at, text, own in _given(parent)}


def _given(parent: Element) -> Iterator[tuple[int, str, str]]:
    for point in parent.iterfind("{*}pt"):
        found = point.find("{*}v")
        text = one_line((point.text if found is None else found.text) or "")
        at = number(point.get("idx"), -1)
        if text and at >= 0:
            yield at, text, _code(point.get("formatCode"))


def _code(text: str | None) -> str:
    return text if text and len(text) <= LONGEST_FORMAT else ""


def _formatted(text: str, code: str, epoch: datetime.datetime) -> str:
    """Digits that somebody typed are kept, whatever the format."""
    try:
        amount = float(text)
    except ValueError:
        return text[:LONGEST]
    if not math.isfinite(amount):
        return text[:LONGEST]
    if code in _GENERAL:
        return typed_number(plain(amount), amount, "", epoch=epoch)
    exact = Decimal(f"{amount:.15g}")
    shown = format_value(amount, _with_digits_of(exact, code), epoch=epoch) or plain(amount)
    return typed_number(shown, amount, code, epoch=epoch)


def _with_digits_of(amount: Decimal, code: str) -> str:
    bare = LITERAL.sub("", code)
    exponent = amount.normalize().as_tuple().exponent
    if _NO_DIGITS.search(bare) or not isinstance(exponent, int):
        return code

    hundredfold = 2 * bare.partition(";")[0].count("%")

    def widened(found: re.Match[str]) -> str:
        decimals, thousandfold = found["decimals"] or "", 3 * len(found["scale"] or "")
        missing = thousandfold - hundredfold - exponent - max(len(decimals) - 1, 0)
        if found["literal"] or missing <= 0 or -exponent - hundredfold > _MOST_DECIMALS:
            return found[0]
        return f"{found[0]}{'' if decimals else '.'}{'#' * missing}"

    return _DIGITS.sub(widened, code)


def _new_series(root: Element) -> Iterator[_Series]:
    data = {element.get("id") or "": element for element in root.iterfind("{*}chartData/{*}data")}
    for one in root.iterfind("{*}chart/{*}plotArea/{*}plotAreaRegion/{*}series"):
        found = one.find("{*}dataId")
        source = data.get(_value(found)) if found is not None else None
        if source is None:
            continue
        name = one.find("{*}tx")
        levels = [_points(level) for level in source.iterfind("{*}strDim/{*}lvl")][:_MOST_LEVELS]
        values = next(
            (
                _numbers(level, _code(level.get("formatCode")), EPOCH)
                for level in source.iterfind("{*}numDim/{*}lvl")
            ),
            Column(),
        )
        yield _Series(
            name="" if name is None else _words(name),
            categories=_nested_categories(levels) if levels else {},
            values=values,
        )
