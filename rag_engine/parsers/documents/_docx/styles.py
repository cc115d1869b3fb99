from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W, number, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rag_engine.parsers._ooxml.package import Element

TITLE_LEVEL: Final = 0.5
UNKNOWN: Final = "unknown"
_DEEPEST: Final = 9
_LONGEST_CHAIN: Final = 20
# Word stores built-in style names in English; other programs store localised names.
_HEADING: Final = re.compile(
    "(?:heading|überschrift|ueberschrift|titre|título|titulo|titolo|encabezado|kop|rubrik|overskrift|otsikko|nagłówek"
    "|nadpis|címsor|cimsor|başlık|baslik|заголовок|επικεφαλίδα|כותרת|عنوان|標題|标题|見出し|제목|หัวเรื่อง|naslov|titlu|pealkiri"
    "|virsraksts|antraštė|заглавие|đầu đề|judul|tiêu đề) *([1-9])",
    re.IGNORECASE,
)
# Pages' name is "heading"; LibreOffice derives styles from it.
_NAMED_LEVELS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("title", "titel", "document title", "dokumenttitel"), TITLE_LEVEL),
    "heading": 1,
    **dict.fromkeys(("subtitle", "toc heading", "contents heading", "index heading"), 0),
}
_CONTENTS: Final = re.compile(
    r"(?:toc|contents|table of contents|inhalt|inhaltsverzeichnis|verzeichnis) *[1-9]|table of figures"
)
_LISTED: Final = re.compile(r"list (?:bullet|number)(?: ([2-9]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocxStyle:
    name: str = ""
    level: float = 0
    list_id: str | None = None
    """"0" removes its paragraphs from a list."""
    list_level: int | None = None
    list_style: str = ""
    is_hidden: bool = False
    is_contents: bool = False
    listed: int | None = None
    """List depth (from 0) implied by the style's name."""
    is_bold: bool = False
    size: int = 0
    color: str = ""
    fill: str = ""


_PLAIN: Final = DocxStyle()


def styles_of(elements: Iterable[Element], defaults: Element | None = None) -> dict[str, DocxStyle]:
    """`""` is that of paragraphs without a style."""
    by_id: dict[str, Element] = {}
    for element in elements:
        by_id.setdefault(element.get(f"{W}styleId") or "", element)
    base = _PLAIN if defaults is None else _style(defaults, _PLAIN)
    found: dict[str, DocxStyle] = {}
    for identifier in by_id:
        _resolve(identifier, by_id, found, base)
    for identifier, element in by_id.items():
        if _is_of_paragraphs(element) and element.get(f"{W}default") in {"1", "true", "on"}:
            found[""] = found[identifier]
    return {"": base, **found}


def _is_of_paragraphs(style: Element) -> bool:
    return style.get(f"{W}type") == "paragraph"


def _resolve(
    identifier: str, elements: Mapping[str, Element], found: dict[str, DocxStyle], base: DocxStyle
) -> None:
    chain: list[str] = []
    while identifier in elements and identifier not in found and len(chain) < _LONGEST_CHAIN:
        if identifier in chain:
            break
        chain.append(identifier)
        identifier = value(elements[identifier], f"{W}basedOn") or ""
    # A style of characters would hide the defaults of its paragraph.
    is_based = chain and _is_of_paragraphs(elements[chain[-1]])
    above = found.get(identifier, base if is_based else _PLAIN)
    for inheriting in reversed(chain):
        above = found[inheriting] = _style(elements[inheriting], above)


def _style(element: Element, above: DocxStyle) -> DocxStyle:
    name = (value(element, f"{W}name") or "").lower()
    level = _level(name, value(element, f"{W}pPr/{W}outlineLvl"))
    list_id = value(element, f"{W}pPr/{W}numPr/{W}numId")
    list_level = value(element, f"{W}pPr/{W}numPr/{W}ilvl")
    hidden = element.find(f"{W}rPr/{W}vanish")
    listed = _LISTED.fullmatch(name)
    bold = element.find(f"{W}rPr/{W}b")
    size = value(element, f"{W}rPr/{W}sz")
    color = value(element, f"{W}rPr/{W}color")
    return replace(
        above,
        name=name,
        level=above.level if level is None else level,
        list_id=above.list_id if list_id is None else list_id,
        list_style=above.list_style if list_id is None else element.get(f"{W}styleId") or "",
        list_level=above.list_level if list_level is None else _within(number(list_level)),
        is_hidden=above.is_hidden if hidden is None else switch(hidden),
        is_contents=above.is_contents or _CONTENTS.fullmatch(name) is not None,
        listed=above.listed if listed is None else number(listed[1], 1) - 1,
        is_bold=above.is_bold if bold is None else switch(bold),
        size=above.size if size is None else number(size),
        color=above.color if color is None else color,
        fill=fill_of(element.find(f"{W}rPr")) or fill_of(element.find(f"{W}pPr")) or above.fill,
    )


def fill_of(properties: Element | None) -> str:
    """Empty: none; `UNKNOWN` if uncertain."""
    shading = None if properties is None else properties.find(f"{W}shd")
    return "" if shading is None else shading_fill(shading)


def shading_fill(shading: Element) -> str:
    fill = shading.get(f"{W}fill") or ""
    pattern = shading.get(f"{W}val") or "clear"
    if pattern not in {"clear", "nil"} or (not fill and shading.get(f"{W}themeFill")):
        return UNKNOWN
    return "" if pattern == "nil" or fill.lower() == "auto" else fill


def switch(element: Element) -> bool:
    return (element.get(f"{W}val") or "").lower() not in {"0", "false", "off"}


def style_of(properties: Element | None, styles: Mapping[str, DocxStyle]) -> DocxStyle:
    if properties is None:
        return styles.get("", _PLAIN)
    identifier = outline = numbered = None
    for one in properties:
        if one.tag == f"{W}pStyle":
            identifier = one.get(f"{W}val")
        elif one.tag == f"{W}outlineLvl":
            outline = one.get(f"{W}val")
        elif one.tag == f"{W}numPr":
            numbered = one
    style = styles.get(identifier or "")
    if style is None:
        style = DocxStyle(level=_level(identifier.lower(), None) or 0) if identifier else _PLAIN
    level = None if outline is None else _level("", outline)
    list_id = None if numbered is None else value(numbered, f"{W}numId")
    list_level = None if numbered is None else value(numbered, f"{W}ilvl")
    if level is None and list_id is None and list_level is None:
        return style
    return replace(
        style,
        level=style.level if level is None else level,
        list_id=style.list_id if list_id is None else list_id,
        list_level=style.list_level if list_level is None else _within(number(list_level)),
    )


def _level(name: str, outline: str | None) -> float | None:
    if outline is not None and outline.isdecimal():
        return int(outline) + 1 if int(outline) < _DEEPEST else 0
    heading = _HEADING.fullmatch(name)
    if heading is not None:
        return int(heading[1])
    return _NAMED_LEVELS.get(name)


def _within(level: int) -> int:
    return min(max(level, 0), _DEEPEST - 1)
