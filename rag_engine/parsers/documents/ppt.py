from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, EncryptedFile
from rag_engine.parsers._properties import ole
from rag_engine.parsers._shared.ole import open_ole, stream
from rag_engine.parsers._shared.sections import is_blank, joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STREAMS: Final = "PowerPoint Document"

_DAMAGED: Final = "The presentation is damaged and cannot be read; save it again as .pptx."
_ENCRYPTED_MARK: Final = b"\xdf\xc4\xd1\xf3"
_SLIDE_LIST, _SLIDE_PERSIST, _PERSISTS = 0x0FF0, 0x03F3, 0x1772
_TEXT_HEADER, _WIDE_TEXT, _NARROW_TEXT, _NOTES_ATOM = 0x0F9F, 0x0FA0, 0x0FA8, 0x03F1
_TITLES: Final = frozenset({0, 6})
_NOTES_LIST: Final = 2
_CONTAINER: Final = 0xF
_DEEPEST: Final = 30
_LEFT_OUT: Final = frozenset({0x0FD9, 0x0FC9, 0x1388})


@dataclass(frozen=True, slots=True)
class _Record:
    kind: int
    instance: int
    start: int
    end: int
    is_container: bool


@dataclass(slots=True)
class _Slide:
    reference: int
    identifier: int
    texts: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])


properties: Final = ole.summary


def parse(path: Path) -> Iterator[Section]:
    """PowerPoint 97 to 2003, anchored "slide 2" or "slide 2, notes"."""
    with open_ole(path) as container:
        content = stream(container, "PowerPoint Document")
        user = stream(container, "Current User")
    if user[12:16] == _ENCRYPTED_MARK:
        raise EncryptedFile
    try:
        yield from joined(_sections(content))
    except (struct.error, IndexError, ValueError) as error:
        raise CorruptFile(_DAMAGED) from error


def _sections(content: bytes) -> Iterator[Section]:
    slides: list[_Slide] = []
    notes: list[_Slide] = []
    places: dict[int, int] = {}
    for record in _records(content, 0, len(content), 0):
        if record.kind == _PERSISTS:
            places |= _persists(content, record)
        elif record.kind == _SLIDE_LIST and record.instance in {0, _NOTES_LIST}:
            found = list(_listed(content, record))
            slides, notes = (found, notes) if record.instance == 0 else (slides, found)
    noted = {owner: text for owner, text in (_notes(content, note, places) for note in notes) if text}
    for number, slide in enumerate(slides, 1):
        anchor = f"slide {number}"
        texts = [*slide.texts, *_drawn(content, slide, places)]
        heading = next((one_line(text) for is_title, text in texts if is_title), "")
        headings = (heading,) if heading else ()
        yield Section(text=heading, anchor=anchor, headings=headings)
        for is_title, text in texts:
            if not is_title and not is_blank(text):
                yield Section(text=text, anchor=anchor, headings=headings)
        note = noted.get(slide.identifier, "")
        yield Section(text=note, anchor=f"{anchor}, notes", headings=(*headings, "Notes"))


def _records(content: bytes, start: int, end: int, depth: int) -> Iterator[_Record]:
    while start + 8 <= end:
        version, kind, size = struct.unpack_from("<HHL", content, start)
        stop = min(start + 8 + size, end)
        record = _Record(kind, version >> 4, start + 8, stop, version & 0xF == _CONTAINER)
        yield record
        if record.is_container and depth < _DEEPEST and kind not in _LEFT_OUT:
            yield from _records(content, start + 8, stop, depth + 1)
        start = stop


def _persists(content: bytes, record: _Record) -> Iterator[tuple[int, int]]:
    at = record.start
    while at + 4 <= record.end:
        (entry,) = struct.unpack_from("<L", content, at)
        first, count = entry & 0xFFFFF, entry >> 20
        at += 4
        for number in range(count):
            if at + 4 > record.end:
                return
            yield first + number, struct.unpack_from("<L", content, at)[0]
            at += 4


def _listed(content: bytes, record: _Record) -> Iterator[_Slide]:
    slide: _Slide | None = None
    kind = -1
    for inner in _records(content, record.start, record.end, 0):
        if inner.kind == _SLIDE_PERSIST:
            if slide is not None:
                yield slide
            reference, identifier = struct.unpack_from("<L8xL", content, inner.start)
            slide = _Slide(reference, identifier)
        elif inner.kind == _TEXT_HEADER:
            (kind,) = struct.unpack_from("<L", content, inner.start)
        elif inner.kind in {_WIDE_TEXT, _NARROW_TEXT} and slide is not None:
            slide.texts.append((kind in _TITLES, _text(content, inner)))
    if slide is not None:
        yield slide


def _drawn(content: bytes, slide: _Slide, places: dict[int, int]) -> Iterator[tuple[bool, str]]:
    kind = -1
    for inner in _within(content, slide, places):
        if inner.kind == _TEXT_HEADER:
            (kind,) = struct.unpack_from("<L", content, inner.start)
        elif inner.kind in {_WIDE_TEXT, _NARROW_TEXT}:
            yield kind in _TITLES and not slide.texts, _text(content, inner)


def _within(content: bytes, slide: _Slide, places: dict[int, int]) -> Iterator[_Record]:
    at = places.get(slide.reference, len(content))
    if at + 8 <= len(content):
        (size,) = struct.unpack_from("<L", content, at + 4)
        yield from _records(content, at + 8, min(at + 8 + size, len(content)), 1)


def _notes(content: bytes, notes: _Slide, places: dict[int, int]) -> tuple[int, str]:
    atoms = (record.start for record in _within(content, notes, places) if record.kind == _NOTES_ATOM)
    owner = next((struct.unpack_from("<L", content, start)[0] for start in atoms), 0)
    texts = [text for _, text in (*notes.texts, *_drawn(content, notes, places))]
    return owner, "\n".join(text for text in texts if not is_blank(text) and text != "*")


def _text(content: bytes, record: _Record) -> str:
    raw = content[record.start : record.end]
    text = (
        raw.decode("utf-16-le", "replace") if record.kind == _WIDE_TEXT else raw.decode("cp1252", "replace")
    )
    return text.replace("\r", "\n").replace("\x0b", "\n").strip()
