from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, UnsupportedFile
from rag_engine.parsers._shared.encoding import encoding_of
from rag_engine.parsers._shared.sections import is_blank, one_line
from rag_engine.parsers._shared.tables import TableRow, table_sections
from rag_engine.parsers.sheets._cells.cell_kinds import kind, names_columns
from rag_engine.text.table_anchors import rows_anchor
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_DELIMITERS: Final = "\t;|,"
_NONE: Final = "\x1f"
_SAMPLE_LINES: Final = 50
_LONGEST_LINE: Final = 1 << 20
_LONGEST_CELL: Final = 1 << 20
_MOST_QUOTED_LINES: Final = 500
_MOST_RUNAWAYS: Final = 3
_NAMED_DELIMITER: Final = re.compile(r"\ufeff?sep=(.)\r?\n?", re.IGNORECASE | re.DOTALL)
_KEPT_AS_TEXT: Final = re.compile('="([^"]*)"')
csv.field_size_limit(1 << 30)  # the default of 128 kB rejects long cells


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dialect:
    delimiter: str
    quote: str = '"'
    escape: str | None = None

    def rows(self, lines: Iterable[str], *, quoted: bool = True) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar=self.escape if quoted else None,
            doublequote=self.escape is None,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            skipinitialspace=False,
        )


class _UnclosedQuote(Exception):
    pass


class _Lines:
    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.record: list[str] = []
        self.is_limited = True

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.is_limited and len(self.record) >= _MOST_QUOTED_LINES:
            raise _UnclosedQuote
        line = next(self._lines)
        # A NUL would end the C string in libraries.
        line = line.replace("\x00", "") if "\x00" in line else line
        self.record.append(line)
        return line

    def put_back(self) -> str:
        first, *rest = self.record
        self._lines = chain(rest, self._lines)
        self.record = []
        return first


def sections(path: Path) -> Iterator[Section]:
    encoding = encoding_of(path)
    if encoding is None:
        raise UnsupportedFile("The file is neither a spreadsheet nor text, so it cannot be read.")
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        csv.field_size_limit(_LONGEST_CELL)
        lines = iter(lambda: file.readline(_LONGEST_LINE), "")
        sample = list(islice(lines, _SAMPLE_LINES))
        named = _NAMED_DELIMITER.fullmatch(sample[0]) if sample else None
        sample = sample[1:] if named else sample
        comments = _comments(sample)
        body = sample[len(comments) :]
        dialect = _dialect(body, named[1] if named else "")
        records = _records(_Lines(chain(body, lines)), dialect)
        try:
            for number, comment in enumerate(comments, 1):
                text = one_line(comment.lstrip("\ufeff").lstrip("#"))
                if text:
                    yield Section(text=text, anchor=rows_anchor(number, number))
            for table in _tables(_rows(records, len(comments))):
                yield from table_sections(table, anchor=_row_range)
        except csv.Error as error:
            raise CorruptFile(
                "A row of the table cannot be read; check its quotation marks and add it again."
            ) from error


def _row_range(rows: Sequence[TableRow]) -> str:
    return rows_anchor(rows[0].number, rows[-1].number)


def _tables(rows: Iterable[TableRow]) -> Iterator[Iterator[TableRow]]:
    for _, table in groupby(_numbered(iter(rows)), key=lambda numbered: numbered[0]):
        yield (row for _, row in table)


def _numbered(rows: Iterator[TableRow]) -> Iterator[tuple[int, TableRow]]:
    table = above = widest = 0
    counted = False
    for row in rows:
        beginning = [row]
        if (counted or row.filled > widest > 1) and row.number > above + 1:
            if row.filled == 1:
                beginning += islice(rows, 1)
            last = beginning[-1]
            if last.number - row.number == len(beginning) - 1 and names_columns(last.cells):
                table, counted, widest = table + 1, False, 0
        for taken in beginning:
            counted = counted or any(kind(cell) == "number" for cell in taken.cells)
            above, widest = taken.number, max(widest, taken.filled)
            yield table, taken


def _rows(records: Iterable[list[str]], above: int) -> Iterator[TableRow]:
    for number, cells in enumerate(records, above + 1):
        if any(cells) and not all(map(is_blank, cells)):
            yield TableRow(
                number=number,
                cells=tuple(
                    [cell.strip() if '="' not in cell else _unquoted(cell.strip()) for cell in cells]
                ),
            )


def _unquoted(cell: str) -> str:
    found = _KEPT_AS_TEXT.fullmatch(cell)
    return found[1] if found is not None else cell


def _records(lines: _Lines, dialect: _Dialect) -> Iterator[list[str]]:
    runaways = 0
    while True:
        quoted = runaways < _MOST_RUNAWAYS
        lines.is_limited = quoted
        try:
            for cells in dialect.rows(lines, quoted=quoted):
                if quoted and len(lines.record) > 1 and _is_open(lines.record, dialect):
                    raise _UnclosedQuote
                lines.record.clear()
                yield cells
        except _UnclosedQuote:
            runaways += 1
            yield from dialect.rows([lines.put_back()], quoted=False)
        else:
            return


def _is_open(record: Sequence[str], dialect: _Dialect) -> bool:
    return dialect.escape is None and sum(line.count(dialect.quote) for line in record) % 2 == 1


def _comments(lines: Sequence[str]) -> list[str]:
    count = next((at for at, line in enumerate(lines) if not line.lstrip("\ufeff").startswith("#")), 0)
    if count and any(line.startswith("#") for line in lines[count:]):
        return []
    return [] if count == 1 and re.match(r"\ufeff?#\s*[,;\t|]", lines[0]) else list(lines[:count])


def _dialect(lines: Sequence[str], delimiter: str) -> _Dialect:
    text = "".join(lines)
    quote = "'" if '"' not in text and _is_quoted_by_apostrophes(lines) else '"'
    escape = "\\" if '\\"' in text and '""' not in text.replace('\\"', "") else None
    return _Dialect(delimiter=delimiter or _delimiter(lines, quote), quote=quote, escape=escape)


def _is_quoted_by_apostrophes(lines: Sequence[str]) -> bool:
    found = sum(1 for line in lines if re.match(r"(?:[^,;\t|']*[,;\t|])?'[^']*'\s*(?:[,;\t|]|$)", line))
    return found * 10 > len(lines) * 6


def _delimiter(lines: Sequence[str], quote: str) -> str:

    def regularity(delimiter: str) -> tuple[bool, int, int, bool]:
        rows = [row for row in csv.reader(lines, delimiter=delimiter, quotechar=quote) if any(row)]
        first = len(rows[0]) if rows else 0
        counts = Counter(len(cells) for cells in rows if len(cells) > 1)
        cells, regular = max(
            counts.items(), key=lambda item: (item[1], item[0] == first, item[0]), default=(0, 0)
        )
        heads = first == cells and regular * 2 > len(rows)
        return heads, regular, cells, first > 1 or regular * 2 >= len(rows) > 0

    found = {delimiter: regularity(delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: found[delimiter])
    return best if found[best][1] and found[best][3] else _NONE
