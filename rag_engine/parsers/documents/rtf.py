from __future__ import annotations

import mmap
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._shared.encoding import is_binary
from rag_engine.parsers._shared.sections import (
    HeadingPath,
    entered,
    is_blank,
    joined,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.parsers._shared.tables import table_text
from rag_engine.parsers.documents._rtf.events import RowEnd, RtfCell, RtfNote, RtfParagraph
from rag_engine.parsers.documents._rtf.reader import RtfReader
from rag_engine.parsers.texts import html
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.parsers.documents._rtf.events import Event, RtfStyle

MAGIC: Final = ((b"{\\rtf", "rtf"),)

_BEGINNING: Final = re.compile(rb"\s*\{\\rtf")
_NO_RTF: Final = "The file is no RTF document inside; save it again as .rtf or .docx."
_HTML: Final = re.compile(rb"\\fromhtml1\b")
_HEADING: Final = re.compile(r"heading (\d)")
_HEAD: Final = 4_096
_MOST_ROWS: Final = 500
_DEEPEST_STYLE: Final = 9
_MARGINS: Final = {"header": "Header", "footer": "Footer"}


@dataclass(slots=True)
class _Position:
    path: HeadingPath = ()
    cell: list[str] = field(default_factory=list[str])
    cells: list[str] = field(default_factory=list[str])
    nested: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])
    boxes: list[str] = field(default_factory=list[str])
    notes: list[Section] = field(default_factory=list[Section])
    margins: dict[str, Section] = field(default_factory=dict[str, Section])
    counts: Counter[str] = field(default_factory=Counter[str])

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading", "footnote 3" or "comment 1"."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as source:
        if _BEGINNING.match(source[:_HEAD].lstrip(b"\xef\xbb\xbf")) is None:
            raise CorruptFile(_NO_RTF)
        if is_binary(source[:_HEAD]) and b"\\bin" not in source[:_HEAD]:
            raise CorruptFile(_NO_RTF)
        yield from joined(sections(source))


def sections(source: bytes | mmap.mmap) -> Iterator[Section]:
    """Also of its encapsulated HTML (MS-OXRTFEX)."""
    if is_html(source):
        yield from html.sections(wrapped_html(source))
        return
    reader = RtfReader()
    place = _Position()
    for event in reader.events(source):
        yield from _event_sections(event, place, reader.styles)
    yield from _end_of_table(place)
    yield from place.notes
    yield from place.margins.values()


def is_html(source: bytes | mmap.mmap) -> bool:
    return _HTML.search(source[:_HEAD]) is not None


def wrapped_html(source: bytes | mmap.mmap) -> str:
    pieces: list[str] = []
    for event in RtfReader(html=True).events(source):
        if isinstance(event, RtfParagraph | RtfCell):
            pieces.append(event.text)
    return "".join(pieces)


def _event_sections(event: Event, place: _Position, styles: dict[int, RtfStyle]) -> Iterator[Section]:
    match event:
        case RtfParagraph(in_table=True, text=text, label=label):
            place.cell.append(f"{label} {text}" if label else text)
        case RtfParagraph():
            if not is_blank(event.text):
                yield from _end_of_table(place)
                yield from _paragraph(event, place, _level(event, styles))
            yield from (place.section(text) for text in place.boxes)
            place.boxes.clear()
        case RtfNote(kind="box", text=text):
            place.boxes.append(text)
        case RtfCell(text=text, depth=0):
            place.cells.append(one_line(" ".join([*place.cell, text])))
            place.cell.clear()
        case RtfCell(text=text):
            place.nested.append(one_line(" ".join([*place.cell, text])))
            place.cell.clear()
        case RowEnd(depth=0, continued=continued):
            yield from _row(place, continued)
        case RowEnd():
            place.cell.append(", ".join(place.nested))
            place.nested.clear()
        case RtfNote():
            _note(event, place)


def _paragraph(paragraph: RtfParagraph, place: _Position, level: int) -> Iterator[Section]:
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


def _level(paragraph: RtfParagraph, styles: dict[int, RtfStyle]) -> int:
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


def _row(place: _Position, continued: frozenset[int]) -> Iterator[Section]:
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


def _end_of_table(place: _Position) -> Iterator[Section]:
    if place.cells or place.cell:
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


def _note(note: RtfNote, place: _Position) -> None:
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
