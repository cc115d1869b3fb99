from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers.sheets._cells.cell_kinds import kind, names_columns, usual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.parsers._shared.tables import TableRow

_WITHIN: Final = 6
_MOST_LEVELS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderLayout:
    titles: int
    headers: int
    names: tuple[str, ...]
    left: int


def layout(rows: Sequence[TableRow], *, headed: bool = False) -> HeaderLayout:
    if headed:
        return _named(rows, titles=0, headers=1)
    titles = _titles(rows)
    left = min(row.first_column for row in rows)
    right = max(row.last_column for row in rows)
    grid = [_aligned(row, row.cells, left, right) for row in rows]
    spread = [
        _aligned(row, row.cells if row.number in titles else row.spread or row.cells, left, right)
        for row in rows
    ]
    at = _first_full(spread)
    if at and len(rows) > at + 1 and _names_groups(rows[at - 1], rows[at], spread[at - 1], spread[at:]):
        at -= 1
        levels = 2
    else:
        levels = 1 if _is_header(spread[at], grid[at + 1 :], is_last=len(rows) == at + 1) else 0
    while 0 < levels < _MOST_LEVELS and _continues_header(rows, grid, at + levels):
        levels += 1
    return _named(rows, titles=at, headers=levels)


def _named(rows: Sequence[TableRow], *, titles: int, headers: int) -> HeaderLayout:
    own = rows[titles:]
    left = min(row.first_column for row in own)
    right = max(row.last_column for row in own)
    grid = [_aligned(row, row.cells, left, right) for row in own[:headers]]
    spread = [_aligned(row, row.spread or row.cells, left, right) for row in own[:headers]]
    return HeaderLayout(
        titles=titles, headers=headers, names=_names(spread, grid) if headers else (), left=left
    )


def _titles(rows: Sequence[TableRow]) -> frozenset[int]:
    left = min(row.first_column for row in rows)
    return frozenset(row.number for row in rows if row.filled == 1 and row.first_column == left)


def _aligned(row: TableRow, cells: Sequence[str], left: int, right: int) -> list[str]:
    before = row.first_column - left
    return [""] * before + list(cells) + [""] * (right - left + 1 - before - len(cells))


def _first_full(grid: Sequence[Sequence[str]]) -> int:
    filled = [sum(1 for cell in row if cell) for row in grid]
    # The second largest count: one row may be too long by mistake.
    most = sorted(filled)[-2:][0]
    return next(
        (
            at
            for at, count in enumerate(filled[:_WITHIN])
            if count * 10 >= most * 6 and not (count < most and _is_label_and_value(grid[at]))
        ),
        0,
    )


def _is_label_and_value(row: Sequence[str]) -> bool:
    return next((cell for cell in row if cell), "").endswith((":", "："))


def _names_groups(
    above: TableRow, header: TableRow, groups: Sequence[str], below: Sequence[Sequence[str]]
) -> bool:
    return (
        above.number == header.number - 1
        and not _is_label_and_value(groups)
        and names_columns(groups)
        and names_columns(below[0])
        and _heads_columns(below[0], below[1:])
    )


def _is_header(head: Sequence[str], below: Sequence[Sequence[str]], *, is_last: bool) -> bool:
    if is_last:
        return True
    if _is_form(head, below):
        return False
    numbers = [cell for cell in head if kind(cell) in {"number", "date"}]
    if _is_count(numbers):
        numbers = []
    if numbers and any(
        kind(cell) in {"number", "date"} and usual(row[at] for row in below) == kind(cell)
        for at, cell in enumerate(head)
    ):
        return False
    if any(kind(cell) == "year" for cell in head) and not _heads_columns(head, below):
        return all(kind(cell) in {"year", ""} for cell in head[1:])
    if len(head) == 1:
        # In a list the first line is an item, unless it is a word above numbers.
        return _heads_columns(head, below)
    return len(numbers) * 2 < max(sum(1 for cell in head if cell), 1) or _heads_columns(head, below)


_LONGEST_FORM: Final = 15


def _is_form(head: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    is_wider = any(any(row[2:]) for row in (head, *below))
    if len(below) > _LONGEST_FORM or is_wider or len(head) == 1 or not all(head[:2]):
        return False
    if _is_label_and_value(head):
        return True
    kinds = [kind(row[1]) for row in below if row[1]]
    words = kinds.count("words")
    is_mixed = min(words, len(kinds) - words) * 3 >= max(len(kinds), 1)
    return is_mixed and all(kind(row[0]) == "words" for row in below)


_COUNTED: Final = 4


def _is_count(numbers: Sequence[str]) -> bool:
    plain = [int(number) for number in numbers if number.isdecimal() and len(number) < 4]
    return len(plain) == len(numbers) >= _COUNTED and plain == list(range(plain[0], plain[0] + len(plain)))


def _heads_columns(head: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    for at, cell in enumerate(head):
        under = usual(row[at] for row in below)
        if kind(cell) in {"words", "year", "date"} and under in {"number", "date"} and under != kind(cell):
            return True
    return False


def _continues_header(rows: Sequence[TableRow], grid: Sequence[Sequence[str]], at: int) -> bool:
    if at + 1 >= len(rows) or rows[at].number != rows[at - 1].number + 1:
        return False
    row, above = grid[at], rows[at - 1]
    if not names_columns(row):
        return False
    if above.spread:
        offset = above.first_column - min(line.first_column for line in rows)
        cells = zip(above.cells, above.spread, strict=True)
        return any(row[offset + index] for index, (cell, wide) in enumerate(cells) if wide and not cell)
    upper = grid[at - 1]
    starts = next((index for index, cell in enumerate(upper) if cell), 0)
    blank = [index for index, cell in enumerate(upper) if not cell and index > starts]
    return (
        any(row[index] for index in blank)
        and not all(row[: starts + 1])
        and _heads_columns(row, grid[at + 1 :])
    )


def _names(spread: Sequence[Sequence[str]], grid: Sequence[Sequence[str]]) -> tuple[str, ...]:
    levels = [list(row) for row in spread]
    for level, row in enumerate(levels[:-1]):
        merged = spread[level] != grid[level]
        if not merged:
            for at in range(1, len(row)):
                if not row[at] and row[at - 1] and levels[level + 1][at]:
                    row[at] = row[at - 1]
    columns = zip(*levels, strict=True)
    return tuple(" ".join(dict.fromkeys(one_line(part) for part in column if part)) for column in columns)
