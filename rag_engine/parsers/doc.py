"""Old Word files (.doc of Word 97 to 2003; the plain text of Word 6 and 95): headings, paragraphs, tables; then notes and margins."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._doc_file import DAMAGED, DocFile, opened
from rag_engine.parsers._doc_sprms import Properties
from rag_engine.parsers._ole import open_ole
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
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rag_engine.parsers._doc_file import Segment

_MARK: Final = re.compile("[\r\x07\x0c\x13-\x15]")
_FIELD_BEGIN, _FIELD_MIDDLE, _FIELD_END, _CELL_END = "\x13", "\x14", "\x15", "\x07"
# What stands for pictures, notes and comments in the text; breaks and hyphens that are written differently elsewhere.
_SIGNS: Final = str.maketrans(
    {
        "\x0b": "\n",
        "\x0e": "\n",
        "\x1e": "-",
        "\x1f": None,
        **dict.fromkeys("\x01\x02\x03\x04\x05\x06\x08", None),
    }
)
_CONTENTS: Final = re.compile(r"\s*TOC\b", re.IGNORECASE)
_NOTES: Final = (
    ("footnote", "footnotes", 0xB2),
    ("endnote", "endnotes", 0x212),
    ("comment", "comments", 0xC2),
)
_HEADERS: Final = 0xF2
_HEADER_KINDS: Final = ("Header", "Header", "Footer", "Footer", "Header", "Footer")
"""Of even and odd pages and of the first."""
_SEPARATORS: Final = 6
_MOST_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    mark: str
    properties: Properties | None


@dataclass(slots=True)
class _Place:
    path: HeadingPath = ()
    cell: list[str] = field(default_factory=list[str])
    cells: list[str] = field(default_factory=list[str])
    inner: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"; notes "footnote 3", "endnote 1" and "comment 2"."""
    with open_ole(path) as container:
        document = opened(container)
    try:
        yield from joined(_sections(document))
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise CorruptFile(DAMAGED) from error


def _sections(document: DocFile) -> Iterator[Section]:
    place = _Place()
    for paragraph in _paragraphs(document.part("text"), document):
        yield from _told(paragraph, place, document)
    yield from _end_of_table(place)
    yield Section(
        text=_plain(document.part("boxes"), document),
        anchor=section_anchor(titles(place.path)),
        headings=titles(place.path),
    )
    for kind, part, offset in _NOTES:
        if document.lengths.get(part):
            for number, text in enumerate(_stories(document, part, offset), 1):
                if not is_blank(text):
                    yield Section(text=f"{kind.capitalize()} {number}: {text}", anchor=f"{kind} {number}")
    if document.lengths.get("headers"):
        yield from _margins(document)


def _told(paragraph: _Paragraph, place: _Place, document: DocFile) -> Iterator[Section]:
    properties, text = paragraph.properties, paragraph.text
    depth = properties.depth if properties is not None else int(paragraph.mark == _CELL_END)
    if properties is not None and properties.depth > 1:
        _inner_table(properties, text, place)
    elif paragraph.mark == _CELL_END and _ends_row(paragraph, place):
        yield from _row(place, properties.continued if properties is not None else frozenset())
    elif paragraph.mark == _CELL_END:
        place.cells.append(one_line(" ".join([*place.cell, text])))
        place.cell.clear()
    elif depth:
        place.cell.append(text)
    elif not is_blank(text):
        yield from _end_of_table(place)
        yield from _prose(text, properties or Properties(), place, document)


def _ends_row(paragraph: _Paragraph, place: _Place) -> bool:
    """Whether a cell's mark is that of the row; without properties, an empty cell after others is taken for it."""
    if paragraph.properties is not None:
        return paragraph.properties.row_end
    return not paragraph.text and bool(place.cells) and not place.cell


def _inner_table(properties: Properties, text: str, place: _Place) -> None:
    """A table in a cell: its cells are divided by commas."""
    if properties.inner_row_end:
        place.cell.append(", ".join(place.inner))
        place.inner.clear()
    else:
        place.inner.append(one_line(text))


def _prose(text: str, properties: Properties, place: _Place, document: DocFile) -> Iterator[Section]:
    level = document.levels.get(properties.style, 0)
    if properties.outline is not None:
        level = properties.outline + 1 if properties.outline < 9 else 0
    if level:
        place.path = entered(place.path, level, text)
        yield place.section(one_line(text))
    elif properties.listed:
        yield place.section(f"{'  ' * properties.level}- {text.strip()}", "list")
    else:
        yield place.section(text)


def _row(place: _Place, continued: frozenset[int]) -> Iterator[Section]:
    above = place.rows[-1] if place.rows else []
    place.rows.append(
        [
            above[at] if at in continued and not cell and at < len(above) else cell
            for at, cell in enumerate(place.cells)
        ]
    )
    place.cells.clear()
    place.cell.clear()
    if len(place.rows) > _MOST_ROWS:
        header = place.rows[0]
        yield from _end_of_table(place)
        place.rows.append(header)


def _end_of_table(place: _Place) -> Iterator[Section]:
    if place.cells or place.cell:
        place.rows.append([*place.cells, one_line(" ".join(place.cell))])
        place.cells.clear()
        place.cell.clear()
    if place.rows:
        if all(len(row) == 1 for row in place.rows):
            yield place.section("\n\n".join(row[0] for row in place.rows))
        else:
            yield place.section(table_text(place.rows), "table")
        place.rows.clear()


def _paragraphs(segments: Iterable[Segment], document: DocFile) -> Iterator[_Paragraph]:
    """Paragraphs and cells with the marks that end them; of fields, what they show."""
    pieces: list[str] = []
    fields: list[list[str]] = []
    """Of each field around: what it is, and then None once it has come to what it shows."""
    shown: list[bool] = []
    for segment in segments:
        start = 0
        for found in _MARK.finditer(segment.text):
            between = segment.text[start : found.start()]
            start = found.end()
            _take(between, pieces, fields, shown)
            mark = found[0]
            if mark == _FIELD_BEGIN:
                fields.append([])
                shown.append(False)
            elif mark == _FIELD_MIDDLE and fields:
                shown[-1] = _CONTENTS.match("".join(fields[-1])) is None
                fields[-1] = [] if shown[-1] else fields[-1]
            elif mark == _FIELD_END and fields:
                fields.pop()
                shown.pop()
            elif all(shown):
                properties = document.paragraph(segment.place + found.start() * segment.width)
                yield _Paragraph("".join(pieces).translate(_SIGNS), mark, properties)
                pieces.clear()
        _take(segment.text[start:], pieces, fields, shown)
    yield _Paragraph("".join(pieces).translate(_SIGNS), "\r", None)


def _take(text: str, pieces: list[str], fields: list[list[str]], shown: list[bool]) -> None:
    if all(shown):
        pieces.append(text)
    elif not shown[-1]:
        fields[-1].append(text[:100])


def _plain(segments: Iterable[Segment], document: DocFile) -> str:
    paragraphs = (paragraph.text.strip() for paragraph in _paragraphs(segments, document))
    return "\n".join(text for text in paragraphs if not is_blank(text))


def _stories(document: DocFile, part: str, offset: int) -> Iterator[str]:
    """The notes of a kind, one by one."""
    start = document.start_of(part)
    length = document.lengths[part]
    positions = [position for position in document.positions(offset) if position <= length]
    for first, last in zip(
        positions[:-2] if len(positions) > 2 else positions[:1], positions[1:], strict=False
    ):
        yield _plain(document.between(start + first, start + last), document)


def _margins(document: DocFile) -> Iterator[Section]:
    """Headers and footers, each once: every part of a document may repeat them."""
    start = document.start_of("headers")
    positions = document.positions(_HEADERS)
    told: set[str] = set()
    for number, (first, last) in enumerate(pairwise(positions)):
        text = _plain(document.between(start + first, start + last), document) if first < last else ""
        if number >= _SEPARATORS and any(map(str.isalpha, text)) and text not in told:
            told.add(text)
            title = _HEADER_KINDS[number % len(_HEADER_KINDS)]
            yield Section(text=text, anchor=f"§ {title}", headings=(title,))
