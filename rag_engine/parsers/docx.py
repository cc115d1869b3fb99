"""DOCX by python-docx: headings, paragraphs, lists and tables in document order, then notes, comments and headers."""

from __future__ import annotations

import zipfile
import zlib
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml
from docx.package import Package

from rag_engine.errors import CorruptFile
from rag_engine.parsers._archives import check_archive
from rag_engine.parsers._docx_styles import Element, Style, W, style_of, styles_of
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
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from docx.opc.part import Part

# Deleted text, the second copy of a drawing for old programs, the reading of a ruby, and field codes are not words of
# the document as it is read; text boxes are read as blocks of their own.
_SKIPPED: Final = frozenset(
    {f"{W}del", f"{W}moveFrom", f"{W}rt", f"{W}instrText", f"{W}txbxContent", f"{W}pPr", f"{W}rPr"}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS: Final = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_CONTAINERS: Final = frozenset(
    {f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}moveTo", f"{W}customXml", f"{W}smartTag"}
)
# Parts beside the body, by the end of their relationship type -> the heading their text comes under.
_OTHER_PARTS: Final = {
    "footnotes": "Footnotes",
    "endnotes": "Endnotes",
    "comments": "Comments",
    "header": "Header",
    "footer": "Footer",
}


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"."""
    check_archive(path)
    with _translate_errors():
        package = Package.open(str(path))
        main = package.main_document_part
        others: dict[str, list[Part]] = defaultdict(list)
        for relation in main.rels.values():
            if not relation.is_external:
                others[relation.reltype.rsplit("/", 1)[-1]].append(relation.target_part)
        body = _root(main).find(f"{W}body")
        styles = styles_of(style for part in others["styles"] for style in _root(part).iterfind(f"{W}style"))
    yield from joined(_sections(body, styles, others))


@contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except (
        OpcError,
        SyntaxError,
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        ValueError,
        AttributeError,
        OSError,
        EOFError,
    ) as error:
        raise CorruptFile("The Word document is damaged and cannot be read; save it again.") from error


def _sections(
    body: Element | None, styles: Mapping[str, Style], others: Mapping[str, Sequence[Part]]
) -> Iterator[Section]:
    path: HeadingPath = ()
    for block in _blocks(body) if body is not None else ():
        headings = titles(path)
        if block.tag == f"{W}tbl":
            yield Section(
                text=_table(block), anchor=section_anchor(headings), headings=headings, kind="table"
            )
            continue
        style = style_of(block, styles)
        text = _text(block)
        if style.level and not is_blank(text):
            path = entered(path, style.level, text)
            headings = titles(path)
        is_item = style.is_list and not style.level and not is_blank(text)
        yield Section(
            text=f"- {text.strip()}" if is_item else text,
            anchor=section_anchor(headings),
            headings=headings,
            kind="list" if is_item else "prose",
        )
        yield from _text_boxes(block, headings)
    for kind, title in _OTHER_PARTS.items():
        yield from _other_parts(others.get(kind, ()), title)


def _other_parts(parts: Iterable[Part], title: str) -> Iterator[Section]:
    """What the parts say, once: headers repeat from section to section, and boxes are written twice."""
    seen: set[str] = set()
    for part in parts:
        with _translate_errors():
            root = _root(part)
        for paragraph in root.iter(f"{W}p"):
            text = _text(paragraph)
            if text not in seen:
                seen.add(text)
                yield Section(text=text, anchor=f"§ {title}", headings=(title,))


def _text_boxes(block: Element, headings: tuple[str, ...]) -> Iterator[Section]:
    seen: set[str] = set()
    for box in block.iter(f"{W}txbxContent"):
        text = "\n".join(_text(paragraph) for paragraph in box.iter(f"{W}p"))
        # Word writes each box twice, once for old programs.
        if text not in seen:
            seen.add(text)
            yield Section(text=text, anchor=section_anchor(headings), headings=headings)


def _blocks(parent: Element) -> Iterator[Element]:
    """Paragraphs and tables in document order, also those inside content controls and tracked insertions."""
    for child in parent:
        if child.tag in {f"{W}p", f"{W}tbl"}:
            yield child
        elif child.tag in _CONTAINERS:
            yield from _blocks(child)


def _text(element: Element) -> str:
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    for child in element:
        if child.tag == f"{W}t":
            yield child.text or ""
        elif child.tag in _BREAKS:
            yield _BREAKS[cast("str", child.tag)]
        elif child.tag not in _SKIPPED:
            yield from _pieces(child)


def _table(table: Element) -> str:
    return table_text([_text_of_cell(cell) for cell in _cells(row)] for row in _rows(table))


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == f"{W}tr":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _rows(child)


def _cells(row: Element) -> Iterator[Element]:
    for child in row:
        if child.tag == f"{W}tc":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _cells(child)


def _text_of_cell(cell: Element) -> str:
    """A cell on one line; the cells of a table inside it are divided by commas."""
    texts = (
        ", ".join(_table(block).replace(" | ", ", ").splitlines()) if block.tag == f"{W}tbl" else _text(block)
        for block in _blocks(cell)
    )
    return one_line(" ".join(texts))


def _root(part: Part) -> Element:
    """The part's XML, whatever python-docx makes of its content type (macro-enabled files and templates too)."""
    element: object = getattr(part, "element", None)
    return cast("Element", element if element is not None else parse_xml(part.blob))
