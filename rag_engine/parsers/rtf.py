"""RTF: headings, paragraphs, lists and tables in order; notes after the text they belong to, headers and footers once."""

from __future__ import annotations

import mmap
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers import html
from rag_engine.parsers._encoding import is_binary
from rag_engine.parsers._rtf.events import Cell, Note, Paragraph, RowEnd
from rag_engine.parsers._rtf.reader import Reader
from rag_engine.parsers._sections import (
    HeadingPath,
    entered,
    is_blank,
    joined,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.parsers._tables import table_text
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.parsers._rtf.events import Event, Style

_BEGINNING: Final = re.compile(rb"\s*\{\\rtf")
_NO_RTF: Final = "The file is no RTF document inside; save it again as .rtf or .docx."
_HTML: Final = re.compile(rb"\\fromhtml1\b")
_HEADING: Final = re.compile(r"heading (\d)")
_HEAD: Final = 4_096
_MOST_ROWS: Final = 500
"""Rows that are told together: a table must not grow in memory with the file."""
_DEEPEST_STYLE: Final = 9
_MARGINS: Final = {"header": "Header", "footer": "Footer"}


@dataclass(slots=True)
class _Place:
    """Where the reading is, and what it has not told yet."""

    path: HeadingPath = ()
    cell: list[str] = field(default_factory=list[str])
    cells: list[str] = field(default_factory=list[str])
    nested: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    boxes: list[str] = field(default_factory=list[str])
    """Text boxes in the paragraph that is being read."""
    notes: list[Section] = field(default_factory=list[Section])
    margins: dict[str, Section] = field(default_factory=dict[str, Section])
    counts: Counter[str] = field(default_factory=Counter[str])

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"; notes and comments "footnote 3" and "comment 1"."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as source:
        if _BEGINNING.match(source[:_HEAD].lstrip(b"\xef\xbb\xbf")) is None:
            raise CorruptFile(_NO_RTF)
        if is_binary(source[:_HEAD]) and b"\\bin" not in source[:_HEAD]:
            raise CorruptFile(_NO_RTF)
        yield from joined(sections(source))


def sections(source: bytes | mmap.mmap) -> Iterator[Section]:
    """The blocks of an RTF document, or of the HTML that a mail program wrapped in it."""
    if is_html(source):
        yield from html.sections(wrapped_html(source))
        return
    reader = Reader()
    place = _Place()
    for event in reader.events(source):
        yield from _told(event, place, reader.styles)
    yield from _end_of_table(place)
    yield from place.notes
    yield from place.margins.values()


def is_html(source: bytes | mmap.mmap) -> bool:
    """Whether a mail program wrapped a page of HTML in this RTF."""
    return _HTML.search(source[:_HEAD]) is not None


def wrapped_html(source: bytes | mmap.mmap) -> str:
    """The page that was wrapped in RTF by `\\fromhtml1`."""
    pieces: list[str] = []
    for event in Reader(html=True).events(source):
        if isinstance(event, Paragraph | Cell):
            pieces.append(event.text)
    return "".join(pieces)


def _told(event: Event, place: _Place, styles: dict[int, Style]) -> Iterator[Section]:
    match event:
        case Paragraph(in_table=True, text=text, label=label):
            place.cell.append(f"{label} {text}" if label else text)
        case Paragraph():
            if not is_blank(event.text):
                yield from _end_of_table(place)
                yield from _paragraph(event, place, _level(event, styles))
            yield from (place.section(text) for text in place.boxes)
            place.boxes.clear()
        case Note(kind="box", text=text):
            place.boxes.append(text)
        case Cell(text=text, depth=0):
            place.cells.append(one_line(" ".join([*place.cell, text])))
            place.cell.clear()
        case Cell(text=text):
            place.nested.append(one_line(" ".join([*place.cell, text])))
            place.cell.clear()
        case RowEnd(depth=0, continued=continued):
            yield from _row(place, continued)
        case RowEnd():
            place.cell.append(", ".join(place.nested))
            place.nested.clear()
        case Note():
            _note(event, place)


def _paragraph(paragraph: Paragraph, place: _Place, level: int) -> Iterator[Section]:
    text = paragraph.text.strip()
    if level:
        label = paragraph.label if any(map(str.isalnum, paragraph.label)) else ""
        text = one_line(f"{label} {text}")
        yield from place.notes
        place.notes.clear()
        place.path = entered(place.path, level, text)
        yield place.section(text)
    elif paragraph.label:
        label = paragraph.label if any(map(str.isalnum, paragraph.label)) else "-"
        yield place.section(f"{'  ' * paragraph.level}{label} {text}", "list")
    else:
        yield place.section(text)


def _level(paragraph: Paragraph, styles: dict[int, Style]) -> int:
    """Of a heading, from 1; 0 for other text."""
    if paragraph.outline is not None:
        return paragraph.outline + 1 if 0 <= paragraph.outline < _DEEPEST_STYLE else 0
    number: int | None = paragraph.style
    for _ in range(_DEEPEST_STYLE):
        style = styles.get(number) if number is not None else None
        if style is None:
            break
        if style.outline is not None and 0 <= style.outline < _DEEPEST_STYLE:
            return style.outline + 1
        named = _HEADING.fullmatch(style.name)
        if named is not None:
            return int(named[1])
        if style.name == "title":
            return 1
        number = style.parent
    return 0


def _row(place: _Place, continued: frozenset[int]) -> Iterator[Section]:
    above = place.rows[-1] if place.rows else []
    cells = [
        above[at] if at in continued and not cell and at < len(above) else cell
        for at, cell in enumerate(place.cells)
    ]
    place.cells.clear()
    place.rows.append(cells)
    if len(place.rows) > _MOST_ROWS:
        header = place.rows[0]
        yield from _end_of_table(place)
        place.rows.append(header)


def _end_of_table(place: _Place) -> Iterator[Section]:
    if place.cells or place.cell:
        # The last row was cut off with the file.
        place.rows.append([*place.cells, one_line(" ".join(place.cell))])
        place.cells.clear()
        place.cell.clear()
    if place.rows:
        one_column = all(len(row) == 1 for row in place.rows)
        if one_column:
            yield place.section("\n\n".join(row[0] for row in place.rows))
        else:
            yield place.section(table_text(place.rows), "table")
        place.rows.clear()


def _note(note: Note, place: _Place) -> None:
    if note.kind in _MARGINS:
        if any(map(str.isalpha, note.text)):
            title = _MARGINS[note.kind]
            section = Section(text=note.text, anchor=f"§ {title}", headings=(title,))
            place.margins.setdefault(one_line(note.text), section)
        return
    place.counts[note.kind] += 1
    anchor = f"{note.kind} {place.counts[note.kind]}"
    said = f"{anchor.capitalize()} by {note.author}" if note.author else anchor.capitalize()
    place.notes.append(Section(text=f"{said}: {note.text}", anchor=anchor, headings=titles(place.path)))
