"""Lines of a section to the rows or lines of its anchor.

Sheet parsers write one row per line and start a section where row numbers jump, so the anchor ("Budget!A2:D40", "rows
2–40") and the number of lines identify each row; one extra line is the header. Text and code ("lines 10–42") have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

Cell: TypeAlias = "str | tuple[str, str | float, str]"
"""As displayed, or with its value (a number or an ISO date) and unit."""

_CELLS: Final = re.compile(r"(.*!)([A-Z]{1,3})([0-9]{1,9})(?::([A-Z]{1,3})([0-9]{1,9}))?", re.DOTALL)
_ROWS: Final = re.compile(r"(|.* › )(row|line)s? ([0-9]{1,12})(?:–([0-9]{1,12}))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableGrid:
    """`number`: the table's; `rows` have their place in the sheet or file."""

    number: int
    names: tuple[str, ...]
    first_column: int
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLines:
    """`header_lines`: 1 if the header is repeated, else 0."""

    first_row: int
    header_lines: int
    before: str
    first_column: str = ""
    last_column: str = ""
    word: str = "row"

    def anchor(self, first_line: int, last_line: int) -> str:
        """Lines from 0; "" for the header alone."""
        first = self.first_row + max(first_line - self.header_lines, 0)
        last = self.first_row + last_line - self.header_lines
        if last < first:
            return ""
        if self.first_column:
            return cells_anchor(self.before, (self.first_column, first), (self.last_column, last))
        return self.before + rows_anchor(first, last, word=self.word)


def table_lines(anchor: str, text: str) -> TableLines | None:
    """None if the rows at `anchor` are uncertain."""
    cells, rows = _CELLS.fullmatch(anchor), _ROWS.fullmatch(anchor)
    if cells:
        first, last = int(cells[3]), int(cells[5] or cells[3])
    elif rows:
        first, last = int(rows[3]), int(rows[4] or rows[3])
    else:
        return None
    header_lines = text.count("\n") + 1 - (last - first + 1)
    if header_lines not in ({0} if rows and rows[2] == "line" else {0, 1}):
        return None
    if cells:
        columns = {"first_column": cells[2], "last_column": cells[4] or cells[2]}
        return TableLines(first_row=first, header_lines=header_lines, before=cells[1], **columns)
    before, word = (rows[1], rows[2]) if rows else ("", "row")
    return TableLines(first_row=first, header_lines=header_lines, before=before, word=word)


def last_row(lines: TableLines, text: str) -> int:
    return lines.first_row + text.count("\n") - lines.header_lines


def narrowed(anchor: str, first: int, last: int) -> str:
    """Of these rows; unchanged if it names none."""
    if found := _CELLS.fullmatch(anchor):
        return cells_anchor(found[1], (found[2], first), (found[4] or found[2], last))
    found = _ROWS.fullmatch(anchor)
    return found[1] + rows_anchor(first, last, word=found[2]) if found else anchor


def cells_anchor(before: str, first: tuple[str, int], last: tuple[str, int]) -> str:
    beginning, end = f"{first[0]}{first[1]}", f"{last[0]}{last[1]}"
    return f"{before}{beginning}" if beginning == end else f"{before}{beginning}:{end}"


def rows_anchor(first: int, last: int, *, word: str = "row") -> str:
    return f"{word} {first}" if first == last else f"{word}s {first}–{last}"
