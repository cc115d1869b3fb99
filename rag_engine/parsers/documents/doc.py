from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile
from rag_engine.parsers._properties import ole
from rag_engine.parsers._shared.ole import open_ole
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
from rag_engine.parsers.documents._doc.properties import Properties
from rag_engine.parsers.documents._doc.word_file import DAMAGED, DocFile, opened
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rag_engine.parsers.documents._doc.word_file import Segment

SUFFIXES: Final = "dot wiz"
STREAMS: Final = "WordDocument"

_MARK: Final = re.compile("[\r\x07\x0c\x13-\x15]")
_FIELD_BEGIN, _FIELD_MIDDLE, _FIELD_END, _CELL_END = "\x13", "\x14", "\x15", "\x07"
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
_MOST_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    mark: str
    properties: Properties | None


@dataclass(slots=True)
class _State:
    path: HeadingPath = ()
    cell: list[str] = field(default_factory=list[str])
    cells: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


properties: Final = ole.summary


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading", "footnote 3", "endnote 1" or "comment 2". Raises `CorruptFile` and `EncryptedFile`."""
    with open_ole(path) as container:
        document = opened(container)
    try:
        yield from joined(_sections(document))
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise CorruptFile(DAMAGED) from error


def _sections(document: DocFile) -> Iterator[Section]:
    state = _State()
    for paragraph in _paragraphs(document.part("text"), document):
        yield from _paragraph_sections(paragraph, state, document)
    yield from _end_of_table(state)
    yield Section(
        text=_plain_text(document.part("boxes"), document),
        anchor=section_anchor(titles(state.path)),
        headings=titles(state.path),
    )
    for kind, part, offset in _NOTES:
        if document.lengths.get(part):
            for number, text in enumerate(_note_texts(document, part, offset), 1):
                if not is_blank(text):
                    yield Section(text=f"{kind.capitalize()} {number}: {text}", anchor=f"{kind} {number}")


def _paragraph_sections(paragraph: _Paragraph, state: _State, document: DocFile) -> Iterator[Section]:
    properties, text = paragraph.properties, paragraph.text
    if paragraph.mark == _CELL_END and _ends_row(paragraph, state):
        yield from _row(state)
    elif paragraph.mark == _CELL_END:
        state.cells.append(one_line(" ".join([*state.cell, text])))
        state.cell.clear()
    elif properties is not None and properties.in_table:
        state.cell.append(text)
    elif not is_blank(text):
        yield from _end_of_table(state)
        yield from _prose(text, properties or Properties(), state, document)


def _ends_row(paragraph: _Paragraph, state: _State) -> bool:
    if paragraph.properties is not None:
        return paragraph.properties.row_end
    return not paragraph.text and bool(state.cells) and not state.cell


def _prose(text: str, properties: Properties, state: _State, document: DocFile) -> Iterator[Section]:
    level = document.levels.get(properties.style, 0)
    if properties.outline is not None:
        level = properties.outline + 1 if properties.outline < 9 else 0
    if level:
        state.path = entered(state.path, level, text)
        yield state.section(one_line(text))
    elif properties.listed:
        yield state.section(f"{'  ' * properties.level}- {text.strip()}", "list")
    else:
        yield state.section(text)


def _row(state: _State) -> Iterator[Section]:
    state.rows.append(list(state.cells))
    state.cells.clear()
    state.cell.clear()
    if len(state.rows) > _MOST_ROWS:
        header = state.rows[0]
        yield from _end_of_table(state)
        state.rows.append(header)


def _end_of_table(state: _State) -> Iterator[Section]:
    if state.cells or state.cell:
        state.rows.append([*state.cells, one_line(" ".join(state.cell))])
        state.cells.clear()
        state.cell.clear()
    if state.rows:
        if all(len(row) == 1 for row in state.rows):
            yield state.section("\n\n".join(row[0] for row in state.rows))
        else:
            yield state.section(table_text(state.rows), "table")
        state.rows.clear()


def _paragraphs(segments: Iterable[Segment], document: DocFile) -> Iterator[_Paragraph]:
    pieces: list[str] = []
    fields: list[list[str]] = []
    shown: list[bool] = []
    for segment in segments:
        start = 0
        for found in _MARK.finditer(segment.text):
            between = segment.text[start : found.start()]
            start = found.end()
            _append(between, pieces, fields, shown)
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
        _append(segment.text[start:], pieces, fields, shown)
    yield _Paragraph("".join(pieces).translate(_SIGNS), "\r", None)


def _append(text: str, pieces: list[str], fields: list[list[str]], shown: list[bool]) -> None:
    if all(shown):
        pieces.append(text)
    elif not shown[-1]:
        fields[-1].append(text[:100])


def _plain_text(segments: Iterable[Segment], document: DocFile) -> str:
    paragraphs = (paragraph.text.strip() for paragraph in _paragraphs(segments, document))
    return "\n".join(text for text in paragraphs if not is_blank(text))


def _note_texts(document: DocFile, part: str, offset: int) -> Iterator[str]:
    start = document.start_of(part)
    length = document.lengths[part]
    positions = [position for position in document.positions(offset) if position <= length]
    for first, last in zip(
        positions[:-2] if len(positions) > 2 else positions[:1], positions[1:], strict=False
    ):
        yield _plain_text(document.between(start + first, start + last), document)
