from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag_engine.parsers._ooxml.package import W, number, value
from rag_engine.parsers.documents._docx.styles import switch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rag_engine.parsers._ooxml.package import Element
    from rag_engine.parsers.documents._docx.styles import DocxStyle

LARGE, BOLD = 9.2, 9.5
_LONGEST: Final = 120
_USUAL: Final = 22
_LARGER: Final = 4


def level_by_formatting(
    paragraph: Element, text: str, style: DocxStyle, styles: Mapping[str, DocxStyle]
) -> float:
    """Of a short line that is entirely large or bold; else 0."""
    line = text.strip()
    if not 1 < len(line) <= _LONGEST or "\n" in line or line[-1] in ".,;:!?。，；：、…" or line[0] in "-•–*":
        return 0
    if not any(map(str.isalpha, line)):
        return 0
    usual = styles.get("", style).size or _USUAL
    runs = list(_runs(paragraph, style, styles))
    if runs and all(size >= usual + _LARGER for _, size in runs):
        return LARGE
    return BOLD if runs and all(is_bold for is_bold, _ in runs) else 0


def _runs(
    paragraph: Element, style: DocxStyle, styles: Mapping[str, DocxStyle]
) -> Iterator[tuple[bool, int]]:
    for run in paragraph.iter(f"{W}r"):
        words = run.find(f"{W}t")
        if words is None or not (words.text or "").strip():
            continue
        is_bold, size = style.is_bold, style.size
        properties = run.find(f"{W}rPr")
        if properties is not None:
            own = styles.get(value(properties, f"{W}rStyle") or "-")
            bold, own_size = properties.find(f"{W}b"), value(properties, f"{W}sz")
            is_bold = switch(bold) if bold is not None else is_bold or (own is not None and own.is_bold)
            size = number(own_size) if own_size is not None else (own.size if own is not None else 0) or size
        yield is_bold, size
