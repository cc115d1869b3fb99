"""PDF by PyMuPDF: pages, headings, paragraphs in reading order, tables.

Speed: one text page per page, from which MuPDF writes the blocks and, as HTML, the place and size of every line; both
are much cheaper than the dictionaries that PyMuPDF builds.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from rag_engine.parsers._mupdf import (
    TEXT_FLAGS,
    Document,
    Page,
    empty_store,
    open_pdf,
    picture_share,
    translate_errors,
)
from rag_engine.parsers._pdf_layout import Block, TextLine, arranged, paragraph, table_text
from rag_engine.parsers._pdf_recognition import PROGRAMS, Unread, recognised
from rag_engine.parsers._pdf_usable import fault
from rag_engine.parsers._sections import HeadingPath, entered, joined, one_line, titles
from rag_engine.parsers._unread_pages import Reason, no_text, notices
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["PROGRAMS", "parse"]

_LINE_STYLE: Final = re.compile(
    r'<p style="top:(-?[\d.]+)pt;left:(-?[\d.]+)pt;line-height:([\d.]+)pt">(<b>)?'
)
_PAGE_HEIGHT: Final = re.compile(r'<div id="page0" style="width:[\d.]+pt;height:([\d.]{1,6})pt">')
_A4_HEIGHT: Final = 842.0
_DIGITS: Final = re.compile(r"\d+", re.ASCII)
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_PAGE_NUMBER: Final = re.compile(
    r"(?P<first>\d{1,4})(?P<after>\D.*)?|(?P<before>.*\D)(?P<last>\d{1,4})", re.ASCII
)
_NO_TEXT: Final = "The PDF has no text in it: its pages are empty, or pictures without words."
_BAD_PAGES: Final = 50
"""Pages that may fail one after the other before the rest is given up: a damaged page tree may promise millions."""
_SHRINK_EVERY: Final = 500
_MARGIN: Final = 0.09
"""Share of the page's height at its top and bottom where running headers and footers stand."""
_LONGEST_HEADING: Final = 120
_REMEMBERED: Final = 400
_NARROW_LINES: Final = 2
_NARROW_TEXT: Final = 4


@dataclass(slots=True)
class _Reading:
    """What the pages so far have taught about the document."""

    outline: dict[int, list[tuple[int, str]]]
    """Page number (from 1) -> the headings that the outline places there: level (from 1) and title."""
    sizes: Counter[float] = field(default_factory=Counter[float])
    """Characters by font size: the commonest size is the body's."""
    margins: set[str] = field(default_factory=set[str])
    """Running headers and footers of the pages so far, without their page numbers."""
    path: HeadingPath = ()


def parse(path: Path) -> Iterator[Section]:
    """Sections page by page, anchored "p. 3" by the page's place in the file, which is what a viewer's page box takes."""
    with closing(open_pdf(path)) as document:
        if document.needs_pass:
            raise EncryptedFile
        with translate_errors():
            pages = document.page_count
        yield from joined(_sections(document, pages), no_text=_NO_TEXT)


def _sections(document: Document, pages: int) -> Iterator[Section]:
    reading = _Reading(outline=_outline(document))
    read = failed = 0
    found_text = False
    unread: dict[Reason, list[int]] = defaultdict(list)
    for number in range(1, pages + 1):
        try:
            with translate_errors():
                page = document.load_page(number - 1)
                height, blocks = _page_blocks(page)
                text = "\n".join(line.text for block in blocks for line in block)
                what = fault(text, pictured=partial(picture_share, page))
        except CorruptFile:
            failed += 1
            if failed == _BAD_PAGES:
                break
            continue
        read, failed = read + 1, 0
        if what is not None:
            try:
                found = recognised(page, number)
            except Unread as error:
                unread[error.reason].append(number)
            else:
                found_text = found_text or bool(found)
                above = titles(reading.path)
                yield from (replace(section, headings=section.headings or above) for section in found)
            if what == "garbled":
                continue
        for section in _page_sections(_without_margins(blocks, number, height, reading), number, reading):
            found_text = True
            yield section
        if number % _SHRINK_EVERY == 0:
            # Fonts and objects of the pages so far; seldom, as reading the fonts again is slow.
            empty_store()
    if not read:
        raise CorruptFile("The PDF is damaged: none of its pages can be read; save or download it again.")
    if not found_text:
        raise EmptyDocument(no_text(unread, pages, otherwise=_NO_TEXT))
    yield from notices(unread, pages)


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


def _page_blocks(page: Page) -> tuple[float, list[list[TextLine]]]:
    """The height of a page and the lines of its blocks, in the order in which the PDF draws them."""
    text_page = page.get_textpage(flags=TEXT_FLAGS)
    drawn = [block for block in text_page.extractBLOCKS() if block[6] == 0]
    texts = [block[4].removesuffix("\n").split("\n") for block in drawn]
    html = text_page.extractHTML()
    styles = _LINE_STYLE.findall(html)
    if len(styles) != sum(map(len, texts)):
        styles = [
            (y0 + position * (y1 - y0) / len(lines), x0, (y1 - y0) / len(lines), "")
            for (x0, y0, _, y1, *_), lines in zip(drawn, texts, strict=True)
            for position in range(len(lines))
        ]
    style = iter(styles)
    blocks = [[_line(text, next(style)) for text in lines] for lines in texts]
    for at, (x0, y0, x1, y1, *_) in enumerate(drawn):
        if y1 - y0 > 2 * (x1 - x0) and len(blocks[at]) <= _NARROW_LINES and len(texts[at][0]) > _NARROW_TEXT:
            # Text that runs upwards, such as a note in the margin, is neither a heading nor a cell.
            blocks[at] = [replace(line, size=0.0, bold=False) for line in blocks[at]]
    height = _PAGE_HEIGHT.search(html)
    return float(height[1]) if height else _A4_HEIGHT, [
        kept for block in blocks if (kept := [line for line in block if line.text.strip()])
    ]


def _line(text: str, style: tuple[float | str, float | str, float | str, str]) -> TextLine:
    top, left, size, bold = style
    return TextLine(
        text=text, top=float(top), left=float(left), size=round(float(size) * 2) / 2, bold=bool(bold)
    )


def _without_margins(
    blocks: list[list[TextLine]], number: int, height: float, reading: _Reading
) -> list[list[TextLine]]:
    """The blocks without page numbers, and without headers and footers that an earlier page had already."""
    kept: list[list[TextLine]] = []
    for block in blocks:
        in_margin = block[0].top > height * (1 - _MARGIN) or block[-1].top + block[-1].size < height * _MARGIN
        if not in_margin:
            kept.append(block)
            continue
        key = _margin_key(one_line(" ".join(line.text for line in block)), number)
        if key == "@0" or key in reading.margins:
            continue
        if len(reading.margins) < _REMEMBERED:
            reading.margins.add(key)
        kept.append(block)
    return kept or blocks


def _margin_key(text: str, number: int) -> str:
    """The text without its page number, which may be off by as much on every page; "@0" when it is nothing but that."""
    own = next((found for found in _DIGITS.finditer(text) if found.group() == str(number)), None)
    if own is not None:
        around = f"{text[: own.start()]}#{text[own.end() :]}"
        return "@0" if around.strip(" -–") == "#" else around
    match = _PAGE_NUMBER.fullmatch(text)
    if match is None:
        return text
    printed = int(match["first"] or match["last"])
    return f"{(match['after'] or match['before'] or '').strip(' -–|')}@{number - printed}"


def _page_sections(lines: list[list[TextLine]], number: int, reading: _Reading) -> Iterator[Section]:
    anchor = f"p. {number}"
    blocks = arranged(lines)
    for block in blocks:
        if not block.rows and block.size:
            reading.sizes[block.lines[0].size] += sum(len(line.text) for line in block.lines)
    page_text = "\n".join(line.text for block in blocks for line in block.lines)
    texts = [table_text(block.rows) if block.rows else paragraph(block.lines, page_text) for block in blocks]
    headings = _outlined(texts, number, reading) if reading.outline else _sized(blocks, texts, reading)
    run: list[str] = []
    for position, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        if run and (block.rows or position in headings):
            yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(reading.path))
            run = []
        for level, title in headings.get(position, ()):
            reading.path = entered(reading.path, level, title)
        if block.rows:
            yield Section(text=text, anchor=anchor, headings=titles(reading.path), kind="table")
        else:
            run.append(text)
    if run:
        yield Section(text="\n\n".join(run), anchor=anchor, headings=titles(reading.path))
    # An outline may point to a page without text.
    for level, title in headings.get(0, ()) if not blocks else ():
        reading.path = entered(reading.path, level, title)


def _outlined(texts: Sequence[str], number: int, reading: _Reading) -> dict[int, list[tuple[float, str]]]:
    """Block position -> the headings of the outline that begin there; one that no block repeats begins with the page."""
    headings: dict[int, list[tuple[float, str]]] = defaultdict(list)
    if number not in reading.outline:
        return headings
    keys = [_key(text[: 2 * _LONGEST_HEADING]) for text in texts]
    position = 0
    for level, title in reading.outline[number]:
        wanted = _key(title)
        found = next(
            (at for at in range(position, len(keys)) if wanted and keys[at][:200].find(wanted) in range(6)),
            None,
        )
        position = found if found is not None else position
        headings[position].append((float(level), title))
    return headings


def _key(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def _sized(
    blocks: Sequence[Block], texts: Sequence[str], reading: _Reading
) -> dict[int, list[tuple[float, str]]]:
    """Block position -> the heading it is, told by letters larger than the body's, or bold: the larger, the higher."""
    if not reading.sizes:
        return {}
    body = max(reading.sizes, key=lambda size: reading.sizes[size])
    headings: dict[int, list[tuple[float, str]]] = {}
    for position, (block, text) in enumerate(zip(blocks, texts, strict=True)):
        if block.rows or len(block.lines) > 3 or len(text) > _LONGEST_HEADING or not _WORD.search(text):
            continue
        bold = all(line.bold for line in block.lines) and not text.rstrip().endswith((".", ":", ",", ";"))
        if block.size >= body * 1.15 or (bold and len(block.lines) == 1 and block.size >= body * 0.95):
            headings[position] = [(-block.size - 0.25 * bold, text)]
    return headings
