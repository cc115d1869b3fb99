from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rag_engine.errors import FileTooLarge
from rag_engine.parsers._opendocument.package import CHART, OFFICE, TABLE
from rag_engine.parsers._opendocument.text import row_cells, table_rows, texts
from rag_engine.parsers._shared.charts import LONGEST, MOST_CELLS, ChartTable, DocumentChart, series_name
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.sheets._cells.typed_cells import TypedText, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_OWN_TABLE: Final = "local-table."
_REFERENCE: Final = f"{CHART}values-cell-range-address"


def chart(root: _Element) -> DocumentChart:
    """From its copy of the cells, unless they are in a sheet."""
    titles = {path: _title(root, path) for path in ("title", "subtitle")}
    axes = [
        (axis.get(f"{CHART}dimension") or "", _title(axis, "title")) for axis in root.iter(f"{CHART}axis")
    ]
    named = [titles["subtitle"], *(title for _, title in axes)]
    ranges = [series.get(_REFERENCE) or "" for series in root.iter(f"{CHART}series")]
    is_in_sheet = any(ranges) and not any(one.startswith(_OWN_TABLE) for one in ranges)
    return DocumentChart(
        title=titles["title"],
        axes=tuple(dict.fromkeys(filter(None, named))),
        tables=() if is_in_sheet else tuple(_tables(root, axes)),
    )


def _title(parent: _Element, name: str) -> str:
    found = next(parent.iter(f"{CHART}chart"), parent).find(f"{CHART}{name}")
    return "" if found is None else one_line(" ".join(texts(found)))[:LONGEST]


def _tables(root: _Element, axes: list[tuple[str, str]]) -> Iterator[ChartTable]:
    across = next((title for dimension, title in axes if dimension == "x"), "")
    along = [title for dimension, title in axes if dimension == "y"]
    unit = along[0] if len(along) == 1 else ""
    for element in root.iter(f"{TABLE}table"):
        rows = list(_rows(element))
        has_names = len(rows) > 1 and not any(isinstance(cell, TypedText) for cell in rows[0])
        names = rows.pop(0) if has_names else []
        width = max(map(len, rows), default=0)
        yield ChartTable(
            name=across,
            categories={at: row[0] for at, row in enumerate(rows) if row},
            series=[
                (
                    series_name(names[column] if column < len(names) else "", unit, column),
                    {at: row[column] for at, row in enumerate(rows) if column < len(row)},
                )
                for column in range(1, width)
            ],
        )


def _rows(element: _Element) -> Iterator[list[str]]:
    count = 0
    for row in table_rows(element):
        cells = list(row_cells(row))
        count += sum(times for _, times in cells)
        if count > MOST_CELLS:
            raise FileTooLarge
        yield [text for cell, times in cells for text in [_text(cell)] * times]


def _text(cell: _Element) -> str:
    text = one_line(" ".join(texts(cell)))[:LONGEST]
    try:
        value = float(cell.get(f"{OFFICE}value") or "")
    except ValueError:
        return text
    return typed(text, value) if math.isfinite(value) else ""
