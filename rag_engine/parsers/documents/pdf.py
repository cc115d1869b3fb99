from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from rag_engine.parsers._ocr.unread_pages import Reason, no_text, notices, page_list
from rag_engine.parsers._properties import pdf as pdf_properties
from rag_engine.parsers._shared.hidden_text import hidden_text_notice
from rag_engine.parsers._shared.mupdf import (
    PdfDocument,
    PdfPage,
    empty_store,
    open_pdf,
    picture_share,
    translate_errors,
)
from rag_engine.parsers._shared.sections import HeadingPath, entered, joined, one_line, titles
from rag_engine.parsers.documents._pdf.headings import count_sizes, outlined, sized
from rag_engine.parsers.documents._pdf.layout import TextBlock, arranged
from rag_engine.parsers.documents._pdf.lines import PageText, page_text
from rag_engine.parsers.documents._pdf.margins import Margins
from rag_engine.parsers.documents._pdf.notes import attachments, has_fields, is_dynamic_form, page_notes
from rag_engine.parsers.documents._pdf.ocr import PROGRAMS, Unread, recognised
from rag_engine.parsers.documents._pdf.paragraphs import broken_word, continued, paragraph
from rag_engine.parsers.documents._pdf.tables import (
    Rows,
    Rules,
    carried_rows,
    repeated_header,
    split_titles,
    table_text,
)
from rag_engine.parsers.documents._pdf.text_quality import fault
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CONTENT: Final = "binary"

__all__ = ["PROGRAMS", "parse", "properties"]

_NO_TEXT: Final = "The PDF has no text in it: its pages are empty, or pictures without words."
_DYNAMIC_FORM: Final = "This PDF is an XFA form: its pages may show less than Adobe Acrobat does; print it to a PDF there and add that."
_BAD_PAGES: Final = 50
"""Failures in a row after which the rest is skipped: a damaged page tree may claim millions."""
_SHRINK_EVERY: Final = 500
_FOOTNOTES: Final = 4

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadPage:
    number: int
    text: PageText
    found: Sequence[Section] = ()
    notes: Sequence[Section] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArrangedPage:
    read: _ReadPage
    blocks: list[TextBlock]
    texts: list[str]


@dataclass(slots=True)
class _DocumentState:
    outline: dict[int, list[tuple[int, str]]]
    sizes: Counter[float] = field(default_factory=Counter[float])
    path: HeadingPath = ()
    fields: bool = False
    rules: Rules = field(default_factory=Rules)
    rows: Rows = ()
    pages: int = 0
    hidden: dict[int, int] = field(default_factory=dict[int, int])
    """Characters by page."""
    unread: dict[Reason, list[int]] = field(default_factory=lambda: defaultdict(list[int]))


properties: Final = pdf_properties.properties


def parse(path: Path) -> Iterator[Section]:
    """Anchored "p. 3" by the position in the file, as viewers do."""
    with closing(open_pdf(path)) as document:
        if document.needs_pass:
            raise EncryptedFile
        yield from joined(_sections(document), no_text=_NO_TEXT)


def _sections(document: PdfDocument) -> Iterator[Section]:
    state = _DocumentState(outline=_outline(document), fields=has_fields(document))
    found_text = False
    for page, following in _with_next(_arranged_pages(_pages(document, state), state.rules)):
        if following is not None:
            _rejoin_word(page, following)
        for section in _page_sections(page, state):
            found_text = True
            yield section
    for section in attachments(document):
        found_text = True
        yield section
    if not found_text:
        raise EmptyDocument(no_text(state.unread, state.pages, otherwise=_NO_TEXT))
    yield from notices(state.unread, state.pages)
    if state.hidden:
        places = page_list(list(state.hidden))
        yield hidden_text_notice(sum(state.hidden.values()), places, anchor=f"p. {min(state.hidden)}")
    if is_dynamic_form(document):
        yield Section(text=_DYNAMIC_FORM, anchor="p. 1", kind="notice")


def _pages(document: PdfDocument, state: _DocumentState) -> Iterator[_ReadPage]:
    read = failed = 0
    with translate_errors():
        state.pages = document.page_count  # on damaged pages MuPDF finds more later
    for number in range(1, state.pages + 1):
        try:
            with translate_errors():
                page = _read_page(document.load_page(number - 1), number, state)
        except CorruptFile:
            state.unread["damaged"].append(number)
            failed += 1
            if failed == _BAD_PAGES:
                break
            continue
        read, failed = read + 1, 0
        yield page
        if number % _SHRINK_EVERY == 0:
            # Rarely, since loading fonts again is slow.
            empty_store()
    if not read:
        raise CorruptFile("The PDF is damaged: none of its pages can be read; save or download it again.")


def _read_page(page: PdfPage, number: int, state: _DocumentState) -> _ReadPage:
    text = page_text(page, vectors=state.rules.expected)
    if text.hidden:
        state.hidden[number] = text.hidden
    found: Sequence[Section] = ()
    what = fault(text.text, pictured=partial(picture_share, page))
    if what is not None:
        try:
            found = recognised(page, number)
        except Unread as error:
            state.unread[error.reason].append(number)
        if what == "garbled":
            text = replace(text, blocks=[])
    notes = page_notes(page, f"p. {number}", text, fields=state.fields)
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
        nearby = page.text.text
        texts = [
            table_text(split_titles(block.rows)[1]) if block.rows else paragraph(block.lines, before + nearby)
            for block in blocks
        ]
        before = nearby
        yield _ArrangedPage(read=page, blocks=blocks, texts=texts)


def _with_next(items: Iterator[_Item]) -> Iterator[tuple[_Item, _Item | None]]:
    before = next(items, None)
    while before is not None:
        following = next(items, None)
        yield before, following
        before = following


def _rejoin_word(page: _ArrangedPage, following: _ArrangedPage) -> None:
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


def _outline(document: PdfDocument) -> dict[int, list[tuple[int, str]]]:
    outline: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        with translate_errors():
            entries = document.get_toc()
    except CorruptFile:
        return outline
    for level, title, page in entries:
        if one_line(title):
            outline[page].append((level, one_line(title)))
    return outline


def _page_sections(page: _ArrangedPage, state: _DocumentState) -> Iterator[Section]:
    anchor = f"p. {page.read.number}"
    blocks, texts = page.blocks, page.texts
    if state.outline:
        headings = outlined(texts, state.outline.get(page.read.number, ()))
    else:
        count_sizes(blocks, state.sizes)
        headings = sized(blocks, texts, state.sizes)
    run: list[str] = []
    for position, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        above, rows = split_titles(block.rows) if block.rows else ([], ())
        run += above
        if run and (rows or position in headings):
            yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(state.path))
            run = []
        for level, title in headings.get(position, ()):
            state.path = entered(state.path, level, title)
        if rows:
            header = repeated_header(state.rows, rows) if position <= 1 and not above else ""
            yield Section(text=header + text, anchor=anchor, headings=titles(state.path), kind="table")
        elif text:
            run.append(text)
    if run:
        yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(state.path))
    if blocks:
        state.rows = carried_rows(state.rows, blocks)
    else:
        # An outline may point to a page without text.
        for level, title in headings.get(0, ()):
            state.path = entered(state.path, level, title)
    outline_headings = titles(state.path)
    for section in (*page.read.found, *page.read.notes):
        yield replace(section, headings=section.headings or outline_headings)
