from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._opendocument.lists import BULLET, OdfListNumbering
from rag_engine.parsers._opendocument.objects import EmbeddedObjects, description
from rag_engine.parsers._opendocument.package import (
    DC,
    DRAW,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    document,
    repeat_count,
)
from rag_engine.parsers._opendocument.text import TextEffect, effect_of, paragraph, table, table_rows, texts
from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.sections import (
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

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

SUFFIXES: Final = "ott fodt odm"

_CONTAINERS: Final = frozenset(
    {f"{OFFICE}{name}" for name in ("body", "text", "styles", "automatic-styles", "master-styles")}
    | {f"{TEXT}section"}
)
_LEFT_OUT: Final = frozenset(
    f"{TEXT}{name}"
    for name in (
        *("table-of-content", "illustration-index", "table-index", "object-index", "alphabetical-index"),
        *("tracked-changes", "sequence-decls", "variable-decls", "user-field-decls", "list-header-source"),
    )
)
_DEEPEST: Final = 60
_OUTLINE: Final = "\0outline"
_MARGINS: Final = {"header": "Header", "footer": "Footer"}


@dataclass(slots=True)
class _State:
    objects: EmbeddedObjects
    path: HeadingPath = ()
    effects: dict[str, TextEffect] = field(default_factory=dict[str, TextEffect])
    levels: dict[str, int] = field(default_factory=dict[str, int])
    numbering: OdfListNumbering = field(default_factory=OdfListNumbering)
    notes: list[Section] = field(default_factory=list[Section])
    margins: dict[str, Section] = field(default_factory=dict[str, Section])
    comments: int = 0

    def section(self, text: str, kind: SectionKind = "prose") -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)


properties: Final = office.opendocument


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading", "footnote 3" or "comment 1"."""
    yield from joined(_sections(path))


def _sections(path: Path) -> Iterator[Section]:
    state = _State(
        EmbeddedObjects(path), levels={f"Heading_20_{level}": level for level in range(1, 10)} | {"Title": 1}
    )
    for element, ancestors in document(path, _CONTAINERS):
        parent = ancestors[-1].tag
        if parent in {f"{OFFICE}styles", f"{OFFICE}automatic-styles"}:
            _add_style(element, state)
        elif parent == f"{OFFICE}master-styles":
            _add_margins(element, state)
        elif parent in {f"{OFFICE}text", f"{TEXT}section"} and not any(map(_is_hidden, ancestors)):
            yield from _block(element, state, 0)
    yield from state.notes
    yield from state.margins.values()
    yield from state.objects.notices()


def _add_style(style: _Element, state: _State) -> None:
    name = style.get(f"{STYLE}name") or ""
    if style.tag == f"{TEXT}list-style":
        state.numbering.add_style(style)
    elif style.tag == f"{TEXT}outline-style":
        state.numbering.add_style(style, _OUTLINE)
    elif style.tag == f"{STYLE}style":
        effect = effect_of(style)
        if effect is not None:
            state.effects[name] = effect
        parent = style.get(f"{STYLE}parent-style-name") or ""
        level = style.get(f"{STYLE}default-outline-level") or ""
        if level.isdecimal() and len(level) < 3:
            state.levels[name] = int(level)
        elif parent in state.levels:
            state.levels.setdefault(name, state.levels[parent])


def _add_margins(master: _Element, state: _State) -> None:
    for margin in master.iterchildren():
        kind = str(margin.tag).rpartition("}")[2].partition("-")[0]
        if kind in _MARGINS:
            title = _MARGINS[kind]
            text_lines = texts(margin, state.effects)
            for text in (text for text in text_lines if any(map(str.isalpha, text))):
                state.margins.setdefault(text, Section(text=text, anchor=f"§ {title}", headings=(title,)))


def _is_hidden(section: _Element) -> bool:
    return section.tag == f"{TEXT}section" and section.get(f"{TEXT}display") == "none"


def _block(element: _Element, state: _State, depth: int) -> Iterator[Section]:
    tag = element.tag
    if tag == f"{TEXT}p" and not len(element) and not element.text:
        return
    if depth > _DEEPEST or tag in _LEFT_OUT or _is_hidden(element):
        return
    if tag in {f"{TEXT}p", f"{TEXT}h"}:
        yield from _paragraph(element, state, depth)
    elif tag == f"{TEXT}list":
        yield from _list(element, state, depth, style="", level=1)
    elif tag == f"{TABLE}table" and _is_data(element):
        yield state.section(table(element, state.effects), "table")
        yield from _cell_notes(element, state)
    elif tag == f"{DRAW}frame":
        yield from _frame(element, state, depth)
    else:
        for child in element.iterchildren():
            yield from _block(child, state, depth + 1)


def _paragraph(
    element: _Element, state: _State, depth: int, *, label: str = "", indent: str | None = None
) -> Iterator[Section]:
    read = paragraph(element, state.effects)
    level = _level(element, state)
    text = read.text
    if level and not is_blank(text):
        number = (
            state.numbering.next_label(_OUTLINE, level)
            if element.tag == f"{TEXT}h" and label in {"", BULLET}
            else label
        )
        text = one_line(text if number == BULLET else f"{number} {text}")
        yield from state.notes
        state.notes.clear()
        state.path = entered(state.path, level, text)
        yield state.section(text)
    elif indent is not None:
        yield state.section(f"{indent}{label or ' '} {text}" if text else "", "list")
    else:
        yield state.section(text)
    for note in read.notes:
        state.notes += _note_section(note, state)
    for frame in read.frames:
        yield from _block(frame, state, depth + 1)


def _level(element: _Element, state: _State) -> int:
    if element.tag == f"{TEXT}h":
        return repeat_count(element, f"{TEXT}outline-level", 10)
    return state.levels.get(element.get(f"{TEXT}style-name") or "", 0)


def _list(element: _Element, state: _State, depth: int, *, style: str, level: int) -> Iterator[Section]:
    if depth > _DEEPEST:
        return
    style = element.get(f"{TEXT}style-name") or style
    continues = (
        element.get(f"{TEXT}continue-numbering") == "true" or element.get(f"{TEXT}continue-list") is not None
    )
    state.numbering.begin_list(style, level, continues=continues)
    for item in element.iterchildren(f"{TEXT}list-item", f"{TEXT}list-header"):
        labelled = False
        for child in item.iterchildren():
            if child.tag == f"{TEXT}list":
                yield from _list(child, state, depth + 1, style=style, level=level + 1)
            elif child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                label = (
                    "" if labelled or item.tag != f"{TEXT}list-item" else _label(item, state, style, level)
                )
                labelled = labelled or bool(label)
                yield from _paragraph(child, state, depth, label=label, indent="  " * (level - 1))
            else:
                yield from _block(child, state, depth + 1)


def _label(item: _Element, state: _State, style: str, level: int) -> str:
    start = item.get(f"{TEXT}start-value") or ""
    begins = int(start) if start.isdecimal() and len(start) < 7 else None
    return state.numbering.next_label(style, level, start=begins)


def _is_data(element: _Element) -> bool:
    if next(element.iter(f"{TEXT}h"), None) is not None:
        return False
    return any(len(row) > 1 for row in table_rows(element))


def _frame(frame: _Element, state: _State, depth: int) -> Iterator[Section]:
    headings = titles(state.path)
    objects = list(state.objects.sections(frame, section_anchor(headings), headings))
    yield from objects
    for child in frame.iterchildren(f"{DRAW}text-box", f"{TABLE}table"):
        yield from _block(child, state, depth + 1)
    if not objects:
        yield state.section(description(frame))


def _cell_notes(element: _Element, state: _State) -> Iterator[Section]:
    for note in element.iter(f"{TEXT}note", f"{OFFICE}annotation"):
        yield from _note_section(note, state)


def _note_section(note: _Element, state: _State) -> Iterator[Section]:
    if note.tag == f"{OFFICE}annotation":
        state.comments += 1
        author = one_line(note.findtext(f"{DC}creator") or "")
        anchor = f"comment {state.comments}"
        label = f"Comment {state.comments} by {author}" if author else f"Comment {state.comments}"
        text = "\n".join(texts(note))
    else:
        kind = "endnote" if note.get(f"{TEXT}note-class") == "endnote" else "footnote"
        anchor = f"{kind} {one_line(note.findtext(f'{TEXT}note-citation') or '')}".strip()
        label = anchor.capitalize()
        body = note.find(f"{TEXT}note-body")
        text = "\n".join(texts(body)) if body is not None else ""
    if not is_blank(text):
        yield Section(text=f"{label}: {text}", anchor=anchor, headings=titles(state.path))
