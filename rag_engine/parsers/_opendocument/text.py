"""Pure: the text of OpenDocument's paragraphs and tables as it is seen, and what hangs on it: notes, comments, frames."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.parsers._ooxml.tables import Cell, header_rows, one_header, plain_rows
from rag_engine.parsers._opendocument.package import DC, DRAW, OFFICE, STYLE, TABLE, TEXT, repeated
from rag_engine.parsers._sections import one_line
from rag_engine.parsers._symbols import raised
from rag_engine.parsers._tables import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
Look = Literal["hidden", "raised"]
_PLAIN: Final[Mapping[str, Look]] = MappingProxyType({})
_RAISED: Final = re.compile(r"super|[1-9]\d*%? ")
_HIDDEN_FIELDS: Final = frozenset({f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """The text, and in their order the notes, comments and frames that hang on it."""

    text: str
    asides: tuple[_Element, ...] = ()
    frames: tuple[_Element, ...] = ()


@dataclass(slots=True)
class _Reading:
    looks: Mapping[str, Look]
    pieces: list[str] = field(default_factory=list[str])
    asides: list[_Element] = field(default_factory=list["_Element"])
    frames: list[_Element] = field(default_factory=list["_Element"])


def paragraph(element: _Element, looks: Mapping[str, Look] = _PLAIN) -> Paragraph:
    """What a paragraph or heading says; `looks` are those of the styles by their names."""
    reading = _Reading(looks)
    if not _is_hidden(element, looks):
        _walk(element, reading, 0)
    lines = (_SPACES.sub(" ", line).strip(" ") for line in "".join(reading.pieces).split("\n"))
    text = "\n".join(lines).replace(_KEPT_SPACE, " ").replace(_TAB, "\t").strip()
    return Paragraph(text=text, asides=tuple(reading.asides), frames=tuple(reading.frames))


def look_of(style: _Element) -> Look | None:
    """What a character or paragraph style does to its text, if it does anything that matters."""
    for properties in style.iterchildren(f"{STYLE}text-properties"):
        if properties.get(f"{TEXT}display") == "none":
            return "hidden"
        if _RAISED.match(properties.get(f"{STYLE}text-position") or ""):
            return "raised"
    return None


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
    elif tag not in _UNSEEN and depth < _DEEPEST and not _is_hidden(child, reading.looks):
        before = len(reading.pieces)
        _walk(child, reading, depth + 1)
        if reading.looks.get(child.get(f"{TEXT}style-name") or "") == "raised":
            reading.pieces[before:] = [raised("".join(reading.pieces[before:]))]


def _is_hidden(element: _Element, looks: Mapping[str, Look]) -> bool:
    if element.tag in _HIDDEN_FIELDS and element.get(f"{TEXT}is-hidden") == "true":
        return True
    return bool(looks) and looks.get(element.get(f"{TEXT}style-name") or "") == "hidden"


def texts(element: _Element, looks: Mapping[str, Look] = _PLAIN) -> Iterator[str]:
    """The paragraphs anywhere within, in order, each by itself; what hangs on them stands after them."""
    for child in element.iterchildren():
        if child.tag in {f"{TEXT}p", f"{TEXT}h"}:
            read = paragraph(child, looks)
            yield read.text
            for frame in read.frames:
                yield from texts(frame, looks)
        elif child.tag == f"{TABLE}table":
            yield table(child, looks).replace(" | ", ", ")
        elif child.tag not in _UNSEEN | _ASIDES and child.tag != f"{DC}date":
            yield from texts(child, looks)


def table(element: _Element, looks: Mapping[str, Look] = _PLAIN) -> str:
    """The rows of a table of words, those of its header as one; a cell over several rows is said in each of them."""
    rows: list[list[Cell]] = []
    for row in table_rows(element):
        cells = list(_cells(row, looks))
        is_said = any(cell.text for cell in cells)
        rows += [cells] * repeated(row, f"{TABLE}number-rows-repeated", _MOST_ROWS if is_said else 1)
        if len(rows) > _MOST_ROWS * 10:
            break
    marked = sum(1 for head in element.iterchildren(f"{TABLE}table-header-rows") for _ in table_rows(head))
    headers = min(header_rows(rows[0], marked), max(len(rows) - 1, 1)) if rows else 0
    plain = list(plain_rows(rows, headers))
    return table_text([one_header(plain[:headers]), *plain[headers:]])


def _cells(row: _Element, looks: Mapping[str, Look]) -> Iterator[Cell]:
    """The cells of a row; what lies under a cell to the left is counted with it, what lies under one above goes on with it."""
    under = 0
    for cell, times in row_cells(row):
        if cell.tag == f"{TABLE}covered-table-cell":
            yield from (Cell(text="", continues=True) for _ in range(times - under))
            under = max(under - times, 0)
            continue
        columns = repeated(cell, f"{TABLE}number-columns-spanned", _MOST_CELLS)
        text = one_line(" ".join(texts(cell, looks)))
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
