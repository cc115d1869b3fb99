"""Pure: what a drawing of Word holds that is read: boxes, charts, diagrams, files, and what pictures show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from rag_engine.parsers._ooxml import CX, DGM, MC, OFFICE, WP, A, C, V, W, understood
from rag_engine.parsers._ooxml.alt import alternative_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._ooxml import Element

Beside = tuple[Literal["box", "chart", "diagram", "picture", "words", "file"], object]
"""What stands beside a paragraph: the element of a box, a chart, a diagram or a file; what a picture shows or says."""

_POINTERS: Final[dict[str, Literal["chart", "diagram", "file"]]] = {
    f"{C}chart": "chart",
    f"{CX}chart": "chart",
    f"{DGM}relIds": "diagram",
    f"{OFFICE}OLEObject": "file",
}


def beside_of(drawing: Element) -> Iterator[Beside]:
    """What is drawn, each once: of two readings of a part the one that Word takes."""
    for child in drawing:
        if child.tag == f"{W}txbxContent":
            yield "box", child
        elif child.tag == f"{MC}AlternateContent":
            for one in understood(child):
                yield from _drawn(one)
        elif child.tag not in {f"{W}rPr", f"{W}fldChar"}:
            yield from _drawn(child)


def _drawn(element: Element) -> Iterator[Beside]:
    tag = str(element.tag)
    if tag == f"{W}txbxContent":
        yield "box", element
        return
    if tag in _POINTERS:
        yield _POINTERS[tag], element
    yield from _words(element, tag)
    yield from beside_of(element)


def _words(element: Element, tag: str) -> Iterator[Beside]:
    described = alternative_text(element) if tag == f"{WP}docPr" else ""
    if tag.startswith(V):
        described = alternative_text(element, "alt")
    if described:
        yield "picture", described
    text = element.get("string") or "" if tag == f"{V}textpath" else ""
    if tag == f"{A}p":
        text = "".join(words.text or "" for words in element.iter(f"{A}t"))
    if text.strip():
        yield "words", text
