"""Pure: the text of OpenDocument's paragraphs and tables as it is seen, and what hangs on it: notes, comments, frames."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml_tables import Cell, header_rows, one_header, plain_rows
from rag_engine.parsers._opendocument_package import DC, DRAW, OFFICE, STYLE, TABLE, TEXT, repeated
from rag_engine.parsers._sections import one_line
from rag_engine.parsers._tables import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage] - the only name lxml has for it

_SPACES: Final = re.compile("[ \t\r\n]+")
# Stand for what is kept while white space is collapsed; no XML can hold them.
_KEPT_SPACE: Final = "\x1f"
_TAB: Final = "\x1e"
_MOST_SPACES: Final = 80
_MOST_CELLS: Final = 1_024
_MOST_ROWS: Final = 1_000
_DEEPEST: Final = 200
"""Elements within elements of a paragraph."""
# The reading of a ruby, marks, and what belongs to forms and changes are not words of the text.
_UNSEEN: Final = frozenset(
    {
        f"{TEXT}{name}"
        for name in ("ruby-text", "tracked-changes", "bookmark", "soft-page-break", "note-citation")
    }
    | {f"{OFFICE}{name}" for name in ("annotation-end", "forms", "event-listeners", "binary-data")}
    | {f"{TEXT}index-title-template", f"{TEXT}table-of-content-source"}
)
_FRAMES: Final = frozenset(
    f"{DRAW}{name}"
    for name in (
        *("frame", "g", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path"),
        *("connector", "caption", "regular-polygon", "measure", "page-thumbnail", "a"),
    )
)
_ROW_GROUPS: Final = frozenset(
    f"{TABLE}{name}" for name in ("table-header-rows", "table-rows", "table-row-group")
)
_ASIDES: Final = frozenset({f"{TEXT}note", f"{OFFICE}annotation"})
_HIDDEN_FIELDS: Final = frozenset({f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """The text, and in their order the notes, comments and frames that hang on it."""

    text: str
    asides: tuple[_Element, ...] = ()
    frames: tuple[_Element, ...] = ()


@dataclass(slots=True)
class _Reading:
    hidden_styles: frozenset[str]
    pieces: list[str] = field(default_factory=list[str])
    asides: list[_Element] = field(default_factory=list["_Element"])
    frames: list[_Element] = field(default_factory=list["_Element"])


def paragraph(element: _Element, hidden_styles: frozenset[str] = frozenset()) -> Paragraph:
    """What a paragraph or heading says; text of `hidden_styles` is not seen."""
    reading = _Reading(hidden_styles)
    if not _is_hidden(element, hidden_styles):
        _walk(element, reading, 0)
    lines = (_SPACES.sub(" ", line).strip(" ") for line in "".join(reading.pieces).split("\n"))
    text = "\n".join(lines).replace(_KEPT_SPACE, " ").replace(_TAB, "\t").strip()
    return Paragraph(text=text, asides=tuple(reading.asides), frames=tuple(reading.frames))


def hidden_style(style: _Element) -> str:
    """The name of a character or paragraph style whose text is not shown; empty for others."""
    for properties in style.iterchildren(f"{STYLE}text-properties"):
        if properties.get(f"{TEXT}display") == "none":
            return style.get(f"{STYLE}name") or ""
    return ""


def _walk(element: _Element, reading: _Reading, depth: int) -> None:
    reading.pieces.append(_SPACES.sub(" ", element.text or ""))
    for child in element.iterchildren():
        _take(child, reading, depth)
        reading.pieces.append(_SPACES.sub(" ", child.tail or ""))


def _take(child: _Element, reading: _Reading, depth: int) -> None:
    tag = child.tag
    if tag == f"{TEXT}s":
        reading.pieces.append(_KEPT_SPACE * repeated(child, f"{TEXT}c", _MOST_SPACES))
    elif tag == f"{TEXT}tab":
        reading.pieces.append(_TAB)
    elif tag == f"{TEXT}line-break":
        reading.pieces.append("\n")
    elif tag in _ASIDES:
        reading.asides.append(child)
    elif tag in _FRAMES:
        reading.frames.append(child)
    elif tag not in _UNSEEN and depth < _DEEPEST and not _is_hidden(child, reading.hidden_styles):
        _walk(child, reading, depth + 1)


def _is_hidden(element: _Element, hidden_styles: frozenset[str]) -> bool:
    if element.tag in _HIDDEN_FIELDS and element.get(f"{TEXT}is-hidden") == "true":
        return True
    return bool(hidden_styles) and element.get(f"{TEXT}style-name") in hidden_styles


def texts(element: _Element, hidden_styles: frozenset[str] = frozenset()) -> Iterator[str]:
    """The paragraphs anywhere within, in order, each by itself; what hangs on them stands after them."""
    for child in element.iterchildren():
        if child.tag in {f"{TEXT}p", f"{TEXT}h"}:
            read = paragraph(child, hidden_styles)
            yield read.text
            for frame in read.frames:
                yield from texts(frame, hidden_styles)
        elif child.tag == f"{TABLE}table":
            yield table(child, hidden_styles).replace(" | ", ", ")
        elif child.tag not in _UNSEEN | _ASIDES and child.tag != f"{DC}date":
            yield from texts(child, hidden_styles)


def table(element: _Element, hidden_styles: frozenset[str] = frozenset()) -> str:
    """The rows of a table of words, those of its header as one; a cell over several rows is said in each of them."""
    rows: list[list[Cell]] = []
    for row in table_rows(element):
        cells = list(_cells(row, hidden_styles))
        is_said = any(cell.text for cell in cells)
        rows += [cells] * repeated(row, f"{TABLE}number-rows-repeated", _MOST_ROWS if is_said else 1)
        if len(rows) > _MOST_ROWS * 10:
            break
    marked = sum(1 for head in element.iterchildren(f"{TABLE}table-header-rows") for _ in table_rows(head))
    headers = min(header_rows(rows[0], marked), max(len(rows) - 1, 1)) if rows else 0
    plain = list(plain_rows(rows, headers))
    return table_text([one_header(plain[:headers]), *plain[headers:]])


def _cells(row: _Element, hidden_styles: frozenset[str]) -> Iterator[Cell]:
    """The cells of a row; what lies under a cell to the left is counted with it, what lies under one above goes on with it."""
    under = 0
    for cell, times in row_cells(row):
        if cell.tag == f"{TABLE}covered-table-cell":
            yield from (Cell(text="", continues=True) for _ in range(times - under))
            under = max(under - times, 0)
            continue
        columns = repeated(cell, f"{TABLE}number-columns-spanned", _MOST_CELLS)
        text = one_line(" ".join(texts(cell, hidden_styles)))
        begins = repeated(cell, f"{TABLE}number-rows-spanned", _MOST_ROWS) > 1
        yield from (Cell(text=text, columns=columns, begins=begins) for _ in range(times))
        under = columns - 1


def table_rows(element: _Element) -> Iterator[_Element]:
    """The rows of a table, also of those within groups and headers, but not of tables in its cells."""
    for child in element.iterchildren():
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from table_rows(child)


def row_cells(row: _Element) -> Iterator[tuple[_Element, int]]:
    """The cells of a row, each with the number of columns it is repeated in; those at the end that are empty are left out."""
    cells = [
        (cell, repeated(cell, f"{TABLE}number-columns-repeated", _MOST_CELLS))
        for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
    ]
    while cells and len(cells[-1][0]) == 0 and cells[-1][0].tag == f"{TABLE}table-cell":
        cells.pop()
    return iter(cells[:_MOST_CELLS])
