"""Word's binary format ([MS-DOC]); only text for Word 6 and 95."""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._shared.ole import stream
from rag_engine.parsers.documents._doc.properties import paragraph_properties, text_is_unseen
from rag_engine.parsers.documents._rtf.tokens import codec_of_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._shared.ole import Ole
    from rag_engine.parsers.documents._doc.properties import Properties

DAMAGED: Final = "The Word document is damaged and cannot be read; save it again as .docx."
_WORD: Final = (0xA5EC, 0xA5DC)
_WORD_97: Final = 0xC1
_ENCRYPTED: Final = 0x0100
_SECOND_TABLE: Final = 0x0200
_PAGE: Final = 512
_MOST_REPEATED: Final = 2
"""Pieces of real files share no bytes; overlapping ones are an attack."""
_PARTS: Final[tuple[str, ...]] = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes")
_HEADING_STYLES: Final = range(1, 10)
_TITLE_STYLE: Final = 62
_DEEPEST_STYLE: Final = 12
# Primary language of Windows -> code page of text in Word 6 and 95.
_LANGUAGES: Final = {
    language: page
    for page, languages in (
        *((874, (0x1E,)), (932, (0x11,)), (936, (0x04,)), (949, (0x12,)), (1253, (0x08,)), (1254, (0x1F,))),
        *((1250, (0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24)), (1251, (0x02, 0x19, 0x22, 0x23))),
        *((1255, (0x0D,)), (1256, (0x01,)), (1257, (0x25, 0x26, 0x27))),
    )
    for language in languages
}


@dataclass(frozen=True, slots=True)
class TextPiece:
    start: int
    end: int
    place: int
    width: int


@dataclass(frozen=True, slots=True)
class Segment:
    text: str
    place: int
    width: int


@dataclass(slots=True)
class DocFile:
    content: bytes
    table: bytes
    lengths: dict[str, int]
    pieces: list[TextPiece]
    codec: str = "cp1252"
    places: list[int] = field(default_factory=list[int])
    properties: list[Properties] = field(default_factory=list["Properties"])
    unseen: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    levels: dict[int, int] = field(default_factory=dict[int, int])

    def part(self, name: str) -> Iterator[Segment]:
        start = 0
        for other, length in self.lengths.items():
            if other == name:
                yield from self.between(start, start + length)
                return
            start += length

    def start_of(self, name: str) -> int:
        before = list(self.lengths)
        return sum(self.lengths[other] for other in before[: before.index(name)])

    def between(self, first: int, last: int) -> Iterator[Segment]:
        for piece in self.pieces:
            start, end = max(first, piece.start), min(last, piece.end)
            if start < end:
                place = piece.place + (start - piece.start) * piece.width
                yield from self._seen(place, place + (end - start) * piece.width, piece.width)

    def paragraph(self, place: int) -> Properties | None:
        at = bisect_right(self.places, place) - 1
        return self.properties[at] if 0 <= at < len(self.properties) else None

    def positions(self, offset: int) -> list[int]:
        entries = _table(self.content, self.table, offset)
        return list(struct.unpack(f"<{len(entries) // 4}L", entries[: len(entries) // 4 * 4]))

    def _seen(self, place: int, end: int, width: int) -> Iterator[Segment]:
        at = max(bisect_right(self.unseen, (place, place)) - 1, 0)
        for hidden, shown in self.unseen[at:]:
            if hidden >= end:
                break
            if hidden > place:
                yield self._segment(place, min(hidden, end), width)
            place = max(place, shown)
        if place < end:
            yield self._segment(place, end, width)

    def _segment(self, place: int, end: int, width: int) -> Segment:
        content = self.content[place:end]
        codec = "utf-16-le" if width == 2 else self.codec
        return Segment(content.decode(codec, "replace"), place, width)


def opened(container: Ole) -> DocFile:
    content = stream(container, "WordDocument")
    try:
        return _opened(container, content)
    except (struct.error, IndexError, ValueError) as error:
        raise CorruptFile(DAMAGED) from error


def _opened(container: Ole, content: bytes) -> DocFile:
    identifier, version, _, language, _, flags = struct.unpack_from("<6H", content)
    if identifier not in _WORD:
        raise CorruptFile(DAMAGED)
    if flags & _ENCRYPTED:
        raise EncryptedFile
    if version < _WORD_97:
        (start,) = struct.unpack_from("<L", content, 0x18)
        (length,) = struct.unpack_from("<L", content, 0x34)
        codec = codec_of_page(_LANGUAGES.get(language & 0x3FF, 1252))
        return DocFile(content, b"", {"text": length}, [TextPiece(0, length, start, 1)], codec)
    table = stream(container, "1Table" if flags & _SECOND_TABLE else "0Table")
    lengths: dict[str, int] = dict(zip(_PARTS, struct.unpack_from("<7L", content, 0x4C), strict=True))
    document = DocFile(content, table, lengths, list(_pieces(_table(content, table, 0x1A2))))
    if sum((piece.end - piece.start) * piece.width for piece in document.pieces) > _MOST_REPEATED * len(
        content
    ):
        raise CorruptFile(DAMAGED)
    for first, grpprl in _runs(content, table, 0x102, paragraphs=True):
        document.places.append(first[0])
        document.properties.append(paragraph_properties(grpprl))
    runs = _runs(content, table, 0xFA, paragraphs=False)
    document.unseen = sorted(place for place, grpprl in runs if text_is_unseen(grpprl))
    order = sorted(range(len(document.places)), key=document.places.__getitem__)
    document.places = [document.places[at] for at in order]
    document.properties = [document.properties[at] for at in order]
    document.levels = _levels(_table(content, table, 0xA2))
    return document


def _table(content: bytes, table: bytes, offset: int) -> bytes:
    start, size = struct.unpack_from("<2L", content, offset)
    return table[start : start + size]


def _pieces(clx: bytes) -> Iterator[TextPiece]:
    at = 0
    while at < len(clx) and clx[at] == 1:
        at += 3 + int.from_bytes(clx[at + 1 : at + 3], "little")
    if at >= len(clx) or clx[at] != 2:
        raise CorruptFile(DAMAGED)
    entries = clx[at + 5 : at + 5 + int.from_bytes(clx[at + 1 : at + 5], "little")]
    count = (len(entries) - 4) // 12
    numbers = struct.unpack_from(f"<{count + 1}L", entries)
    for index in range(count):
        (place,) = struct.unpack_from("<L", entries, (count + 1) * 4 + index * 8 + 2)
        narrow = bool(place & 0x40000000)
        place &= 0x3FFFFFFF
        start, end = numbers[index], numbers[index + 1]
        if start < end:
            yield TextPiece(start, end, place // 2 if narrow else place, 1 if narrow else 2)


def _runs(
    content: bytes, table: bytes, offset: int, *, paragraphs: bool
) -> Iterator[tuple[tuple[int, int], bytes]]:
    entries = _table(content, table, offset)
    count = max((len(entries) - 4) // 8, 0)
    for index in range(min(count, len(content) // _PAGE + 1)):
        (number,) = struct.unpack_from("<L", entries, (count + 1) * 4 + index * 4)
        start = (number & 0x3FFFFF) * _PAGE
        page = content[start : start + _PAGE]
        if len(page) == _PAGE:
            yield from _page_runs(page, paragraphs=paragraphs)


def _page_runs(page: bytes, *, paragraphs: bool) -> Iterator[tuple[tuple[int, int], bytes]]:
    runs = min(page[-1], 101)
    places = struct.unpack_from(f"<{runs + 1}L", page)
    step = 13 if paragraphs else 1
    for run in range(runs):
        at = page[(runs + 1) * 4 + run * step] * 2
        grpprl = b""
        if at:
            size = page[at] if not paragraphs else page[at] * 2 - 1
            at += 1
            if size < 0:
                size = page[at] * 2
                at += 1
            grpprl = page[at : min(at + size, _PAGE - 1)]
        yield (places[run], places[run + 1]), grpprl


def _levels(sheet: bytes) -> dict[int, int]:
    if len(sheet) < 6:
        return {}
    at = 2 + int.from_bytes(sheet[:2], "little")
    own: dict[int, int] = {}
    parents: dict[int, int] = {}
    for style in range(int.from_bytes(sheet[2:4], "little")):
        size = int.from_bytes(sheet[at : at + 2], "little")
        if size >= 4:
            kind, base = struct.unpack_from("<2H", sheet, at + 2)
            parents[style] = base >> 4
            if kind & 0xFFF in _HEADING_STYLES:
                own[style] = kind & 0xFFF
            elif kind & 0xFFF == _TITLE_STYLE:
                own[style] = 1
        at += 2 + size + size % 2
    levels: dict[int, int] = {}
    for style in parents:
        above: int | None = style
        for _ in range(_DEEPEST_STYLE):
            if above is None or above in own:
                break
            above = parents.get(above)
        if above is not None and above in own:
            levels[style] = own[above]
    return levels
