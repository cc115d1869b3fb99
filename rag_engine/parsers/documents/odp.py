from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._opendocument.objects import EmbeddedObjects, description
from rag_engine.parsers._opendocument.package import (
    DC,
    DRAW,
    OFFICE,
    PRESENTATION,
    STYLE,
    SVG,
    TABLE,
    TEXT,
    document,
)
from rag_engine.parsers._opendocument.text import paragraph, table, texts
from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.reading_order import Placed, in_reading_order
from rag_engine.parsers._shared.sections import is_blank, joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

SUFFIXES: Final = "otp fodp"

_CONTAINERS: Final = frozenset(
    {f"{OFFICE}{name}" for name in ("body", "presentation", "drawing", "master-styles")}
)
_DEEPEST: Final = 60
_LENGTH: Final = re.compile(r"(-?\d{1,9}(?:\.\d{1,20})?)(mm|cm|in|pt|pc|px)")
_UNITS: Final = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6, "px": 25.4 / 96}
_TITLES: Final = frozenset({"title"})
# Placeholders on a master hold no text of their own.
_PLACEHOLDERS: Final = frozenset(
    {"title", "outline", "subtitle", "notes", "page", "date-time", "page-number"}
)


@dataclass(slots=True)
class _Slides:
    objects: EmbeddedObjects
    number: int = 0
    masters: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


properties: Final = office.opendocument


def parse(path: Path) -> Iterator[Section]:
    """Anchored "slide 2" or "slide 2, notes"; a master's text comes at its first slide."""
    yield from joined(_sections(path))


def _sections(path: Path) -> Iterator[Section]:
    slides = _Slides(EmbeddedObjects(path))
    for element, ancestors in document(path, _CONTAINERS):
        if element.tag == f"{STYLE}master-page":
            slides.masters[element.get(f"{STYLE}name") or ""] = list(_master_texts(element))
        elif element.tag == f"{DRAW}page" and ancestors[-1].tag in {
            f"{OFFICE}presentation",
            f"{OFFICE}drawing",
        }:
            slides.number += 1
            yield from _slide(element, slides)
    yield from slides.objects.notices()


def _slide(page: _Element, slides: _Slides) -> Iterator[Section]:
    anchor = f"slide {slides.number}"
    shapes = [child for child in page.iterchildren() if child.tag != f"{PRESENTATION}notes"]
    title = next((shape for shape in shapes if shape.get(f"{PRESENTATION}class") in _TITLES), None)
    heading = one_line(" ".join(texts(title))) if title is not None else ""
    headings = (heading,) if heading else ()
    yield Section(text=heading, anchor=anchor, headings=headings)
    for shape in _as_read([shape for shape in shapes if shape is not title]):
        yield from _shape(shape, slides, anchor, headings, 0)
    for text in slides.masters.pop(page.get(f"{DRAW}master-page-name") or "", ()):
        yield Section(text=text, anchor=anchor, headings=headings)
    for notes in page.iterchildren(f"{PRESENTATION}notes"):
        for frame in notes.iterchildren(f"{DRAW}frame"):
            if frame.get(f"{PRESENTATION}class") in {"notes", None}:
                lines = "\n".join(texts(frame))
                yield Section(text=lines, anchor=f"{anchor}, notes", headings=(*headings, "Notes"))


def _as_read(shapes: list[_Element]) -> list[_Element]:
    boxes: list[Placed[_Element]] = []
    comments: list[_Element] = []
    left = top = width = height = 0.0
    for shape in shapes:
        if shape.tag == f"{OFFICE}annotation":
            comments.append(shape)
            continue
        # A group has the position of its first positioned shape.
        own = next((one for one in shape.iter() if one.get(f"{SVG}y")), shape)
        box = [_millimetres(own.get(f"{SVG}{name}") or "") for name in ("x", "y", "width", "height")]
        if box[0] is not None and box[1] is not None:
            left, top, width, height = box[0], box[1], box[2] or 0.0, box[3] or 0.0
        boxes.append(Placed(item=shape, left=left, top=top, width=width, height=height))
    return in_reading_order(boxes) + comments


def _millimetres(length: str) -> float | None:
    found = _LENGTH.fullmatch(length)
    return float(found[1]) * _UNITS[found[2]] if found is not None else None


def _shape(
    shape: _Element, slides: _Slides, anchor: str, headings: tuple[str, ...], depth: int
) -> Iterator[Section]:
    if depth > _DEEPEST:
        return
    if shape.tag == f"{OFFICE}annotation":
        author = one_line(shape.findtext(f"{DC}creator") or "")
        lines = "\n".join(texts(shape))
        text = f"{author}: {lines}" if author and lines else lines
        yield Section(text=text, anchor=anchor, headings=(*headings, "Comments"))
    elif shape.tag == f"{TABLE}table":
        yield Section(text=table(shape), anchor=anchor, headings=headings, kind="table")
    elif shape.tag == f"{DRAW}frame":
        objects = list(slides.objects.sections(shape, anchor, headings))
        yield from objects
        for child in shape.iterchildren(f"{DRAW}text-box", f"{TABLE}table"):
            yield from _shape(child, slides, anchor, headings, depth + 1)
        if not objects:
            yield Section(text=description(shape), anchor=anchor, headings=headings)
    else:
        yield Section(text="\n".join(_lines(shape, 0)), anchor=anchor, headings=headings)
        for child in shape.iterchildren():
            if child.tag not in {f"{TEXT}p", f"{TEXT}list", f"{DRAW}enhanced-geometry"}:
                yield from _shape(child, slides, anchor, headings, depth + 1)


def _lines(box: _Element, level: int) -> Iterator[str]:
    for child in box.iterchildren():
        if child.tag in {f"{TEXT}p", f"{TEXT}h"}:
            text = paragraph(child).text
            if not is_blank(text):
                yield f"{'  ' * (level - 1)}- {text}" if level else text
        elif child.tag in {f"{TEXT}list", f"{TEXT}list-item", f"{TEXT}list-header"} and level < _DEEPEST:
            yield from _lines(child, level + (child.tag == f"{TEXT}list"))


def _master_texts(master: _Element) -> Iterator[str]:
    for shape in master.iterchildren():
        if shape.tag != f"{PRESENTATION}notes" and shape.get(f"{PRESENTATION}class") not in _PLACEHOLDERS:
            text = "\n".join(text for text in texts(shape) if text)
            if not is_blank(text):
                yield text
