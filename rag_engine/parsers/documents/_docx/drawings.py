from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from rag_engine.parsers._ooxml.alternative_text import alternative_text
from rag_engine.parsers._ooxml.package import CX, DGM, MC, OFFICE, WP, A, C, V, W, chosen_alternative

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.parsers._ooxml.package import Element

AnchoredObject = tuple[Literal["box", "chart", "diagram", "picture", "words", "file"], object]

_POINTERS: Final[dict[str, Literal["chart", "diagram", "file"]]] = {
    f"{C}chart": "chart",
    f"{CX}chart": "chart",
    f"{DGM}relIds": "diagram",
    f"{OFFICE}OLEObject": "file",
}


def anchored_objects(drawing: Element) -> Iterator[AnchoredObject]:
    """Of two alternatives, the one that Word displays."""
    for child in drawing:
        if child.tag == f"{W}txbxContent":
            yield "box", child
        elif child.tag == f"{MC}AlternateContent":
            for one in chosen_alternative(child):
                yield from _drawn(one)
        elif child.tag not in {f"{W}rPr", f"{W}fldChar"}:
            yield from _drawn(child)


def _drawn(element: Element) -> Iterator[AnchoredObject]:
    tag = str(element.tag)
    if tag == f"{W}txbxContent":
        yield "box", element
        return
    if tag in _POINTERS:
        yield _POINTERS[tag], element
    yield from _words(element, tag)
    yield from anchored_objects(element)


def _words(element: Element, tag: str) -> Iterator[AnchoredObject]:
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
