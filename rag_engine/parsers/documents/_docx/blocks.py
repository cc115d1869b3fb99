from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final, cast

from rag_engine.parsers._ooxml.charts import chart_sections
from rag_engine.parsers._ooxml.diagrams import diagram_text
from rag_engine.parsers._ooxml.embedded import embedded_sections
from rag_engine.parsers._ooxml.package import DGM, R, W, value
from rag_engine.parsers._ooxml.tables import OoxmlCell, header_rows, plain_rows, table_parts
from rag_engine.parsers._shared.sections import (
    HeadingPath,
    entered,
    is_blank,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.parsers.documents._docx.numbering import BULLET
from rag_engine.parsers.documents._docx.styles import style_of
from rag_engine.parsers.documents._docx.tables import (
    blocks_of,
    caption_of,
    cell_of,
    cells_of,
    is_header,
    is_layout,
    is_removed,
    rows_of,
)
from rag_engine.parsers.documents._docx.text import PAGE_NUMBER, DocxParagraph, TextReader
from rag_engine.parsers.documents._docx.visual_headings import level_by_formatting
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rag_engine.parsers._archives.unpacking_limits import Unpacking
    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage
    from rag_engine.parsers.documents._docx.drawings import AnchoredObject
    from rag_engine.parsers.documents._docx.hidden_text import HiddenRuns
    from rag_engine.parsers.documents._docx.notes import Notes
    from rag_engine.parsers.documents._docx.numbering import ListNumbering
    from rag_engine.parsers.documents._docx.styles import DocxStyle

_LONGEST_HEADING: Final = 300
_DEEPEST: Final = 8
_MARKS_OF_PAGES: Final = 3
_MOST_HEADER_ROWS: Final = 3
_MOST_CELLS_OF_A_FORM: Final = 2
_APART: Final = re.compile(r"[\t\n]| {3,}")


class BlockReader:
    """In order, because numbers continue."""

    def __init__(
        self,
        package: OoxmlPackage,
        part: str,
        styles: Mapping[str, DocxStyle],
        numbering: ListNumbering,
        notes: Notes | None = None,
        unpacking: Unpacking | None = None,
        *,
        hidden: HiddenRuns,
    ) -> None:
        self._package = package
        self._part = part
        self._styles = styles
        self._numbering = numbering
        self._notes = notes
        self._unpacking = unpacking
        self._hidden = hidden
        self._text = TextReader(hidden)
        self._path: HeadingPath = ()
        self._pending_notes: list[Section] = []
        self._carried = ""
        self._caption = ""
        self._depth = 0
        self._has_headings = False
        """Otherwise headings are detected by formatting."""

    @property
    def headings(self) -> tuple[str, ...]:
        return titles(self._path)

    def deleted_notes(self) -> set[tuple[str, str]]:
        return self._text.deleted_notes

    def notes(self) -> Iterator[Section]:
        waiting, self._pending_notes = self._pending_notes, []
        yield from waiting

    def blocks(self, parent: Element) -> Iterator[Section]:
        for block in blocks_of(parent):
            if block.tag == f"{W}p":
                yield from self.paragraph(block)
            else:
                yield from self.table(rows_of(block))

    def plain(self, parent: Element) -> str:
        return "\n".join(line for line in self.lines(parent) if not is_blank(line))

    def lines(self, parent: Element) -> Iterator[str]:
        for block in blocks_of(parent):
            if block.tag == f"{W}p":
                label, style, line = self._read(block)
                if style.is_hidden:
                    continue
                yield _without_page_numbers(f"{label} {line.text}" if label else line.text)
                for kind, thing in line.anchored:
                    if kind == "box":
                        yield from self.lines(cast("Element", thing))
                    elif kind in {"picture", "words"}:
                        yield str(thing)
            else:
                for section in self.table(rows_of(block)):
                    yield section.text

    def paragraph(self, element: Element) -> Iterator[Section]:
        item, style, line = self._read(element)
        text = line.text.replace(PAGE_NUMBER, "")
        headings = self.headings
        if style.is_contents or line.is_contents or style.is_hidden:
            self._hidden.characters += len(text.strip()) if style.is_hidden else 0
            return
        if _continues(element):
            self._carried += text
            text = ""
        elif self._carried and not is_blank(text):
            text, self._carried = self._carried + text, ""
        level = 0 if is_blank(text) or len(text) > _LONGEST_HEADING else style.level
        self._has_headings = self._has_headings or level >= 1
        if not (
            level or item or self._has_headings or self._depth or self._carried or "caption" in style.name
        ):
            level = level_by_formatting(element, text, style, self._styles)
        if is_blank(text):
            pass
        elif level:
            yield from self.notes()
            self._text.forget()
            text = f"{item.strip()} {text.strip()}" if item and item.strip() != BULLET else text
            self._path = entered(self._path, level, text)
            headings = self.headings
            yield Section(text=text, anchor=section_anchor(headings), headings=headings)
        else:
            kind = "list" if item else "prose"
            text = f"{item} {text.strip()}" if item else text
            yield Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)
            self._caption = (
                one_line(text) if "caption" in style.name and len(text) <= _LONGEST_HEADING else ""
            )
        yield from self._anchored_sections(line.anchored)
        self._collect_notes(line)

    def _read(self, element: Element) -> tuple[str, DocxStyle, DocxParagraph]:
        properties = element.find(f"{W}pPr")
        style = style_of(properties, self._styles)
        line = self._text.read(element)
        if not line.pieces and _continues(element):
            return "", style, line
        label = self._numbering.label(style)
        if label is None and style.list_id is None and style.listed is not None:
            label = (BULLET, style.listed)
        if label is None or not label[0]:
            return "", style, line
        text, depth = label
        return "  " * max(depth, style.listed or 0) + text, style, line

    def _collect_notes(self, line: DocxParagraph) -> None:
        if self._notes is None:
            return
        for kind, identifier, has_mark in line.notes:
            quote = self._text.quotes.pop(identifier, "") if kind == "comment" else ""
            section = self._notes.section(kind, identifier, self.headings, has_mark=has_mark, quote=quote)
            if section is not None:
                self._pending_notes.append(section)

    def _anchored_sections(self, things: Iterable[AnchoredObject]) -> Iterator[Section]:
        headings = self.headings
        anchor = section_anchor(headings)
        for kind, thing in things:
            if kind in {"picture", "words"}:
                text = f"Picture: {thing}" if kind == "picture" else str(thing)
                yield Section(text=text, anchor=anchor, headings=headings)
            elif kind == "box":
                yield from self._box(cast("Element", thing))
            else:
                yield from self._drawn(kind, cast("Element", thing), anchor, headings)

    def _box(self, box: Element) -> Iterator[Section]:
        path, carried = self._path, self._carried
        self._carried = ""
        self._depth += 1
        if self._depth > _DEEPEST:
            words = " ".join(found.text or "" for found in box.iter(f"{W}t"))
            yield Section(text=words, anchor=section_anchor(self.headings), headings=self.headings)
        else:
            yield from self.blocks(box)
        self._depth -= 1
        self._path, self._carried = path, carried

    def _drawn(
        self, kind: str, element: Element, anchor: str, headings: tuple[str, ...]
    ) -> Iterator[Section]:
        reference = element.get(f"{R}dm") if kind == "diagram" else element.get(f"{R}id")
        part = self._package.target(self._part, reference)
        if part is None:
            return
        if kind == "file":
            if self._unpacking is not None:
                yield from embedded_sections(self._package, part, self._unpacking, anchor, headings)
            return
        if kind == "chart":
            yield from chart_sections(self._package, part, anchor, headings)
            return
        root = self._package.root(part)
        if root.tag == f"{DGM}dataModel":
            yield Section(text=diagram_text(root), anchor=anchor, headings=headings, kind="list")

    def table(self, rows: Iterator[Element]) -> Iterator[Section]:
        caption, self._caption = self._caption, ""
        self._depth += 1
        for is_text, group in groupby((row for row in rows if not is_removed(row)), key=self._is_text):
            if is_text:
                for row in group:
                    for cell in cells_of(row):
                        yield from self.blocks(cell)
            else:
                yield from self._data(group, caption)
        self._depth -= 1

    def _is_text(self, row: Element) -> bool:
        return self._depth <= _DEEPEST and (is_layout(row) or self._has_heading(row))

    def _has_heading(self, row: Element) -> bool:
        cells = list(cells_of(row))
        if len(cells) > _MOST_CELLS_OF_A_FORM:
            return False
        firsts = (next(blocks_of(cell), None) for cell in cells)
        levels = [
            style_of(first.find(f"{W}pPr"), self._styles).level
            for first in firsts
            if first is not None and first.tag == f"{W}p"
        ]
        return sum(1 for level in levels if level) == 1

    def _data(self, rows: Iterator[Element], caption: str) -> Iterator[Section]:
        headings, charts = self.headings, list[Section]()
        anchor = section_anchor(headings)
        beginning: list[tuple[list[OoxmlCell], bool]] = []
        for row in rows:
            if not beginning:
                caption = caption or caption_of(row)
            beginning.append((self._cells(row, charts), is_header(row)))
            if len(beginning) == _MOST_HEADER_ROWS:
                break
        if not beginning:
            return
        marked = next((at for at, (_, marked) in enumerate(beginning) if not marked), len(beginning))
        headers = min(header_rows(beginning[0][0], marked), max(len(beginning) - 1, 1))

        def all_rows() -> Iterator[list[OoxmlCell]]:
            yield from (cells for cells, _ in beginning)
            for row in rows:
                yield self._cells(row, charts)

        under = (*headings, caption) if caption else headings
        for text in table_parts(plain_rows(all_rows(), headers), headers):
            yield Section(text=text, anchor=anchor, headings=under, kind="table")
        yield from charts

    def _cells(self, row: Element, charts: list[Section]) -> list[OoxmlCell]:
        before = value(row, f"{W}trPr/{W}gridBefore")
        missing = (
            [OoxmlCell(text="", columns=int(before))]
            if before is not None and before in {"1", "2", "3"}
            else []
        )
        return missing + [cell_of(cell, self._words_of_cell(cell, charts)) for cell in cells_of(row)]

    def _words_of_cell(self, cell: Element, charts: list[Section]) -> str:
        if self._depth > _DEEPEST:
            return " ".join(found.text or "" for found in cell.iter(f"{W}t"))
        texts: list[str] = []
        for block in blocks_of(cell):
            if block.tag == f"{W}tbl":
                sections = self.table(rows_of(block))
                texts += [", ".join(section.text.replace(" | ", ", ").splitlines()) for section in sections]
                continue
            item, style, line = self._read(block)
            if style.is_hidden:
                continue
            text = line.text.replace(PAGE_NUMBER, "")
            texts.append(f"{item.strip()} {text}" if item and not is_blank(text) else text)
            for kind, thing in line.anchored:
                if kind in {"picture", "words"}:
                    texts.append(str(thing))
                elif kind == "box":
                    texts += [section.text for section in self._box(cast("Element", thing))]
                else:
                    charts += self._drawn(
                        kind, cast("Element", thing), section_anchor(self.headings), self.headings
                    )
            self._collect_notes(line)
        return one_line(" ".join(texts))


def _continues(paragraph: Element) -> bool:
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        return False
    if properties.find(f"{W}rPr/{W}del") is not None or properties.find(f"{W}rPr/{W}moveFrom") is not None:
        return True
    frame = properties.find(f"{W}framePr")
    return frame is not None and frame.get(f"{W}dropCap") in {"drop", "margin"}


def _without_page_numbers(text: str) -> str:
    if PAGE_NUMBER not in text:
        return text
    parts = _APART.split(text)
    words_only = (
        part for part in parts if PAGE_NUMBER not in part or len(part.split()) > _MARKS_OF_PAGES + 2
    )
    return "\t".join(words_only).replace(PAGE_NUMBER, "").strip()
