"""What Word's XML says about styles: which paragraphs are headings, and of which level, and which are list items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of Word's elements, as lxml writes it."""

_DEEPEST: Final = 9
"""Heading levels, and styles that a style inherits from."""


class Element(Protocol):
    tag: object
    text: str | None

    def __iter__(self) -> Iterator[Element]: ...
    def get(self, key: str) -> str | None: ...
    def find(self, path: str) -> Element | None: ...
    def iter(self, *tags: str) -> Iterator[Element]: ...
    def iterfind(self, path: str) -> Iterator[Element]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What a paragraph style says about structure."""

    level: int = 0
    """Of a heading, from 1; 0 for other text."""
    is_list: bool = False


def styles_of(elements: Iterable[Element]) -> dict[str, Style]:
    """Style id -> what the style says, with what it inherits."""
    by_id = {element.get(f"{W}styleId") or "": element for element in elements}
    return {identifier: _style(element, by_id) for identifier, element in by_id.items()}


def _style(style: Element, elements: Mapping[str, Element]) -> Style:
    found: Element | None = style
    is_list = False
    for _ in range(_DEEPEST):
        if found is None:
            break
        name = (attribute(found, f"{W}name") or "").lower()
        is_list = is_list or name.startswith("list ") or found.find(f"{W}pPr/{W}numPr") is not None
        level = _level(name, attribute(found, f"{W}pPr/{W}outlineLvl"))
        if level:
            return Style(level=level)
        found = elements.get(attribute(found, f"{W}basedOn") or "")
    return Style(is_list=is_list)


def _level(name: str, outline: str | None) -> int:
    if outline is not None and outline.isdecimal() and int(outline) < _DEEPEST:
        return int(outline) + 1
    first, _, last = name.rpartition(" ")
    if first == "heading" and last.isdecimal():
        return int(last)
    return 1 if name == "title" else 0


def style_of(paragraph: Element, styles: Mapping[str, Style]) -> Style:
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        return Style()
    style = styles.get(attribute(properties, f"{W}pStyle") or "", Style())
    level = _level("", attribute(properties, f"{W}outlineLvl")) or style.level
    number = attribute(properties, f"{W}numPr/{W}numId")
    return Style(level=level, is_list=style.is_list if number is None else number != "0")


def attribute(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get(f"{W}val")
