from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.alternative_text import alternative_text
from rag_engine.parsers._ooxml.charts import chart_sections
from rag_engine.parsers._ooxml.diagrams import diagram_text
from rag_engine.parsers._ooxml.embedded import embedded_sections
from rag_engine.parsers._ooxml.package import CX, DGM, MC, A, C, P, R, chosen_alternative, number
from rag_engine.parsers._ooxml.tables import OoxmlCell, header_rows, plain_rows, table_parts
from rag_engine.parsers._shared.reading_order import Placed, in_reading_order
from rag_engine.parsers._shared.sections import is_blank
from rag_engine.parsers.documents._pptx.text import body_text
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rag_engine.parsers._archives.unpacking_limits import Unpacking
    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage

    Box = tuple[float, float, float, float]
    """Left, top, width, height."""

_DEEPEST: Final = 20
_TITLES: Final = frozenset({"title", "ctrTitle"})
_SHAPES: Final = frozenset(f"{P}{name}" for name in ("sp", "grpSp", "graphicFrame", "pic", "cxnSp"))
_POINTERS: Final = (f"{A}tbl", f"{C}chart", f"{CX}chart", f"{DGM}relIds", f"{P}oleObj")
_ON: Final = frozenset({"1", "true", "on"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    element: Element
    placeholder: str = ""

    @property
    def is_title(self) -> bool:
        return self.placeholder in _TITLES

    @property
    def text(self) -> str:
        body = self.element.find(f"{P}txBody")
        return "" if body is None else body_text(body)


PlaceholderBoxes = dict[tuple[str, str], "Box"]


def shapes_of(
    tree: Element, boxes: Mapping[tuple[str, str], Box], *, right_to_left: bool = False
) -> list[Shape]:
    shapes = _ordered(tree, boxes, right_to_left, 0)
    return [one for one in shapes if one.is_title] + [one for one in shapes if not one.is_title]


def _ordered(
    tree: Element, boxes: Mapping[tuple[str, str], Box], right_to_left: bool, depth: int
) -> list[Shape]:
    placed: list[Placed[list[Shape]]] = []
    last: Box = (0, 0, 0, 0)
    for element in shape_elements(tree):
        if _is_hidden(element):
            continue
        if element.tag == f"{P}grpSp":
            things = _ordered(element, {}, right_to_left, depth + 1) if depth < _DEEPEST else []
        else:
            things = (
                [shape] if _has_content(shape := Shape(element=element, placeholder=role(element))) else []
            )
        if not things:
            continue
        # A shape without a position follows the previous one.
        last = left, top, width, height = box_of(element, boxes) or last
        left = -left - width if right_to_left else left
        placed.append(Placed(item=things, left=left, top=top, width=width, height=height))
    return [shape for things in in_reading_order(placed) for shape in things]


def shape_elements(tree: Element) -> Iterator[Element]:
    for child in tree:
        if child.tag in _SHAPES:
            yield child
        elif child.tag == f"{MC}AlternateContent":
            yield from (one for one in chosen_alternative(child) if one.tag in _SHAPES)


def _properties(element: Element) -> Element | None:
    return next((child.find(f"{P}cNvPr") for child in element if str(child.tag).startswith(f"{P}nv")), None)


def _is_hidden(element: Element) -> bool:
    properties = _properties(element)
    return properties is not None and (properties.get("hidden") or "") in _ON


def _has_content(shape: Shape) -> bool:
    element = shape.element
    if element.tag == f"{P}graphicFrame":
        return any(True for _ in element.iter(*_POINTERS))
    properties = _properties(element)
    described = element.tag == f"{P}pic" and properties is not None and alternative_text(properties)
    return bool(described) or not is_blank(shape.text)


def _placeholder(element: Element) -> Element | None:
    for child in element:
        if str(child.tag).startswith(f"{P}nv"):
            return child.find(f"{P}nvPr/{P}ph")
    return None


def role(element: Element) -> str:
    found = _placeholder(element)
    return "" if found is None else found.get("type") or "body"


def box_of(element: Element, boxes: Mapping[tuple[str, str], Box] | None = None) -> Box | None:
    return _own_box(element) or (_inherited(element, boxes) if boxes else None)


def _own_box(element: Element) -> Box | None:
    for path in (f"{P}spPr/{A}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}xfrm"):
        frame = element.find(path)
        if frame is None:
            continue
        offset, extent = frame.find(f"{A}off"), frame.find(f"{A}ext")
        if offset is not None and extent is not None:
            place, size = (offset.get("x"), offset.get("y")), (extent.get("cx"), extent.get("cy"))
            return (number(place[0]), number(place[1]), abs(number(size[0])), abs(number(size[1])))
    return None


def _inherited(element: Element, boxes: Mapping[tuple[str, str], Box]) -> Box | None:
    found = _placeholder(element)
    if found is None:
        return None
    kind = found.get("type") or "body"
    return boxes.get(("", found.get("idx") or "0")) or boxes.get((kind, ""))


def placeholder_boxes(tree: Element | None) -> PlaceholderBoxes:
    boxes: PlaceholderBoxes = {}
    for element in shape_elements(tree) if tree is not None else ():
        found, box = _placeholder(element), box_of(element)
        if found is not None and box is not None:
            boxes.setdefault(("", found.get("idx") or "0"), box)
            boxes.setdefault((found.get("type") or "body", ""), box)
    return boxes


def shape_sections(
    package: OoxmlPackage,
    part: str,
    shape: Shape,
    anchor: str,
    headings: tuple[str, ...],
    unpacking: Unpacking,
) -> Iterator[Section]:
    element = shape.element
    if element.tag == f"{P}graphicFrame":
        for pointer in element.iter(*_POINTERS):
            if not _is_fallback(pointer, element):
                if pointer.tag == f"{P}oleObj":
                    yield from _embedded(package, part, pointer, anchor, headings, unpacking)
                else:
                    yield from _WRITERS[str(pointer.tag)](package, part, pointer, anchor, headings)
    elif element.tag == f"{P}pic":
        properties = _properties(element)
        described = "" if properties is None else alternative_text(properties)
        if described:
            yield Section(text=f"Picture: {described}", anchor=anchor, headings=headings)
    else:
        yield Section(text=shape.text, anchor=anchor, headings=headings)


def _is_fallback(pointer: Element, frame: Element) -> bool:
    for above in pointer.iterancestors(f"{MC}AlternateContent"):
        chosen = next((one.getparent() for one in chosen_alternative(above)), None)
        if chosen is not None and not any(pointer is one for one in chosen.iter(*_POINTERS)):
            return True
        if above is frame:
            break
    return False


def _table(
    _package: OoxmlPackage, _part: str, table: Element, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    rows = [
        [_cell(cell) for cell in row.iterfind(f"{A}tc") if cell.get("hMerge") not in _ON]
        for row in table.iterfind(f"{A}tr")
    ]
    headers = header_rows(rows[0], 0) if rows else 1
    for text in table_parts(plain_rows(rows, headers), headers):
        yield Section(text=text, anchor=anchor, headings=headings, kind="table")


def _cell(cell: Element) -> OoxmlCell:
    body = cell.find(f"{A}txBody")
    return OoxmlCell(
        text="" if body is None else body_text(body),
        columns=number(cell.get("gridSpan"), 1),
        continues=cell.get("vMerge") in _ON,
        begins=number(cell.get("rowSpan"), 1) > 1,
    )


def _chart(
    package: OoxmlPackage, part: str, chart: Element, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    target = package.target(part, chart.get(f"{R}id"))
    if target is not None:
        yield from chart_sections(package, target, anchor, headings)


def _diagram(
    package: OoxmlPackage, part: str, diagram: Element, anchor: str, headings: tuple[str, ...]
) -> Iterator[Section]:
    target = package.target(part, diagram.get(f"{R}dm"))
    if target is not None:
        yield Section(text=diagram_text(package.root(target)), anchor=anchor, headings=headings)


def _embedded(
    package: OoxmlPackage,
    part: str,
    element: Element,
    anchor: str,
    headings: tuple[str, ...],
    unpacking: Unpacking,
) -> Iterator[Section]:
    frame = next(element.iterancestors(f"{P}graphicFrame"), None)
    properties = None if frame is None else _properties(frame)
    described = "" if properties is None else alternative_text(properties)
    name = element.get("name") or "" if element.get("showAsIcon") in _ON else ""
    for text in dict.fromkeys((name, described)):
        if text:
            yield Section(text=text, anchor=anchor, headings=headings)
    target = package.target(part, element.get(f"{R}id"))
    if target is not None:
        yield from embedded_sections(package, target, unpacking, anchor, headings)


_WRITERS: Final[
    Mapping[str, Callable[[OoxmlPackage, str, Element, str, tuple[str, ...]], Iterator[Section]]]
] = {f"{A}tbl": _table, f"{C}chart": _chart, f"{CX}chart": _chart, f"{DGM}relIds": _diagram}
