"""PDF by PyMuPDF: pages, headings, paragraphs in reading order, tables, form fields and comments."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from rag_engine.parsers._mupdf import Document, Page, empty_store, open_pdf, picture_share, translate_errors
from rag_engine.parsers._pdf.headings import count_sizes, outlined, sized
from rag_engine.parsers._pdf.layout import Block, arranged
from rag_engine.parsers._pdf.lines import PageText, page_text
from rag_engine.parsers._pdf.margins import Margins
from rag_engine.parsers._pdf.notes import attachments, has_fields, is_dynamic_form, page_notes
from rag_engine.parsers._pdf.paragraphs import broken_word, continued, paragraph
from rag_engine.parsers._pdf.recognition import PROGRAMS, Unread, recognised
from rag_engine.parsers._pdf.tables import (
    Rows,
    Rules,
    carried_rows,
    parted_titles,
    repeated_header,
    table_text,
)
from rag_engine.parsers._pdf.usable import fault
from rag_engine.parsers._sections import HeadingPath, entered, joined, one_line, titles
from rag_engine.parsers._unread_pages import Reason, no_text, notices
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["PROGRAMS", "parse"]

_NO_TEXT: Final = "The PDF has no text in it: its pages are empty, or pictures without words."
_DYNAMIC_FORM: Final = "This PDF is an XFA form: its pages may show less than Adobe Acrobat does; print it to a PDF there and add that."
_BAD_PAGES: Final = 50
"""Pages that may fail one after the other before the rest is given up: a damaged page tree may promise millions."""
_SHRINK_EVERY: Final = 500
_FOOTNOTES: Final = 4
"""Blocks at the end of a page among which the last paragraph of its body is looked for."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadPage:
    """A page as it is drawn; `found` by text recognition."""

    number: int
    text: PageText
    found: Sequence[Section] = ()
    notes: Sequence[Section] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArrangedPage:
    """A page in reading order, and the text of each of its blocks."""

    read: _ReadPage
    blocks: list[Block]
    texts: list[str]


@dataclass(slots=True)
class _Reading:
    """What the pages so far have taught about the document."""

    outline: dict[int, list[tuple[int, str]]]
    """Page number (from 1) -> the headings that the outline places there: level (from 1) and title."""
    sizes: Counter[float] = field(default_factory=Counter[float])
    path: HeadingPath = ()
    fields: bool = False
    """Whether it is a form."""
    rules: Rules = field(default_factory=Rules)
    rows: Rows = ()
    """The table that the page before ended with, if it did: the next may go on with it."""
    pages: int = 0
    unread: dict[Reason, list[int]] = field(default_factory=lambda: defaultdict(list[int]))


def parse(path: Path) -> Iterator[Section]:
    """Sections page by page, anchored "p. 3" by the page's place in the file, which is what a viewer's page box takes."""
    with closing(open_pdf(path)) as document:
        if document.needs_pass:
            raise EncryptedFile
        yield from joined(_sections(document), no_text=_NO_TEXT)


def _sections(document: Document) -> Iterator[Section]:
    reading = _Reading(outline=_outline(document), fields=has_fields(document))
    found_text = False
    for page, following in _with_next(_arranged_pages(_pages(document, reading), reading.rules)):
        if following is not None:
            _mend_word(page, following)
        for section in _page_sections(page, reading):
            found_text = True
            yield section
    for section in attachments(document):
        found_text = True
        yield section
    if not found_text:
        raise EmptyDocument(no_text(reading.unread, reading.pages, otherwise=_NO_TEXT))
    yield from notices(reading.unread, reading.pages)
    if is_dynamic_form(document):
        yield Section(text=_DYNAMIC_FORM, anchor="p. 1", kind="notice")


def _pages(document: Document, reading: _Reading) -> Iterator[_ReadPage]:
    read = failed = 0
    with translate_errors():
        reading.pages = document.page_count  # as it says: where pages are damaged it finds others later
    for number in range(1, reading.pages + 1):
        try:
            with translate_errors():
                page = _read_page(document.load_page(number - 1), number, reading)
        except CorruptFile:
            reading.unread["damaged"].append(number)
            failed += 1
            if failed == _BAD_PAGES:
                break
            continue
        read, failed = read + 1, 0
        yield page
        if number % _SHRINK_EVERY == 0:
            # Fonts and objects of the pages so far; seldom, as reading the fonts again is slow.
            empty_store()
    if not read:
        raise CorruptFile("The PDF is damaged: none of its pages can be read; save or download it again.")


def _read_page(page: Page, number: int, reading: _Reading) -> _ReadPage:
    text = page_text(page, vectors=reading.rules.expected)
    found: Sequence[Section] = ()
    what = fault(text.text, pictured=partial(picture_share, page))
    if what is not None:
        try:
            found = recognised(page, number)
        except Unread as error:
            reading.unread[error.reason].append(number)
        if what == "garbled":
            text = replace(text, blocks=[])
    notes = page_notes(page, f"p. {number}", text, fields=reading.fields)
    return _ReadPage(number=number, text=text, found=found, notes=notes)


def _arranged_pages(pages: Iterator[_ReadPage], rules: Rules) -> Iterator[_ArrangedPage]:
    margins = Margins()
    before = ""
    for page, following in _with_next(pages):
        blocks = arranged(
            margins.without(page.text, page.number, following.text if following else None),
            page.text.drawn,
            rules,
        )
        # A word that one page has with its hyphen inside a line keeps it at the end of one.
        nearby = page.text.text
        texts = [
            table_text(parted_titles(block.rows)[1])
            if block.rows
            else paragraph(block.lines, before + nearby)
            for block in blocks
        ]
        before = nearby
        yield _ArrangedPage(read=page, blocks=blocks, texts=texts)


def _with_next(items: Iterator[_Item]) -> Iterator[tuple[_Item, _Item | None]]:
    """Each item with the one after it."""
    before = next(items, None)
    while before is not None:
        following = next(items, None)
        yield before, following
        before = following


def _mend_word(page: _ArrangedPage, following: _ArrangedPage) -> None:
    """Give a word that goes over the end of the page to the page on which it begins. Footnotes may stand below it."""
    first = next((at for at, block in enumerate(following.blocks) if not block.rows), None)
    if first is None:
        return
    for at in range(len(page.texts) - 1, max(len(page.texts) - _FOOTNOTES, 0) - 1, -1):
        text, block = page.texts[at], page.blocks[at]
        rest = "" if block.rows else broken_word(text, following.texts[first])
        if rest and block.size == following.blocks[first].size:
            page.texts[at] = continued(text, rest, full=True, nearby=page.read.text.text)
            following.texts[first] = following.texts[first][len(rest) :].lstrip(" ")
            return


def _outline(document: Document) -> dict[int, list[tuple[int, str]]]:
    outline: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        with translate_errors():
            entries = document.get_toc()
    except CorruptFile:
        # The pages may be sound all the same; headings then go by size.
        return outline
    for level, title, page in entries:
        if one_line(title):
            outline[page].append((level, one_line(title)))
    return outline


def _page_sections(page: _ArrangedPage, reading: _Reading) -> Iterator[Section]:
    anchor = f"p. {page.read.number}"
    blocks, texts = page.blocks, page.texts
    if reading.outline:
        headings = outlined(texts, reading.outline.get(page.read.number, ()))
    else:
        count_sizes(blocks, reading.sizes)
        headings = sized(blocks, texts, reading.sizes)
    run: list[str] = []
    for position, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        above, rows = parted_titles(block.rows) if block.rows else ([], ())
        run += above
        if run and (rows or position in headings):
            yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(reading.path))
            run = []
        for level, title in headings.get(position, ()):
            reading.path = entered(reading.path, level, title)
        if rows:
            header = repeated_header(reading.rows, rows) if position <= 1 and not above else ""
            yield Section(text=header + text, anchor=anchor, headings=titles(reading.path), kind="table")
        elif text:
            run.append(text)
    if run:
        yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(reading.path))
    if blocks:
        reading.rows = carried_rows(reading.rows, blocks)
    else:
        # An outline may point to a page without text.
        for level, title in headings.get(0, ()):
            reading.path = entered(reading.path, level, title)
    here = titles(reading.path)
    for section in (*page.read.found, *page.read.notes):
        yield replace(section, headings=section.headings or here)
