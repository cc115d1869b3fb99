"""Charts as tables of the values kept for display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from rag_engine.errors import UserError
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS
from rag_engine.parsers._shared.tables import table_grid, table_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Column: TypeAlias = dict[int, str]
"""Row (from 0) -> value."""

LONGEST: Final = 300
"""Characters."""
_MOST_CHARTS: Final = 1_000
MOST_CELLS: Final = 200_000
"""Of a file."""
_MOST_ROWS: Final = 20_000
_MOST_NAMED: Final = 5
_UNREADABLE: Final = (
    *(UserError, SyntaxError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError),
    *ZIP_ERRORS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartTable:
    """`name`: the categories'."""

    categories: Column
    series: Sequence[tuple[str, Column]]
    name: str = ""

    @property
    def rows(self) -> list[int]:
        return sorted({at for _, column in self.series for at, text in column.items() if text})

    def cells(self) -> Iterator[list[str]]:
        for at in self.rows:
            category = self.categories.get(at, "") or ("" if self.categories else str(at + 1))
            yield [category, *(column.get(at, "") for _, column in self.series)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChart:
    title: str = ""
    axes: Sequence[str] = ()
    tables: Sequence[ChartTable] = ()

    @property
    def words(self) -> str:
        axes = f" ({'; '.join(self.axes)})" if self.axes else ""
        return f"Chart: {self.title}{axes}" if self.title else f"Chart{axes}" if axes else ""


class ChartReader:
    """Of one file, which may show a part any number of times."""

    def __init__(self) -> None:
        self._charts, self._cells = _MOST_CHARTS, MOST_CELLS
        self._left_out: dict[str, None] = {}

    def sections(
        self, load: Callable[[], DocumentChart], anchor: str, headings: tuple[str, ...]
    ) -> Iterator[Section]:
        chart = self.chart(load, anchor)
        yield Section(text=chart.words, anchor=anchor, headings=headings)
        yield from self.tables(chart, anchor, headings)

    def chart(self, load: Callable[[], DocumentChart], anchor: str) -> DocumentChart:
        """Empty if it cannot be read."""
        self._charts -= 1
        try:
            if self._charts >= 0 and self._cells >= 0:
                return load()
        except _UNREADABLE:
            pass
        self.leave_out(anchor)
        return DocumentChart()

    def tables(self, chart: DocumentChart, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
        headings = (*headings, chart.title) if chart.title else headings
        for table in chart.tables:
            height = len(table.rows)
            size = height * (len(table.series) + 1)
            if height > _MOST_ROWS or size > MOST_CELLS:
                self.leave_out(anchor)
                continue
            self._cells -= size
            if self._cells < 0:
                self.leave_out(anchor)
                return
            names, cells = (table.name, *(name for name, _ in table.series)), list(table.cells())
            if cells:
                text, grid = table_text([names, *cells]), table_grid(names, cells)
                yield Section(text=text, anchor=anchor, headings=headings, kind="table", grid=grid)

    def leave_out(self, anchor: str) -> None:
        self._left_out[anchor] = None

    def notices(self) -> Iterator[Section]:
        if self._left_out:
            anchors = list(filter(None, self._left_out))
            named, more = ", ".join(anchors[:_MOST_NAMED]), len(anchors) - _MOST_NAMED
            places = f"{named} and {more} more" if more > 0 else named
            within = f" ({places})" if places else ""
            text = f"Charts were not read{within}: they are damaged, or there is too much in them."
            yield Section(text=text, anchor=anchors[0] if anchors else "", kind="notice")


def series_name(name: str, axis: str, number: int) -> str:
    """With the axis, which often has the unit."""
    name = name[:LONGEST] or axis or f"Series {number}"
    if axis.casefold() in name.casefold():
        return name
    return f"{name}, {axis}" if "(" in axis else f"{name} ({axis})"
