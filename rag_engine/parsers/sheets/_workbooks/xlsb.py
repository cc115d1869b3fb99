"""XLSB by calamine: values and ISO dates, no number formats."""

from __future__ import annotations

import datetime
from contextlib import closing
from typing import TYPE_CHECKING, Final, Protocol, cast

import python_calamine

from rag_engine.errors import CorruptFile
from rag_engine.parsers._archives.zip_bombs import check_archive
from rag_engine.parsers._shared.sections import is_blank, one_line
from rag_engine.parsers.sheets._cells.grid import Area, GridRow, merged, sheet_sections
from rag_engine.parsers.sheets._cells.number_formats import format_value
from rag_engine.parsers.sheets._cells.typed_cells import iso_date, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rag_engine.types import Section

_DAMAGED: Final = "The spreadsheet is damaged and cannot be read; save it again."


class _Metadata(Protocol):
    name: str
    visible: object


class _Sheet(Protocol):
    start: tuple[int, int] | None
    merged_cell_ranges: list[tuple[tuple[int, int], tuple[int, int]]] | None

    def iter_rows(self) -> Iterable[list[object]]: ...


class _Workbook(Protocol):
    sheets_metadata: list[_Metadata]

    def get_sheet_by_name(self, name: str) -> _Sheet: ...
    def close(self) -> None: ...


_open: Final = cast("Callable[[str], _Workbook]", python_calamine.load_workbook)  # pyright: ignore[reportUnknownMemberType]
_VISIBLE: Final = python_calamine.SheetVisibleEnum.Visible


def sections(path: Path) -> Iterator[Section]:
    check_archive(path)
    try:
        with closing(_open(str(path))) as workbook:
            for metadata in workbook.sheets_metadata:
                title = metadata.name
                hidden = " (hidden)" if metadata.visible != _VISIBLE else ""
                sheet = workbook.get_sheet_by_name(title)
                yield from sheet_sections(
                    merged(_rows(sheet), _areas(sheet)), title=title, headings=(one_line(title) + hidden,)
                )
    except (python_calamine.CalamineError, *(OSError, ValueError, TypeError, KeyError, IndexError)) as error:
        raise CorruptFile(_DAMAGED) from error


def _areas(sheet: _Sheet) -> list[Area]:
    return [
        Area(first_row=top + 1, last_row=bottom + 1, first_column=left + 1, last_column=right + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
    ]


def _rows(sheet: _Sheet) -> Iterator[GridRow]:
    # calamine begins at the first used row and column.
    first_column = (sheet.start or (0, 0))[1] + 1
    for number, values in enumerate(sheet.iter_rows(), 1):
        cells = {
            column: text
            for column, value in enumerate(values, first_column)
            if value is not None and not is_blank(text := _text(value))
        }
        if cells:
            yield GridRow(number=number, cells=cells)


def _text(value: object) -> str:
    if isinstance(value, datetime.timedelta):
        return format_value(value, "[h]:mm:ss")
    text = format_value(value, "General")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return typed(text, value)
    return typed(text, iso_date(value)) if isinstance(value, datetime.date) else text
