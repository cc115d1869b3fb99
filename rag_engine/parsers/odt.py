"""OpenDocument text, packed or flat: headings, paragraphs, lists, tables and frames in order; notes after the text they belong to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._opendocument.lists import BULLET, Numbering
from rag_engine.parsers._opendocument.objects import described, embedded
from rag_engine.parsers._opendocument.package import (
    DC,
    DRAW,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    document,
    repeated,
)
from rag_engine.parsers._opendocument.text import Look, look_of, paragraph, table, table_rows, texts
from rag_engine.parsers._sections import (
    HeadingPath,
    entered,
    is_blank,
    joined,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage] - the only name lxml has for it

_CONTAINERS: Final = frozenset(
    {f"{OFFICE}{name}" for name in ("body", "text", "styles", "automatic-styles", "master-styles")}
    | {f"{TEXT}section"}
)
# Lists of headings, pictures and words with their pages say nothing that does not stand elsewhere.
_LEFT_OUT: Final = frozenset(
    f"{TEXT}{name}"
    for name in (
        *("table-of-content", "illustration-index", "table-index", "object-index", "alphabetical-index"),
        *("tracked-changes", "sequence-decls", "variable-decls", "user-field-decls", "list-header-source"),
    )
)
_SHAPES: Final = frozenset({f"{DRAW}frame", f"{DRAW}g", f"{DRAW}a"})
_DEEPEST: Final = 60
_OUTLINE: Final = "\0outline"
_MARGINS: Final = {"header": "Header", "footer": "Footer"}


@dataclass(slots=True)
class _Place:
    """Where the reading is, what it knows of styles, and the notes not yet told."""

    file: Path
    path: HeadingPath = ()
    looks: dict[str, Look] = field(default_factory=dict[str, Look])
    levels: dict[str, int] = field(default_factory=dict[str, int])
    """Style -> level of the heading that a paragraph of it is."""
    numbering: Numbering = field(default_factory=Numbering)
    notes: list[Section] = field(default_factory=list[Section])
    margins: dict[str, Section] = field(default_factory=dict[str, Section])
    comments: int = 0

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"; notes and comments "footnote 3" and "comment 1"."""
    yield from joined(_sections(path))


def _sections(path: Path) -> Iterator[Section]:
    place = _Place(path, levels={f"Heading_20_{level}": level for level in range(1, 10)} | {"Title": 1})
    for element, around in document(path, _CONTAINERS):
        parent = around[-1].tag
        if parent in {f"{OFFICE}styles", f"{OFFICE}automatic-styles"}:
            _learn(element, place)
        elif parent == f"{OFFICE}master-styles":
            _learn_margins(element, place)
        elif parent in {f"{OFFICE}text", f"{TEXT}section"} and not any(map(_is_hidden, around)):
            yield from _block(element, place, 0)
    yield from place.notes
    yield from place.margins.values()


def _learn(style: _Element, place: _Place) -> None:
    name = style.get(f"{STYLE}name") or ""
    if style.tag == f"{TEXT}list-style":
        place.numbering.learn(style)
    elif style.tag == f"{TEXT}outline-style":
        place.numbering.learn(style, _OUTLINE)
    elif style.tag == f"{STYLE}style":
        look = look_of(style)
        if look is not None:
            place.looks[name] = look
        parent = style.get(f"{STYLE}parent-style-name") or ""
        level = style.get(f"{STYLE}default-outline-level") or ""
        if level.isdecimal() and len(level) < 3:
            place.levels[name] = int(level)
        elif parent in place.levels:
            place.levels.setdefault(name, place.levels[parent])


def _learn_margins(master: _Element, place: _Place) -> None:
    """The words of headers and footers, once: every kind of page repeats them."""
    for margin in master.iterchildren():
        kind = str(margin.tag).rpartition("}")[2].partition("-")[0]
        if kind in _MARGINS:
            title = _MARGINS[kind]
            said = texts(margin, place.looks)
            for text in (text for text in said if any(map(str.isalpha, text))):
                place.margins.setdefault(text, Section(text=text, anchor=f"§ {title}", headings=(title,)))


def _is_hidden(section: _Element) -> bool:
    return section.tag == f"{TEXT}section" and section.get(f"{TEXT}display") == "none"


def _block(element: _Element, place: _Place, depth: int) -> Iterator[Section]:
    tag = element.tag
    if tag == f"{TEXT}p" and not len(element) and not element.text:
        return
    if depth > _DEEPEST or tag in _LEFT_OUT or _is_hidden(element):
        return
    if tag in {f"{TEXT}p", f"{TEXT}h"}:
        yield from _paragraph(element, place, depth)
    elif tag == f"{TEXT}list":
        yield from _list(element, place, depth, style="", level=1)
    elif tag == f"{TABLE}table" and _is_data(element):
        yield place.section(table(element, place.looks), "table")
        yield from _asides(element, place)
    elif tag == f"{DRAW}frame":
        yield from _frame(element, place, depth)
    else:
        for child in element.iterchildren():
            yield from _block(child, place, depth + 1)


def _paragraph(
    element: _Element, place: _Place, depth: int, *, label: str = "", indent: str | None = None
) -> Iterator[Section]:
    read = paragraph(element, place.looks)
    level = _level(element, place)
    text = read.text
    if level and not is_blank(text):
        number = (
            place.numbering.next(_OUTLINE, level)
            if element.tag == f"{TEXT}h" and label in {"", BULLET}
            else label
        )
        text = one_line(text if number == BULLET else f"{number} {text}")
        yield from place.notes
        place.notes.clear()
        place.path = entered(place.path, level, text)
        yield place.section(text)
    elif indent is not None:
        yield place.section(f"{indent}{label or ' '} {text}" if text else "", "list")
    else:
        yield place.section(text)
    for aside in read.asides:
        place.notes += _aside(aside, place)
    for frame in read.frames:
        yield from _block(frame, place, depth + 1)


def _level(element: _Element, place: _Place) -> int:
    if element.tag == f"{TEXT}h":
        return repeated(element, f"{TEXT}outline-level", 10)
    return place.levels.get(element.get(f"{TEXT}style-name") or "", 0)


def _list(element: _Element, place: _Place, depth: int, *, style: str, level: int) -> Iterator[Section]:
    if depth > _DEEPEST:
        return
    style = element.get(f"{TEXT}style-name") or style
    goes_on = (
        element.get(f"{TEXT}continue-numbering") == "true" or element.get(f"{TEXT}continue-list") is not None
    )
    place.numbering.begin(style, level, goes_on=goes_on)
    for item in element.iterchildren(f"{TEXT}list-item", f"{TEXT}list-header"):
        told = False
        for child in item.iterchildren():
            if child.tag == f"{TEXT}list":
                yield from _list(child, place, depth + 1, style=style, level=level + 1)
            elif child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                label = "" if told or item.tag != f"{TEXT}list-item" else _label(item, place, style, level)
                told = told or bool(label)
                yield from _paragraph(child, place, depth, label=label, indent="  " * (level - 1))
            else:
                yield from _block(child, place, depth + 1)


def _label(item: _Element, place: _Place, style: str, level: int) -> str:
    start = item.get(f"{TEXT}start-value") or ""
    begins = int(start) if start.isdecimal() and len(start) < 7 else None
    return place.numbering.next(style, level, start=begins)


def _is_data(element: _Element) -> bool:
    """A table of facts, not one that only lays out the page: no headings inside, and rows of more than one cell."""
    if next(element.iter(f"{TEXT}h"), None) is not None:
        return False
    return any(len(row) > 1 for row in table_rows(element))


def _frame(frame: _Element, place: _Place, depth: int) -> Iterator[Section]:
    """A text box, a table, a chart, a formula, or the description of a picture."""
    objects = [place.section(text, kind) for kind, text in embedded(frame, place.file)]
    yield from objects
    for child in frame.iterchildren(f"{DRAW}text-box", f"{TABLE}table"):
        yield from _block(child, place, depth + 1)
    if not objects:
        yield place.section(described(frame))


def _asides(element: _Element, place: _Place) -> Iterator[Section]:
    """The notes and comments in a table's cells."""
    for aside in element.iter(f"{TEXT}note", f"{OFFICE}annotation"):
        yield from _aside(aside, place)


def _aside(aside: _Element, place: _Place) -> Iterator[Section]:
    if aside.tag == f"{OFFICE}annotation":
        place.comments += 1
        author = one_line(aside.findtext(f"{DC}creator") or "")
        anchor = f"comment {place.comments}"
        said = f"Comment {place.comments} by {author}" if author else f"Comment {place.comments}"
        text = "\n".join(texts(aside))
    else:
        kind = "endnote" if aside.get(f"{TEXT}note-class") == "endnote" else "footnote"
        anchor = f"{kind} {one_line(aside.findtext(f'{TEXT}note-citation') or '')}".strip()
        said = anchor.capitalize()
        body = aside.find(f"{TEXT}note-body")
        text = "\n".join(texts(body)) if body is not None else ""
    if not is_blank(text):
        yield Section(text=f"{said}: {text}", anchor=anchor, headings=titles(place.path))
