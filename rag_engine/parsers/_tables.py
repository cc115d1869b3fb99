"""Pure: rows of cells to table sections, each with the header row first and an anchor to exactly its rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._lines import PASSAGE
from rag_engine.parsers._sections import one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_MOST_ROWS: Final = 40
_HEADER_WITHIN: Final = 5
"""The header is looked for in this many rows; titles may stand above it."""
_LONGEST_HEADER: Final = 400
"""Characters: a longer first row is not repeated with every part of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its number, and the column (from 1) of its first cell."""

    number: int
    cells: tuple[str, ...]
    first_column: int = 1

    @property
    def filled(self) -> int:
        return sum(1 for cell in self.cells if cell)

    @property
    def last_column(self) -> int:
        return self.first_column + len(self.cells) - 1


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """One row a line, cells on one line each, joined by " | "; rows without any text are left out."""
    lines = (" | ".join(_without_empty_end([one_line(cell) for cell in row])) for row in rows)
    return "\n".join(line for line in lines if line)


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells


def table_sections(
    rows: Iterable[Row], *, anchor: Callable[[Sequence[Row]], str], headings: tuple[str, ...] = ()
) -> Iterator[Section]:
    """The rows of one table, about a passage at a time. Titles above the header become sections of their own."""
    rows = iter(rows)
    beginning = list(islice(rows, _HEADER_WITHIN))
    at = _header_position(beginning)
    for row in beginning[:at]:
        yield Section(text=table_text([row.cells]), anchor=anchor([row]), headings=headings, kind="table")
    header = beginning[at] if beginning else None
    if header is None:
        return
    header_text = table_text([header.cells])
    if len(header_text) > _LONGEST_HEADER:
        header_text = ""
    pending: list[Row] = [] if header_text else [header]
    size = 0
    written = False
    for row in chain(beginning[at + 1 :], rows):
        pending.append(row)
        size += sum(map(len, row.cells))
        if size > PASSAGE or len(pending) == _MOST_ROWS:
            yield _section(pending, header_text, anchor, headings)
            pending, size, written = [], 0, True
    if pending:
        yield _section(pending, header_text, anchor, headings)
    elif not written:
        yield Section(text=header_text, anchor=anchor([header]), headings=headings, kind="table")


def _section(
    rows: Sequence[Row], header: str, anchor: Callable[[Sequence[Row]], str], headings: tuple[str, ...]
) -> Section:
    text = table_text(row.cells for row in rows)
    return Section(text=f"{header}\n{text}".strip("\n"), anchor=anchor(rows), headings=headings, kind="table")


def _header_position(rows: Sequence[Row]) -> int:
    """The first row that fills about as many cells as any of the first rows."""
    most = max((row.filled for row in rows), default=0)
    return next((at for at, row in enumerate(rows) if row.filled * 10 >= most * 6), 0)
