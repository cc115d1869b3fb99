"""Tiny, clear, white on white, or off the slide. In doubt it stays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from math import hypot
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import A, P, number
from rag_engine.parsers._shared.hidden_text import is_white
from rag_engine.parsers.documents._pptx.shapes import box_of, role, shape_elements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage
    from rag_engine.parsers.documents._pptx.shapes import Box, PlaceholderBoxes

_TINY: Final = 200
"""Hundredths of a point."""
_CLEAR: Final = 6_000
"""Of 100,000."""
_FILLS: Final = frozenset(
    f"{A}{name}" for name in ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
)
_SHOWN_ANYWAY: Final = frozenset(f"{A}{name}" for name in ("effectLst", "effectDag", "highlight"))
_SOLID_BACKGROUND: Final = "1001"
"""The theme's first background; others may be pictures."""
_RUNS: Final = (f"{A}r", f"{A}fld")
_THINGS: Final = (f"{P}sp", f"{P}pic", f"{P}graphicFrame")
_MOST_COMPARED: Final = 1_000_000
_DEEPEST_LEVEL: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideSurroundings:
    """`below`: layout and master; `colors`: the theme's, by their names on slides."""

    width: int = 0
    height: int = 0
    below: Sequence[Element] = ()
    colors: Mapping[str, str] = field(default_factory=dict[str, str])
    boxes: PlaceholderBoxes = field(default_factory=dict[tuple[str, str], "Box"])
    has_filled_placeholders: bool = False
    """A placeholder may inherit from any of them."""


def theme_colors(package: OoxmlPackage, master: str) -> dict[str, str]:
    mapping = package.root(master).find(f"{P}clrMap")
    theme = next(package.related(master, "theme"), None)
    if mapping is None or theme is None:
        return {}
    scheme = package.root(theme).find(f"{A}themeElements/{A}clrScheme")
    defined = {
        str(color.tag).removeprefix(A): one.get("lastClr") or one.get("val") or ""
        for color in (scheme if scheme is not None else ())
        for one in color
    }
    names = ("bg1", "bg2", "tx1", "tx2")
    return defined | {name: defined.get(mapping.get(name) or "", "") for name in names}


def remove_hidden_text(slide: Element, around: SlideSurroundings, *, placeholders: bool = True) -> int:
    """The number of characters removed."""
    tree = slide.find(f"{P}cSld/{P}spTree")
    if tree is None:
        return 0
    moves = any(True for _ in slide.iter(f"{P}animMotion"))
    changes_colors = any(True for _ in slide.iter(f"{P}animClr"))
    if slide.find(f"{P}clrMapOvr/{A}overrideClrMapping") is not None:
        around = replace(around, colors={})
    removed = 0
    shapes = list(shape_elements(tree))
    backgrounds = cache(lambda: _Backgrounds(slide, shapes, around))
    for shape in shapes:
        if role(shape) and not placeholders:
            continue
        if not moves and _is_off_slide(shape, around):
            removed += sum(map(_emptied, shape.iter(f"{A}t")))
            continue
        for run in shape.iter(*_RUNS):
            text = run.find(f"{A}t")
            if text is None or not (text.text or "").strip():
                continue
            properties = _properties(run)
            if _is_invisible(properties) or (
                not changes_colors
                and _is_white_text(properties, around.colors)
                and _is_on_white(run, shape, backgrounds, around)
            ):
                removed += _emptied(text)
    return removed


def _emptied(text: Element) -> int:
    characters = len((text.text or "").strip())
    text.text = ""
    return characters


def _is_off_slide(shape: Element, around: SlideSurroundings) -> bool:
    box = box_of(shape)
    if box is None or not around.width or not around.height:
        return False
    left, top, width, height = box
    turned = any(frame.get("rot") for frame in shape.iter(f"{A}xfrm"))
    reach = (hypot(width, height) / 2,) * 2 if turned else (width / 2, height / 2)
    across, down = left + width / 2, top + height / 2
    return (
        across + reach[0] <= 0
        or across - reach[0] >= around.width
        or down + reach[1] <= 0
        or down - reach[1] >= around.height
    )


def _properties(run: Element) -> list[Element]:
    found = [run.find(f"{A}rPr")]
    paragraph = run.getparent()
    body = None if paragraph is None else paragraph.getparent()
    if paragraph is not None and body is not None:
        own = paragraph.find(f"{A}pPr")
        level = 0 if own is None else min(max(number(own.get("lvl")), 0), _DEEPEST_LEVEL - 1)
        found.append(body.find(f"{A}lstStyle/{A}lvl{level + 1}pPr/{A}defRPr"))
    return [one for one in found if one is not None]


def _is_invisible(properties: Sequence[Element]) -> bool:
    size = next((number(one.get("sz")) for one in properties if one.get("sz")), 0)
    if 0 < size <= _TINY:
        return True
    fill = _fill(properties)
    if fill is None or _is_shown_anyway(properties):
        return False
    if fill.tag == f"{A}noFill":
        return True
    return any(0 <= number(one.get("val"), _CLEAR) < _CLEAR for one in fill.iter(f"{A}alpha"))


def _is_shown_anyway(properties: Sequence[Element]) -> bool:
    return any(
        len(child)
        if child.tag in _SHOWN_ANYWAY
        else child.tag == f"{A}ln" and child.find(f"{A}noFill") is None
        for one in properties
        for child in one
    )


def _fill(properties: Sequence[Element]) -> Element | None:
    return next((child for one in properties for child in one if child.tag in _FILLS), None)


def _is_white_text(properties: Sequence[Element], colors: Mapping[str, str]) -> bool:
    fill = _fill(properties)
    return fill is not None and not _is_shown_anyway(properties) and _is_white_fill(fill, colors)


def _is_white_fill(fill: Element, colors: Mapping[str, str]) -> bool:
    if fill.tag != f"{A}solidFill":
        return False
    return any(_is_white_color(color, colors) for color in fill)


def _is_white_color(color: Element, colors: Mapping[str, str]) -> bool:
    if len(color):
        return False
    value = color.get("val") or ""
    if color.tag == f"{A}schemeClr":
        return is_white(colors.get(value))
    return value == "white" or is_white(color.get("lastClr") or value)


def _is_on_white(
    run: Element, shape: Element, backgrounds: Callable[[], _Backgrounds], around: SlideSurroundings
) -> bool:
    for above in run.iterancestors(f"{A}tc", f"{P}sp"):
        if above.tag == f"{A}tc":
            fill = _own_fill(above.find(f"{A}tcPr"))
            return fill is not None and _is_white_fill(fill, around.colors)
        fill = _own_fill(above.find(f"{P}spPr"))
        if fill is not None and fill.tag != f"{A}noFill":
            return _is_white_fill(fill, around.colors)
        if fill is None and (_is_styled(above) or (role(above) and around.has_filled_placeholders)):
            return False
        behind = backgrounds()
        return behind.is_white and not behind.under(shape)
    return False


def _own_fill(properties: Element | None) -> Element | None:
    return None if properties is None else _fill([properties])


def _is_styled(shape: Element) -> bool:
    reference = shape.find(f"{P}style/{A}fillRef")
    return reference is not None and number(reference.get("idx")) != 0


def has_filled_placeholders(parts: Iterable[Element]) -> bool:
    return any(
        role(one) and _own_fill(one.find(f"{P}spPr")) is not None
        for part in parts
        for one in part.iter(f"{P}sp")
    )


def _is_white_slide(slide: Element, around: SlideSurroundings) -> bool:
    for part in (slide, *around.below):
        background = part.find(f"{P}cSld/{P}bg")
        if background is None:
            continue
        fill = _own_fill(background.find(f"{P}bgPr"))
        if fill is not None:
            return _is_white_fill(fill, around.colors)
        reference = background.find(f"{P}bgRef")
        return (
            reference is not None
            and reference.get("idx") == _SOLID_BACKGROUND
            and any(_is_white_color(color, around.colors) for color in reference)
        )
    return True


class _Backgrounds:
    def __init__(self, slide: Element, shapes: Sequence[Element], around: SlideSurroundings) -> None:
        self.is_white = _is_white_slide(slide, around)
        self._around = around
        decoration = [one for part in around.below for one in _decoration(part)]
        self._opaque = [
            (one, box_of(one, around.boxes)) for one in (*shapes, *decoration) if _is_opaque(one, around)
        ]
        self._known: dict[Element, bool] = {}
        self._compared = 0

    def under(self, shape: Element) -> bool:
        if shape not in self._known:
            box = box_of(shape, self._around.boxes)
            self._compared += len(self._opaque)
            self._known[shape] = (
                box is None
                or self._compared > _MOST_COMPARED
                or any(_overlap(box, other) for one, other in self._opaque if one is not shape)
                or any(_is_opaque(one, self._around) for one in shape.iter(*_THINGS))
            )
        return self._known[shape]


def _decoration(part: Element) -> Iterator[Element]:
    tree = part.find(f"{P}cSld/{P}spTree")
    return (one for one in shape_elements(tree) if not role(one)) if tree is not None else iter(())


def _is_opaque(element: Element, around: SlideSurroundings) -> bool:
    if element.tag != f"{P}sp":
        return True
    fill = _own_fill(element.find(f"{P}spPr"))
    if fill is None:
        return _is_styled(element) or (bool(role(element)) and around.has_filled_placeholders)
    return fill.tag != f"{A}noFill" and not _is_white_fill(fill, around.colors)


def _overlap(one: Box, other: Box | None) -> bool:
    if other is None:
        return True
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
