from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from rag_engine.errors import EmptyDocument
from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._ooxml.embedded import continued_sections
from rag_engine.parsers._ooxml.package import MC, Element, OoxmlPackage, R, W, package
from rag_engine.parsers._ooxml.pictures import UNREAD, PictureReader
from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.hidden_text import hidden_text_notice
from rag_engine.parsers._shared.sections import is_blank, joined
from rag_engine.parsers.documents._docx.blocks import BlockReader
from rag_engine.parsers.documents._docx.hidden_text import HiddenRuns, has_white_pages, shaded_tables
from rag_engine.parsers.documents._docx.notes import Notes
from rag_engine.parsers.documents._docx.numbering import numbering_of
from rag_engine.parsers.documents._docx.styles import styles_of
from rag_engine.parsers.documents._docx.tables import is_contents
from rag_engine.parsers.documents._docx.text import shows_prompt
from rag_engine.parsing.tesseract import PROGRAM
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rag_engine.parsers.documents._docx.styles import DocxStyle

SUFFIXES: Final = "docm dotx dotm"
CONTENT: Final = "binary"

PROGRAMS: Final = (PROGRAM,)
_MOST_SCANS: Final = 200
_MARGINS: Final = {"header": "Header", "footer": "Footer"}

properties: Final = office.ooxml


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading", "footnote 3" or "comment 2"."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    yield from joined(_sections(path, unpacking))


def _sections(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with package(path, "Word document") as opened:
        main = opened.main("word/document.xml", "word/document2.xml")
        styles = _styles(opened, main)
        hidden = HiddenRuns(
            styles,
            shaded_tables=_shaded_tables(opened, main),
            is_white_page=functools.cache(lambda: has_white_pages(opened, main)),
        )
        numbering = next((opened.root(part) for part in opened.related(main, "numbering")), None)

        @functools.cache
        def reader_of(part: str) -> BlockReader:
            return BlockReader(opened, part, styles, numbering_of(numbering), hidden=hidden)

        def plain(element: Element, part: str) -> str:
            return reader_of(part).plain(element)

        notes = Notes(opened, main, plain)
        reader = BlockReader(opened, main, styles, numbering_of(numbering), notes, unpacking, hidden=hidden)
        has_text = False
        for section in _body(opened, main, reader, unpacking):
            has_text = has_text or not is_blank(section.text)
            yield section
        yield from reader.notes()
        yield from notes.rest(reader.deleted_notes())
        if not has_text:
            yield from _scans(opened, main, unpacking)
        yield from _margins(opened, main, styles, hidden)
        yield from opened.charts.notices()
        if hidden.characters:
            yield hidden_text_notice(hidden.characters)


def _body(opened: OoxmlPackage, main: str, reader: BlockReader, unpacking: Unpacking) -> Iterator[Section]:
    tags = (f"{W}p", f"{W}tbl", f"{W}tr", f"{W}altChunk")
    for block in _blocks(opened.events(main, *tags)):
        if isinstance(block, _Rows):
            yield from reader.table(block)
        elif block.tag == f"{W}altChunk":
            part = opened.target(main, block.get(f"{R}id"))
            if part is not None:
                yield from continued_sections(opened, part, unpacking, reader.headings)
        elif not _is_left_out(block):
            yield from reader.paragraph(block)


def _scans(opened: OoxmlPackage, main: str, unpacking: Unpacking) -> Iterator[Section]:
    pictures = PictureReader(opened, unpacking)
    found = False
    for section in pictures.sections(main, "picture", (), _MOST_SCANS):
        found = True
        yield section
    if pictures.is_missing and not found:
        raise EmptyDocument(f"The document holds nothing but {UNREAD}.")


def _styles(opened: OoxmlPackage, main: str) -> Mapping[str, DocxStyle]:
    found: dict[str, DocxStyle] = {}
    for part in opened.related(main, "styles"):
        root = opened.root(part)
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault")
        found |= styles_of(root.iterfind(f"{W}style"), defaults)
    return found


def _shaded_tables(opened: OoxmlPackage, main: str) -> frozenset[str]:
    roots = [opened.root(part) for part in opened.related(main, "styles")]
    return frozenset(name for root in roots for name in shaded_tables(root.iterfind(f"{W}style")))


class _Rows:
    def __init__(self, events: Iterator[tuple[str, Element]]) -> None:
        self._rows = self._read(events)

    def __iter__(self) -> Iterator[Element]:
        return self._rows

    def __next__(self) -> Element:
        return next(self._rows)

    @staticmethod
    def _read(events: Iterator[tuple[str, Element]]) -> Iterator[Element]:
        depth = 0
        for event, element in events:
            if event == "start":
                depth += 1
                continue
            depth -= 1
            if depth < 0:
                _drop(element)
                return
            if depth == 0 and element.tag == f"{W}tr":
                yield element
                _drop(element)


def _blocks(events: Iterator[tuple[str, Element]]) -> Iterator[Element | _Rows]:
    depth = 0
    for event, element in events:
        if event == "end":
            depth -= 1
            if depth == 0:
                # A file may have millions of empty paragraphs.
                if len(element) or element.tag != f"{W}p":
                    yield element
                _drop(element)
        elif depth == 0 and element.tag == f"{W}tbl":
            rows = _Rows(events)
            yield rows
            for _ in rows:
                pass
        else:
            depth += 1


def _drop(element: Element) -> None:
    element.clear(keep_tail=True)
    parent = element.getparent()
    while (
        parent is not None
        and (previous := element.getprevious()) is not None
        # The rows that follow need the background of the table.
        and previous.tag != f"{W}tblPr"
    ):
        parent.remove(previous)


def _is_left_out(paragraph: Element) -> bool:
    parent = paragraph.getparent()
    if parent is None or parent.tag == f"{W}body":
        return False
    return any(
        above.tag == f"{MC}Fallback" or shows_prompt(above) or is_contents(above)
        for above in paragraph.iterancestors(f"{W}sdt", f"{MC}Fallback")
    )


def _margins(
    opened: OoxmlPackage, main: str, styles: Mapping[str, DocxStyle], hidden: HiddenRuns
) -> Iterator[Section]:
    numbering = numbering_of(None)
    for kind, title in _MARGINS.items():
        seen: set[str] = set()
        for part in opened.related(main, kind):
            for line in BlockReader(opened, part, styles, numbering, hidden=hidden).lines(opened.root(part)):
                if any(map(str.isalnum, line)) and line not in seen:
                    seen.add(line)
                    yield Section(text=line, anchor=f"§ {title}", headings=(title,))
