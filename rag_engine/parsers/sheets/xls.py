from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Final, Protocol, cast

import xlrd
from xlrd.biffh import XLRDError
from xlrd.compdoc import CompDocError

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._properties import ole
from rag_engine.parsers._shared.sections import is_blank, joined, one_line
from rag_engine.parsers.sheets._cells.date_formats import EPOCH, EPOCH_1904
from rag_engine.parsers.sheets._cells.grid import Area, GridRow, column_letters, merged, sheet_sections
from rag_engine.parsers.sheets._cells.number_formats import format_value
from rag_engine.parsers.sheets._cells.typed_cells import typed_number
from rag_engine.parsers.sheets._workbooks.xlsx_comments import note_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SUFFIXES: Final = "xlt xlw"
STREAMS: Final = "Workbook, Book"

_DAMAGED: Final = "The spreadsheet is damaged and cannot be read; save it again."
_NUMBERS: Final = frozenset({xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE})


class _Format(Protocol):
    format_str: str


class _Style(Protocol):
    format_key: int


class _Note(Protocol):
    text: str
    author: str


class _Sheet(Protocol):
    name: str
    nrows: int
    visibility: int
    merged_cells: list[tuple[int, int, int, int]]
    cell_note_map: Mapping[tuple[int, int], _Note]

    def row_types(self, row: int) -> list[int]: ...
    def row_values(self, row: int) -> list[object]: ...
    def cell_xf_index(self, row: int, column: int) -> int: ...


class _Book(Protocol):
    nsheets: int
    datemode: int
    xf_list: list[_Style]
    format_map: Mapping[int, _Format]

    def sheet_by_index(self, index: int) -> _Sheet: ...
    def unload_sheet(self, index: int) -> None: ...


_open_workbook: Final = cast("Callable[..., _Book]", xlrd.open_workbook)
_ERRORS: Final = cast("Mapping[int, str]", xlrd.error_text_from_code)


properties: Final = ole.summary


def parse(path: Path) -> Iterator[Section]:
    """Anchored "Budget!A2:F40"."""
    yield from joined(_sections(path))


def _sections(path: Path) -> Iterator[Section]:
    try:
        book = _open_workbook(
            file_contents=path.read_bytes(), formatting_info=True, on_demand=True, logfile=io.StringIO()
        )
        for index in range(book.nsheets):
            sheet = book.sheet_by_index(index)
            yield from _sheet(book, sheet)
            book.unload_sheet(index)
    except XLRDError as error:
        if "encrypted" in str(error):
            raise EncryptedFile from error
        raise CorruptFile(_DAMAGED) from error
    except (
        *(CompDocError, struct.error, OSError, KeyError, ValueError, TypeError, IndexError),
        *(AssertionError, AttributeError, ArithmeticError, NotImplementedError, RecursionError),
    ) as error:
        # xlrd raises arbitrary errors for damaged records.
        raise CorruptFile(_DAMAGED) from error


def _sheet(book: _Book, sheet: _Sheet) -> Iterator[Section]:
    title = sheet.name
    headings = (one_line(title) + (" (hidden)" if sheet.visibility else ""),)
    areas = [
        Area(first_row=top + 1, last_row=bottom, first_column=left + 1, last_column=right)
        for top, bottom, left, right in sheet.merged_cells
    ]
    yield from sheet_sections(merged(_rows(book, sheet), areas), title=title, headings=headings)
    for (row, column), note in sorted(sheet.cell_note_map.items()):
        text = note_text(note.text, note.author or "")
        if text:
            yield Section(
                text=text, anchor=f"{title}!{column_letters(column + 1)}{row + 1}", headings=headings
            )


def _rows(book: _Book, sheet: _Sheet) -> Iterator[GridRow]:
    for row in range(sheet.nrows):
        kinds, values = sheet.row_types(row), sheet.row_values(row)
        cells: dict[int, str] = {}
        for column, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            text = _text(book, sheet, (row, column), kind, value)
            if text and not is_blank(text):
                cells[column + 1] = text
        if cells:
            yield GridRow(number=row + 1, cells=cells)


def _text(book: _Book, sheet: _Sheet, place: tuple[int, int], kind: int, value: object) -> str:
    if kind == xlrd.XL_CELL_TEXT:
        return str(value)
    if kind in _NUMBERS:
        style = book.xf_list[sheet.cell_xf_index(*place)]
        found = book.format_map.get(style.format_key)
        number_format = found.format_str if found else "General"
        epoch = EPOCH_1904 if book.datemode else EPOCH
        text = format_value(value, number_format, epoch=epoch)
        return typed_number(text, cast("float", value), number_format, epoch=epoch)
    if kind == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == xlrd.XL_CELL_ERROR:
        return _ERRORS.get(cast("int", value), "#N/A")
    return ""
