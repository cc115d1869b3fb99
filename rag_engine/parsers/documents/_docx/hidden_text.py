"""Whether a run is hidden, tiny, or in the colour of its background. In doubt it is visible."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W14, A, V, W, number, value
from rag_engine.parsers._shared.hidden_text import is_white, rgb
from rag_engine.parsers.documents._docx.styles import UNKNOWN, fill_of, shading_fill, switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from rag_engine.parsers._ooxml.package import Element, OoxmlPackage
    from rag_engine.parsers.documents._docx.styles import DocxStyle

_TINY: Final = 4
"""Half points."""
_PAGE: Final = "FFFFFF"
_HIGHLIGHTS: Final = {"white": "FFFFFF", "black": "000000"}
_EFFECTS: Final = frozenset(f"{W}{name}" for name in ("outline", "shadow", "emboss", "imprint"))
_SHAPES: Final = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_EXTENT: Final = rb'.{0,900}?extent [^>]{0,200}?cx="(\d+)" cy="(\d+)"'
_BEHIND: Final = re.compile(
    rb'behindDoc="(?:1|true|on)"' + _EXTENT + rb"|<v:(?:rect|roundrect)\b[^>]{0,900}z-index:-", re.DOTALL
)
_IN_MARGIN: Final = re.compile(rb"<wp:anchor\b" + _EXTENT + rb"|<v:(?:rect|roundrect)\b", re.DOTALL)
"""What is in a header or footer is always behind the text."""
_PAGE_COLOR: Final = re.compile(rb'<w:background\b[^>]{0,300}?w:color="(\w+)"')
_LARGE: Final = 720_000
"""2 cm in EMU: a picture that white words may lie on."""
_OVERLAP: Final = 2_000


class HiddenRuns:
    def __init__(
        self,
        styles: Mapping[str, DocxStyle],
        *,
        shaded_tables: frozenset[str] = frozenset(),
        is_white_page: Callable[[], bool] = lambda: True,
    ) -> None:
        self._styles = styles
        self._shaded_tables = shaded_tables
        self._is_white_page = is_white_page
        self.characters = 0

    def is_hidden(self, run: Element, properties: Element | None, paragraph: Element | None) -> bool:
        own = self._style(properties, f"{W}rStyle")
        above = self._style(paragraph, f"{W}pStyle") or self._styles.get("")
        known = [style for style in (own, above) if style is not None]
        if _is_vanished(properties, own):
            return True
        size = _own(properties, f"{W}sz") or next((str(style.size) for style in known if style.size), "")
        if 0 < number(size) <= _TINY:
            return True
        color = _own(properties, f"{W}color") or next((style.color for style in known if style.color), "")
        if rgb(color) is None or _has_effect(properties):
            return False
        near = self._near_background(properties, own)
        if near:
            return rgb(near) == rgb(color) or (is_white(near) and is_white(color))
        return is_white(color) and is_white(self._background(run, paragraph, above))

    def _near_background(self, properties: Element | None, own: DocxStyle | None) -> str:
        highlight = _own(properties, f"{W}highlight")
        if highlight and highlight != "none":
            return _HIGHLIGHTS.get(highlight, UNKNOWN)
        return fill_of(properties) or (own.fill if own is not None else "")

    def _background(self, run: Element, paragraph: Element | None, above: DocxStyle | None) -> str:
        fill = fill_of(paragraph) or (above.fill if above is not None else "")
        if fill:
            return fill
        for element in run.iterancestors():
            if element.tag == f"{W}tc":
                fill = fill_of(element.find(f"{W}tcPr"))
            elif element.tag == f"{W}tr":
                fill = fill_of(element.find(f"{W}tblPrEx"))
            elif element.tag == f"{W}tbl":
                fill = self._table_fill(element)
            elif element.tag == f"{W}txbxContent":
                return _box_fill(element)
            if fill:
                return fill
        return _PAGE if self._is_white_page() else UNKNOWN

    def _table_fill(self, table: Element) -> str:
        properties = table.find(f"{W}tblPr")
        if properties is None:
            return UNKNOWN
        style = value(properties, f"{W}tblStyle")
        return UNKNOWN if style is not None and style in self._shaded_tables else fill_of(properties)

    def _style(self, properties: Element | None, kind: str) -> DocxStyle | None:
        return None if properties is None else self._styles.get(value(properties, kind) or "-")


def shaded_tables(styles: Iterable[Element]) -> frozenset[str]:
    """Ids of table styles with a background, also an inherited one."""
    tables = {style.get(f"{W}styleId") or "": style for style in styles if style.get(f"{W}type") == "table"}
    shaded = {
        name
        for name, style in tables.items()
        if any((fill := shading_fill(one)) and not is_white(fill) for one in style.iter(f"{W}shd"))
    }
    for _ in range(len(tables)):
        more = {name for name, style in tables.items() if value(style, f"{W}basedOn") in shaded} - shaded
        if not more:
            break
        shaded |= more
    return frozenset(shaded)


def has_white_pages(package: OoxmlPackage, main: str) -> bool:
    margins = [part for kind in ("header", "footer") for part in package.related(main, kind)]
    return not (
        _has_background(package, main, _BEHIND)
        or any(_has_background(package, part, _IN_MARGIN) for part in margins)
    )


def _has_background(package: OoxmlPackage, part: str, pictures: re.Pattern[bytes]) -> bool:
    kept = b""
    for chunk in package.chunks(part):
        content = kept + chunk
        page = _PAGE_COLOR.search(content)
        if page is not None and not is_white(page[1].decode()):
            return True
        for found in pictures.finditer(content):
            if not found[1] or min(int(found[1]), int(found[2])) >= _LARGE:
                return True
        kept = content[-_OVERLAP:]
    return False


def _is_vanished(properties: Element | None, own: DocxStyle | None) -> bool:
    vanish = None if properties is None else properties.find(f"{W}vanish")
    return switch(vanish) if vanish is not None else own is not None and own.is_hidden


def _has_effect(properties: Element | None) -> bool:
    return properties is not None and any(
        one.tag in _EFFECTS or str(one.tag).startswith(W14) for one in properties
    )


def _own(properties: Element | None, name: str) -> str:
    return "" if properties is None else value(properties, name) or ""


def _box_fill(content: Element) -> str:
    for above in content.iterancestors():
        tag = str(above.tag)
        if tag == f"{_SHAPES}wsp":
            color = above.find(f"{_SHAPES}spPr/{A}solidFill/{A}srgbClr")
            return UNKNOWN if color is None or len(color) else color.get("val") or UNKNOWN
        if tag.startswith(V) and above.get("fillcolor"):
            fill = (above.get("fillcolor") or "").split(" ")[0].lstrip("#")
            return _PAGE if fill.lower() in {"white", "fff"} else fill
    return UNKNOWN
