"""DOCX by python-docx: headings, paragraphs, lists and tables in document order, then notes, comments and headers."""

from __future__ import annotations

import zipfile
import zlib
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml
from docx.package import Package

from rag_engine.errors import CorruptFile
from rag_engine.parsers._archives import check_archive
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

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VALUE: Final = f"{_W}val"
# Deleted text, the second copy of a drawing for old programs, the reading of a ruby, and field codes are not words of
# the document as it is read; text boxes are read as blocks of their own.
_SKIPPED: Final = frozenset(
    {f"{_W}del", f"{_W}moveFrom", f"{_W}rt", f"{_W}instrText", f"{_W}txbxContent", f"{_W}pPr", f"{_W}rPr"}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_CONTAINERS: Final = frozenset(
    {f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}moveTo", f"{_W}customXml", f"{_W}smartTag"}
)
# Parts beside the body, by the end of their relationship type -> the heading their text comes under.
_OTHER_PARTS: Final = {
    "footnotes": "Footnotes",
    "endnotes": "Endnotes",
    "comments": "Comments",
    "header": "Header",
    "footer": "Footer",
}
_DEEPEST: Final = 9


class _Element(Protocol):
    tag: object
    text: str | None

    def __iter__(self) -> Iterator[_Element]: ...
    def get(self, key: str) -> str | None: ...
    def find(self, path: str) -> _Element | None: ...
    def iter(self, *tags: str) -> Iterator[_Element]: ...
    def iterfind(self, path: str) -> Iterator[_Element]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """What a paragraph style says about structure."""

    level: int = 0
    """Of a heading, from 1; 0 for other text."""
    is_list: bool = False


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
        body = _root(main).find(f"{_W}body")
        styles = _styles(others["styles"])
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
    body: _Element | None, styles: Mapping[str, _Style], others: Mapping[str, Sequence[Part]]
) -> Iterator[Section]:
    path: HeadingPath = ()
    for block in _blocks(body) if body is not None else ():
        headings = titles(path)
        if block.tag == f"{_W}tbl":
            yield Section(
                text=_table(block), anchor=section_anchor(headings), headings=headings, kind="table"
            )
            continue
        style = _style_of(block, styles)
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
        for paragraph in root.iter(f"{_W}p"):
            text = _text(paragraph)
            if text not in seen:
                seen.add(text)
                yield Section(text=text, anchor=f"§ {title}", headings=(title,))


def _text_boxes(block: _Element, headings: tuple[str, ...]) -> Iterator[Section]:
    seen: set[str] = set()
    for box in block.iter(f"{_W}txbxContent"):
        text = "\n".join(_text(paragraph) for paragraph in box.iter(f"{_W}p"))
        # Word writes each box twice, once for old programs.
        if text not in seen:
            seen.add(text)
            yield Section(text=text, anchor=section_anchor(headings), headings=headings)


def _blocks(parent: _Element) -> Iterator[_Element]:
    """Paragraphs and tables in document order, also those inside content controls and tracked insertions."""
    for child in parent:
        if child.tag in {f"{_W}p", f"{_W}tbl"}:
            yield child
        elif child.tag in _CONTAINERS:
            yield from _blocks(child)


def _text(element: _Element) -> str:
    return "".join(_pieces(element))


def _pieces(element: _Element) -> Iterator[str]:
    for child in element:
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _BREAKS:
            yield _BREAKS[cast("str", child.tag)]
        elif child.tag not in _SKIPPED:
            yield from _pieces(child)


def _table(table: _Element) -> str:
    return table_text([_text_of_cell(cell) for cell in _cells(row)] for row in _rows(table))


def _rows(table: _Element) -> Iterator[_Element]:
    for child in table:
        if child.tag == f"{_W}tr":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _rows(child)


def _cells(row: _Element) -> Iterator[_Element]:
    for child in row:
        if child.tag == f"{_W}tc":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _cells(child)


def _text_of_cell(cell: _Element) -> str:
    """A cell on one line; the cells of a table inside it are divided by commas."""
    texts = (
        ", ".join(_table(block).replace(" | ", ", ").splitlines())
        if block.tag == f"{_W}tbl"
        else _text(block)
        for block in _blocks(cell)
    )
    return one_line(" ".join(texts))


def _root(part: Part) -> _Element:
    """The part's XML, whatever python-docx makes of its content type (macro-enabled files and templates too)."""
    element: object = getattr(part, "element", None)
    return cast("_Element", element if element is not None else parse_xml(part.blob))


def _styles(parts: Sequence[Part]) -> dict[str, _Style]:
    """Style id -> what it says, with what it inherits."""
    elements = {
        style.get(f"{_W}styleId") or "": style
        for part in parts
        for style in _root(part).iterfind(f"{_W}style")
    }
    return {identifier: _style(style, elements) for identifier, style in elements.items()}


def _style(style: _Element, elements: Mapping[str, _Element]) -> _Style:
    found: _Element | None = style
    is_list = False
    for _ in range(_DEEPEST):
        if found is None:
            break
        name = (_attribute(found, f"{_W}name") or "").lower()
        is_list = is_list or name.startswith("list ") or found.find(f"{_W}pPr/{_W}numPr") is not None
        level = _level(name, _attribute(found, f"{_W}pPr/{_W}outlineLvl"))
        if level:
            return _Style(level=level)
        found = elements.get(_attribute(found, f"{_W}basedOn") or "")
    return _Style(is_list=is_list)


def _level(name: str, outline: str | None) -> int:
    if outline is not None and outline.isdecimal() and int(outline) < _DEEPEST:
        return int(outline) + 1
    first, _, last = name.rpartition(" ")
    if first == "heading" and last.isdecimal():
        return int(last)
    return 1 if name == "title" else 0


def _style_of(paragraph: _Element, styles: Mapping[str, _Style]) -> _Style:
    properties = paragraph.find(f"{_W}pPr")
    if properties is None:
        return _Style()
    style = styles.get(_attribute(properties, f"{_W}pStyle") or "", _Style())
    level = _level("", _attribute(properties, f"{_W}outlineLvl")) or style.level
    number = _attribute(properties, f"{_W}numPr/{_W}numId")
    return _Style(level=level, is_list=style.is_list if number is None else number != "0")


def _attribute(element: _Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get(_VALUE)
