from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._shared.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_MOST_COLUMNS: Final = 500
_LONGEST_CELL: Final = 1_000


def is_data(table: _Element) -> bool:
    if table.get("role") in {"presentation", "none"}:
        return False
    rows = list(_rows(table))
    if not any(len(cells) > 1 for _, cells in rows):
        return False
    if next(table.iterdescendants("h1", "h2", "h3", "form", "article", "main"), None) is not None:
        return False
    if table.find("thead") is not None or any(
        cell.tag == "th" and not _holds_table(cell) for _, cells in rows for cell in cells
    ):
        return True
    cells = [cell for _, row in rows for cell in row]
    if any(_holds_table(cell) and _size(cell) > _LONGEST_CELL // 4 for cell in cells):
        return False
    return all(_size(cell) <= _LONGEST_CELL for cell in cells) and next(table.iter("pre"), None) is None


def text_of(table: _Element, cell_text: Callable[[_Element], str]) -> tuple[str, str]:
    above: list[str] = []
    header: list[list[str]] = []
    body: list[list[str]] = []
    for is_header, is_lone, cells in _grid(table, cell_text):
        if is_lone and not header and not body:
            above.append(cells[0])
        elif is_header and not body:
            header.append(cells)
        else:
            body.append(cells)
    return "\n".join(above), table_text([_one_header(header), *body] if header else body)


def _one_header(rows: list[list[str]]) -> list[str]:
    if len(rows) == 1:
        return rows[0]
    width = max(map(len, rows))
    columns = ([row[column] for row in rows if column < len(row) and row[column]] for column in range(width))
    return [" / ".join(dict.fromkeys(names)) for names in columns]


def _grid(table: _Element, cell_text: Callable[[_Element], str]) -> Iterator[tuple[bool, bool, list[str]]]:
    hanging: dict[int, tuple[int, str]] = {}
    rows = list(_rows(table))
    for number, (in_head, cells) in enumerate(rows):
        is_header = in_head or all(cell.tag == "th" for cell in cells)
        row: list[str] = []
        for cell in cells:
            _hang(row, hanging)
            text = one_line(cell_text(cell)).replace(" ;", ";")
            down = min(_span(cell, "rowspan"), len(rows) - number)
            for position in range(min(_span(cell, "colspan"), _MOST_COLUMNS)):
                shown = text if position == 0 or is_header else ""
                if down > 1:
                    hanging[len(row)] = (down - 1, shown)
                row.append(shown)
        _hang(row, hanging)
        if len(row) <= _MOST_COLUMNS * 4:
            yield is_header, len(cells) == 1 and len(set(row)) == 1, row


def _hang(row: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while len(row) in hanging:
        left, text = hanging.pop(len(row))
        if left > 1:
            hanging[len(row)] = (left - 1, text)
        row.append(text)


def _span(cell: _Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(int(value), 1) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _rows(table: _Element) -> Iterator[tuple[bool, list[_Element]]]:
    for row in table.iter("tr"):
        if next(row.iterancestors("table"), None) is not table:
            continue
        cells = list(row.iterchildren("td", "th"))
        parent = row.getparent()
        if cells:
            yield parent is not None and parent.tag == "thead", cells


def _holds_table(cell: _Element) -> bool:
    return next(cell.iterdescendants("table"), None) is not None


def _size(cell: _Element) -> int:
    return sum(len(text.strip()) for text in cell.itertext())
