"""Spreadsheets: XLSX by openpyxl, CSV and TSV of any delimiter and encoding; cells as shown, rows told by their numbers."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections import Counter
from contextlib import closing, contextmanager
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, Protocol, cast

import openpyxl
from openpyxl.utils import get_column_letter

from rag_engine.errors import CorruptFile, UnsupportedFile
from rag_engine.parsers._archives import check_archive
from rag_engine.parsers._encoding import encoding_of
from rag_engine.parsers._number_formats import shown
from rag_engine.parsers._sections import is_blank, joined, one_line
from rag_engine.parsers._tables import Row, table_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from rag_engine.types import Section

_DELIMITERS: Final = ",;\t|"
_SAMPLE_LINES: Final = 30
_LONGEST_CELL: Final = 1 << 20
csv.field_size_limit(
    1 << 30
)  # the default refuses cells of 128 kB as damage; the worker's memory has a limit of its own


class _Cell(Protocol):
    value: object
    column: int
    number_format: str


class _Worksheet(Protocol):
    title: str

    def reset_dimensions(self) -> None: ...
    def iter_rows(self) -> Iterator[tuple[_Cell, ...]]: ...


class _Workbook(Protocol):
    worksheets: list[_Worksheet]

    def close(self) -> None: ...


_load_workbook: Final = cast("Callable[..., _Workbook]", openpyxl.load_workbook)
_column_letter: Final = cast("Callable[[int], str]", get_column_letter)


def parse(path: Path) -> Iterator[Section]:
    """Tables anchored to their cells, "Budget!A2:F40", or "rows 2–40" where there are no sheets."""
    with path.open("rb") as file:
        is_archive = file.read(4) == b"PK\x03\x04"
    yield from joined(_workbook(path) if is_archive else _separated(path))


def _workbook(path: Path) -> Iterator[Section]:
    check_archive(path)
    # As an open file: by its path, openpyxl would refuse every name that does not end as it likes.
    with path.open("rb") as file, _translate_errors():
        workbook = _load_workbook(file, read_only=True, data_only=True, keep_links=False)
        with closing(workbook):
            for worksheet in workbook.worksheets:
                headings = (one_line(worksheet.title),)
                for table in _tables(_rows(worksheet)):
                    yield from table_sections(table, anchor=_cell_range(worksheet.title), headings=headings)


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except (
        *(zipfile.BadZipFile, EOFError, OSError, KeyError, ValueError, TypeError, AttributeError, IndexError),
        *(SyntaxError, NotImplementedError, zlib.error, AssertionError, ArithmeticError),
    ) as error:
        # openpyxl lets every error of damaged XML through; a SyntaxError is that of the XML parser.
        raise CorruptFile("The spreadsheet is damaged and cannot be read; save it again.") from error


def _rows(worksheet: _Worksheet) -> Iterator[Row]:
    """The rows that hold something. The stated size of a sheet is not trusted: one far cell makes it millions of rows."""
    worksheet.reset_dimensions()
    for number, cells in enumerate(worksheet.iter_rows(), 1):
        values = [shown(cell.value, cell.number_format) if cell.value is not None else "" for cell in cells]
        filled = [at for at, value in enumerate(values) if not is_blank(value)]
        if filled:
            first, last = filled[0], filled[-1]
            yield Row(number=number, cells=tuple(values[first : last + 1]), first_column=first + 1)


def _tables(rows: Iterable[Row]) -> Iterator[Iterator[Row]]:
    """Tables on one sheet: a gap between rows divides them where the next row can be a header, all words."""
    for _, table in groupby(_numbered_tables(rows), key=lambda numbered: numbered[0]):
        yield (row for _, row in table)


def _numbered_tables(rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
    table, above, left = 0, 0, 0
    for row in rows:
        gap = row.number > above + 1
        if not above or (gap and row.filled > 1 and not any(map(_is_number, row.cells))):
            table, left = table + 1, row.first_column
        above = row.number
        missing = max(row.first_column - left, 0)
        yield (
            table,
            Row(
                number=row.number, cells=("",) * missing + row.cells, first_column=row.first_column - missing
            ),
        )


def _is_number(cell: str) -> bool:
    return cell.strip("+-%€$£ ").replace(".", "").replace(",", "").isdecimal()


def _cell_range(title: str) -> Callable[[Sequence[Row]], str]:
    def anchor(rows: Sequence[Row]) -> str:
        first = _column_letter(min(row.first_column for row in rows))
        last = _column_letter(max(row.last_column for row in rows))
        beginning, end = f"{first}{rows[0].number}", f"{last}{rows[-1].number}"
        return f"{title}!{beginning}" if beginning == end else f"{title}!{beginning}:{end}"

    return anchor


def _row_range(rows: Sequence[Row]) -> str:
    first, last = rows[0].number, rows[-1].number
    return f"row {first}" if first == last else f"rows {first}–{last}"


def _separated(path: Path) -> Iterator[Section]:
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is neither a spreadsheet nor text, so it cannot be read.")
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        delimiter = _delimiter(list(islice(file, _SAMPLE_LINES)))
        file.seek(0)
        csv.field_size_limit(_LONGEST_CELL)
        # NUL would end the C string of a library further on.
        reader = csv.reader((line.replace("\x00", "") for line in file), delimiter=delimiter)
        try:
            yield from table_sections(_records(reader), anchor=_row_range)
        except csv.Error as error:
            raise CorruptFile(
                f"Row {reader.line_num} of the table cannot be read; check its quotation marks and add it again."
            ) from error


def _records(reader: Iterator[list[str]]) -> Iterator[Row]:
    """Rows are counted as a spreadsheet does, a quoted line break does not begin a new one."""
    for number, cells in enumerate(reader, 1):
        if any(not is_blank(cell) for cell in cells):
            yield Row(number=number, cells=tuple(cells))


def _delimiter(lines: Sequence[str]) -> str:
    """The character that divides most lines into the same number of cells, more than one."""

    def regularity(delimiter: str) -> tuple[int, int]:
        counts = Counter(len(cells) for cells in csv.reader(lines, delimiter=delimiter) if len(cells) > 1)
        cells, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return rows, cells

    return max(_DELIMITERS, key=regularity)
