from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._archives.unpacking_limits import Unpacking
from rag_engine.parsers._ooxml.package import A, Element, OoxmlPackage, P, R, number, package
from rag_engine.parsers._ooxml.pictures import UNREAD, PictureReader
from rag_engine.parsers._properties import office
from rag_engine.parsers._shared.hidden_text import hidden_text_notice
from rag_engine.parsers._shared.sections import is_blank, joined, one_line
from rag_engine.parsers.documents._pptx.comments import authors_of, comment_sections
from rag_engine.parsers.documents._pptx.hidden_text import (
    SlideSurroundings,
    has_filled_placeholders,
    remove_hidden_text,
    theme_colors,
)
from rag_engine.parsers.documents._pptx.shapes import (
    PlaceholderBoxes,
    Shape,
    placeholder_boxes,
    shape_sections,
    shapes_of,
)
from rag_engine.parsing.tesseract import PROGRAM
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SUFFIXES: Final = "pptm potx ppsx ppsm potm"
CONTENT: Final = "binary"

PROGRAMS: Final = (PROGRAM,)
_P14: Final = "{http://schemas.microsoft.com/office/powerpoint/2010/main}"
_OFF: Final = frozenset({"0", "false", "off"})
_ON: Final = frozenset({"1", "true", "on"})
# Slide numbers and thumbnails say nothing; dates and footers come once.
_IGNORED: Final = frozenset({"sldNum", "sldImg", "hdr"})
_REPEATED: Final = frozenset({"dt", "ftr"})
_LONGEST_TITLE: Final = 100
_PROMPT: Final = re.compile(
    r"<[^<>]*>|footer|footer text|fußzeile|pied de page|pie de página|页脚|フッター", re.IGNORECASE
)
_MOST_PICTURES: Final = 3
_MOST_NAMED: Final = 10
_UNNAMED_SECTIONS: Final = frozenset({"Default Section", "Untitled Section"})

properties: Final = office.ooxml


def parse(path: Path) -> Iterator[Section]:
    """Anchored "slide 2", "slide 2, notes" or "slide 2, comment 1"."""
    yield from within(path, Unpacking())


def within(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    yield from joined(_sections(path, unpacking))


def _sections(path: Path, unpacking: Unpacking) -> Iterator[Section]:
    with package(path, "presentation") as opened:
        main = opened.main("ppt/presentation.xml")
        root = opened.root(main)
        groups = _groups(root)
        presentation = _Presentation(
            opened, main, unpacking, size=_size(root), right_to_left=root.get("rtl") in _ON
        )
        slides = root.iterfind(f"{P}sldIdLst/{P}sldId")
        parts = ((slide, opened.target(main, slide.get(f"{R}id"))) for slide in slides)
        read: set[str] = set()
        for count, (slide, part) in enumerate(parts, 1):
            if part is not None and part not in read:
                read.add(part)
                group = groups.get(slide.get("id") or "", "")
                yield from presentation.slide(part, f"slide {count}", (group,) if group else ())
        yield from presentation.notices()


def _size(root: Element) -> tuple[int, int]:
    size = root.find(f"{P}sldSz")
    return (0, 0) if size is None else (number(size.get("cx")), number(size.get("cy")))


def _groups(root: Element) -> dict[str, str]:
    return {
        slide.get("id") or "": name
        for group in root.iter(f"{_P14}section")
        if (name := one_line(group.get("name") or "")) not in _UNNAMED_SECTIONS
        for slide in group.iter(f"{_P14}sldId")
    }


class _Presentation:
    def __init__(
        self,
        opened: OoxmlPackage,
        main: str,
        unpacking: Unpacking,
        *,
        size: tuple[int, int],
        right_to_left: bool,
    ) -> None:
        self._opened = opened
        self._unpacking = unpacking
        self._authors = authors_of(opened, main)
        self._right_to_left = right_to_left
        self._width, self._height = size
        self._surroundings: dict[str, SlideSurroundings] = {}
        self._hidden: dict[str, int] = {}
        self._seen_texts: set[str] = set()
        self._seen_layouts: set[str] = set()
        self._unread: list[str] = []

    def slide(self, part: str, anchor: str, above: tuple[str, ...]) -> Iterator[Section]:
        root = self._opened.root(part)
        around = self._around(part)
        self._leave_out_hidden(root, around, anchor)
        tree = root.find(f"{P}cSld/{P}spTree")
        shapes = [] if tree is None else shapes_of(tree, around.boxes, right_to_left=self._right_to_left)
        shapes = [shape for shape in shapes if shape.placeholder not in _IGNORED]
        title = _title([shape for shape in shapes if shape.placeholder not in _REPEATED])
        not_shown = ("Hidden slide",) if (root.get("show") or "").lower() in _OFF else ()
        headings = (*not_shown, *above, *((title,) if title else ()))
        if not any(map(_has_words, shapes)):
            yield from self._ocr_sections(part, anchor, headings)
        for shape in shapes:
            if shape.placeholder in _REPEATED and not self._is_new(shape.text):
                continue
            yield from shape_sections(self._opened, part, shape, anchor, headings, self._unpacking)
        if (root.get("showMasterSp") or "").lower() not in _OFF:
            yield from self._background(part, anchor, headings)
        for notes in self._opened.related(part, "notesSlide"):
            yield from self._notes(notes, anchor, headings)
        yield from comment_sections(self._opened, part, self._authors, anchor, headings)

    def _leave_out_hidden(
        self, root: Element, around: SlideSurroundings, anchor: str, *, placeholders: bool = True
    ) -> None:
        hidden = remove_hidden_text(root, around, placeholders=placeholders)
        if hidden:
            self._hidden[anchor] = self._hidden.get(anchor, 0) + hidden

    def _ocr_sections(self, part: str, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
        pictures = PictureReader(self._opened, self._unpacking)
        yield from pictures.sections(part, anchor, headings, _MOST_PICTURES)
        if pictures.is_missing:
            self._unread.append(anchor)

    def notices(self) -> Iterator[Section]:
        yield from self._opened.charts.notices()
        if self._unread:
            text = f"Slides without text were not read ({_named(self._unread)}): they are {UNREAD}."
            yield Section(text=text, anchor=self._unread[0], kind="notice")
        if self._hidden:
            slides = list(self._hidden)
            yield hidden_text_notice(sum(self._hidden.values()), _named(slides), anchor=slides[0])

    def _background(self, slide: str, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
        for layout in [*self._opened.related(slide, "slideLayout")][:1]:
            if layout in self._seen_layouts:
                continue
            self._seen_layouts.add(layout)
            for part in (layout, *self._opened.related(layout, "slideMaster")):
                root = self._opened.root(part)
                self._leave_out_hidden(root, self._around(slide), anchor, placeholders=False)
                tree = root.find(f"{P}cSld/{P}spTree")
                for shape in shapes_of(tree, {}) if tree is not None else ():
                    text = shape.text
                    if _shows_everywhere(shape, text) and self._is_new(text):
                        yield Section(text=text, anchor=anchor, headings=headings)

    def _is_new(self, text: str) -> bool:
        if text in self._seen_texts:
            return False
        self._seen_texts.add(text)
        return True

    def _notes(self, part: str, anchor: str, headings: tuple[str, ...]) -> Iterator[Section]:
        root = self._opened.root(part)
        self._leave_out_hidden(root, SlideSurroundings(), anchor)
        tree = root.find(f"{P}cSld/{P}spTree")
        for shape in shapes_of(tree, {}) if tree is not None else ():
            if shape.placeholder not in _IGNORED | _REPEATED:
                yield from shape_sections(
                    self._opened, part, shape, f"{anchor}, notes", (*headings, "Notes"), self._unpacking
                )

    def _around(self, slide: str) -> SlideSurroundings:
        layout = next(self._opened.related(slide, "slideLayout"), None) or ""
        if layout not in self._surroundings:
            self._surroundings[layout] = self._surroundings_of(layout)
        return self._surroundings[layout]

    def _surroundings_of(self, layout: str) -> SlideSurroundings:
        if not layout:
            return SlideSurroundings(width=self._width, height=self._height)
        boxes: PlaceholderBoxes = {}
        masters = [*self._opened.related(layout, "slideMaster")][:1]
        roots = {part: self._opened.root(part) for part in (*masters, layout)}
        for part, root in roots.items():
            own = placeholder_boxes(root.find(f"{P}cSld/{P}spTree"))
            # Placeholder numbers are only valid within one master.
            boxes |= own if part == layout else {key: box for key, box in own.items() if key[0]}
        return SlideSurroundings(
            width=self._width,
            height=self._height,
            below=tuple(reversed(roots.values())),
            colors=theme_colors(self._opened, masters[0]) if masters else {},
            boxes=boxes,
            has_filled_placeholders=has_filled_placeholders(roots.values()),
        )


def _named(slides: Sequence[str]) -> str:
    rest = f" and {len(slides) - _MOST_NAMED} more" if len(slides) > _MOST_NAMED else ""
    return ", ".join(slides[:_MOST_NAMED]) + rest


def _has_words(shape: Shape) -> bool:
    return shape.placeholder not in _REPEATED and shape.element.tag != f"{P}pic"


def _shows_everywhere(shape: Shape, text: str) -> bool:
    is_written = not shape.placeholder or (
        shape.placeholder == "ftr" and _PROMPT.fullmatch(text.strip()) is None
    )
    return is_written and not is_blank(text)


def _title(shapes: Sequence[Shape]) -> str:
    for shape in shapes:
        if shape.is_title and not is_blank(shape.text):
            return one_line(shape.text)
    sizes = [_largest_letters(shape.element) for shape in shapes]
    if not shapes or not sizes[0] or sizes[0] <= max([18_00, *sizes[1:]]):
        return ""
    line = one_line(shapes[0].text)
    return line if len(line) <= _LONGEST_TITLE else ""


def _largest_letters(element: Element) -> int:
    return max((number(run.get("sz")) for run in element.iter(f"{A}rPr")), default=0)
