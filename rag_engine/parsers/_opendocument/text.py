from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.parsers._ooxml.tables import OoxmlCell, header_rows, one_header, plain_rows
from rag_engine.parsers._opendocument.package import DC, DRAW, OFFICE, STYLE, TABLE, TEXT, repeat_count
from rag_engine.parsers._shared.sections import one_line
from rag_engine.parsers._shared.symbols import raised
from rag_engine.parsers._shared.tables import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_SPACES: Final = re.compile("[ \t\r\n]+")
_SPACE_MARK: Final = "\x1f"
_TAB_MARK: Final = "\x1e"
_MOST_SPACES: Final = 80
_MOST_CELLS: Final = 1_024
_MOST_ROWS: Final = 1_000
_DEEPEST: Final = 200
_IGNORED: Final = frozenset(
    {
        f"{TEXT}{name}"
        for name in ("ruby-text", "tracked-changes", "bookmark", "soft-page-break", "note-citation")
    }
    | {f"{OFFICE}{name}" for name in ("annotation-end", "forms", "event-listeners", "binary-data")}
    | {f"{TEXT}index-title-template", f"{TEXT}table-of-content-source"}
)
_FRAMES: Final = frozenset(
    f"{DRAW}{name}"
    for name in (
        *("frame", "g", "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path"),
        *("connector", "caption", "regular-polygon", "measure", "page-thumbnail", "a"),
    )
)
_ROW_GROUPS: Final = frozenset(
    f"{TABLE}{name}" for name in ("table-header-rows", "table-rows", "table-row-group")
)
_NOTES: Final = frozenset({f"{TEXT}note", f"{OFFICE}annotation"})
TextEffect = Literal["hidden", "superscript"]
_NO_EFFECTS: Final[Mapping[str, TextEffect]] = MappingProxyType({})
_SUPERSCRIPT: Final = re.compile(r"super|[1-9]\d*%? ")
_HIDDEN_FIELDS: Final = frozenset({f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OdfParagraph:
    text: str
    notes: tuple[_Element, ...] = ()
    frames: tuple[_Element, ...] = ()


@dataclass(slots=True)
class _ParagraphState:
    effects: Mapping[str, TextEffect]
    pieces: list[str] = field(default_factory=list[str])
    notes: list[_Element] = field(default_factory=list["_Element"])
    frames: list[_Element] = field(default_factory=list["_Element"])


def paragraph(element: _Element, effects: Mapping[str, TextEffect] = _NO_EFFECTS) -> OdfParagraph:
    state = _ParagraphState(effects)
    if not _is_hidden(element, effects):
        _walk(element, state, 0)
    lines = (_SPACES.sub(" ", line).strip(" ") for line in "".join(state.pieces).split("\n"))
    text = "\n".join(lines).replace(_SPACE_MARK, " ").replace(_TAB_MARK, "\t").strip()
    return OdfParagraph(text=text, notes=tuple(state.notes), frames=tuple(state.frames))


def effect_of(style: _Element) -> TextEffect | None:
    for properties in style.iterchildren(f"{STYLE}text-properties"):
        if properties.get(f"{TEXT}display") == "none":
            return "hidden"
        if _SUPERSCRIPT.match(properties.get(f"{STYLE}text-position") or ""):
            return "superscript"
    return None


def _walk(element: _Element, state: _ParagraphState, depth: int) -> None:
    state.pieces.append(_SPACES.sub(" ", element.text or ""))
    for child in element.iterchildren():
        _append(child, state, depth)
        state.pieces.append(_SPACES.sub(" ", child.tail or ""))


def _append(child: _Element, state: _ParagraphState, depth: int) -> None:
    tag = child.tag
    if tag == f"{TEXT}s":
        state.pieces.append(_SPACE_MARK * repeat_count(child, f"{TEXT}c", _MOST_SPACES))
    elif tag == f"{TEXT}tab":
        state.pieces.append(_TAB_MARK)
    elif tag == f"{TEXT}line-break":
        state.pieces.append("\n")
    elif tag in _NOTES:
        state.notes.append(child)
    elif tag in _FRAMES:
        state.frames.append(child)
    elif tag not in _IGNORED and depth < _DEEPEST and not _is_hidden(child, state.effects):
        before = len(state.pieces)
        _walk(child, state, depth + 1)
        if state.effects.get(child.get(f"{TEXT}style-name") or "") == "superscript":
            state.pieces[before:] = [raised("".join(state.pieces[before:]))]


def _is_hidden(element: _Element, effects: Mapping[str, TextEffect]) -> bool:
    if element.tag in _HIDDEN_FIELDS and element.get(f"{TEXT}is-hidden") == "true":
        return True
    return bool(effects) and effects.get(element.get(f"{TEXT}style-name") or "") == "hidden"


def texts(element: _Element, effects: Mapping[str, TextEffect] = _NO_EFFECTS) -> Iterator[str]:
    for child in element.iterchildren():
        if child.tag in {f"{TEXT}p", f"{TEXT}h"}:
            read = paragraph(child, effects)
            yield read.text
            for frame in read.frames:
                yield from texts(frame, effects)
        elif child.tag == f"{TABLE}table":
            yield table(child, effects).replace(" | ", ", ")
        elif child.tag not in _IGNORED | _NOTES and child.tag != f"{DC}date":
            yield from texts(child, effects)


def table(element: _Element, effects: Mapping[str, TextEffect] = _NO_EFFECTS) -> str:
    """A vertically merged cell is repeated in each row."""
    rows: list[list[OoxmlCell]] = []
    for row in table_rows(element):
        cells = list(_cells(row, effects))
        has_text = any(cell.text for cell in cells)
        rows += [cells] * repeat_count(row, f"{TABLE}number-rows-repeated", _MOST_ROWS if has_text else 1)
        if len(rows) > _MOST_ROWS * 10:
            break
    marked = sum(1 for head in element.iterchildren(f"{TABLE}table-header-rows") for _ in table_rows(head))
    headers = min(header_rows(rows[0], marked), max(len(rows) - 1, 1)) if rows else 0
    plain = list(plain_rows(rows, headers))
    return table_text([one_header(plain[:headers]), *plain[headers:]])


def _cells(row: _Element, effects: Mapping[str, TextEffect]) -> Iterator[OoxmlCell]:
    under = 0
    for cell, times in row_cells(row):
        if cell.tag == f"{TABLE}covered-table-cell":
            yield from (OoxmlCell(text="", continues=True) for _ in range(times - under))
            under = max(under - times, 0)
            continue
        columns = repeat_count(cell, f"{TABLE}number-columns-spanned", _MOST_CELLS)
        text = one_line(" ".join(texts(cell, effects)))
        begins = repeat_count(cell, f"{TABLE}number-rows-spanned", _MOST_ROWS) > 1
        yield from (OoxmlCell(text=text, columns=columns, begins=begins) for _ in range(times))
        under = columns - 1


def table_rows(element: _Element) -> Iterator[_Element]:
    for child in element.iterchildren():
        if child.tag == f"{TABLE}table-row":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from table_rows(child)


def row_cells(row: _Element) -> Iterator[tuple[_Element, int]]:
    cells = [
        (cell, repeat_count(cell, f"{TABLE}number-columns-repeated", _MOST_CELLS))
        for cell in row.iterchildren(f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
    ]
    while cells and len(cells[-1][0]) == 0 and cells[-1][0].tag == f"{TABLE}table-cell":
        cells.pop()
    return iter(cells[:_MOST_CELLS])
