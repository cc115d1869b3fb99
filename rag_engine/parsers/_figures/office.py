from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from rag_engine.parsers._figures.flow import WHOLE, Crop, FlowItem, FlowPicture, FlowText
from rag_engine.parsers._figures.limits import within
from rag_engine.parsers._ooxml.alternative_text import alternative_text
from rag_engine.parsers._ooxml.package import MC, WP, A, OoxmlPackage, P, R, V, W, number, package

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from rag_engine.parsers._ooxml.package import Element

_SLIDE: Final = re.compile(r"slide (\d{1,6})")
_HEADING: Final = re.compile(
    r"(?:heading|title|berschrift|titre|ttulo|titolo|kop|rubrik)\d?\b", re.IGNORECASE
)
_ON: Final = frozenset({"1", "true", "on"})
_WHOLE_SHARE: Final = 100_000
_PICTURES: Final = (f"{A}blip", f"{V}imagedata")
_NAMES: Final = (f"{WP}docPr", f"{P}cNvPr")


@contextmanager
def document(path: Path, _: str) -> Generator[Iterator[FlowItem]]:
    with package(path, "Word document") as opened:
        yield _paragraphs(opened)


@contextmanager
def slide(path: Path, anchor: str) -> Generator[Iterator[FlowItem]]:
    with package(path, "presentation") as opened:
        wanted = _SLIDE.match(anchor)
        yield _shapes(opened, int(wanted[1]) if wanted else 0)


def _paragraphs(opened: OoxmlPackage) -> Iterator[FlowItem]:
    main = opened.main("word/document.xml", "word/document2.xml")
    depth = 0
    for event, element in opened.events(main, f"{W}p"):
        depth += 1 if event == "start" else -1
        if event == "end" and depth == 0:
            style = element.find(f"{W}pPr/{W}pStyle")
            begins = style is not None and _HEADING.match(style.get(f"{W}val") or "") is not None
            yield from _flow(opened, main, element, begins=begins)
            element.clear(keep_tail=True)


def _shapes(opened: OoxmlPackage, wanted: int) -> Iterator[FlowItem]:
    main = opened.main("ppt/presentation.xml")
    slides = list(opened.root(main).iterfind(f"{P}sldIdLst/{P}sldId"))
    part = opened.target(main, slides[wanted - 1].get(f"{R}id")) if 1 <= wanted <= len(slides) else None
    tree = None if part is None else opened.root(part).find(f"{P}cSld/{P}spTree")
    if part is not None and tree is not None:
        for shape in tree:
            yield from _flow(opened, part, shape, begins=False)


def _flow(opened: OoxmlPackage, part: str, element: Element, *, begins: bool) -> Iterator[FlowItem]:
    if begins:
        yield FlowText(text="", begins=True)
    words: list[str] = []
    named: Element | None = None
    for node in element.iter():
        if node.tag in _NAMES:
            named = node
        elif node.tag in (f"{W}t", f"{A}t"):
            words.append(node.text or "")
        elif node.tag in _PICTURES:
            picture = _picture(opened, part, node, named)
            if picture is not None and not _is_repeated(node):
                yield FlowText(text="".join(words))
                words.clear()
                yield picture
    yield FlowText(text="".join(words))


def _is_repeated(node: Element) -> bool:
    """In a fallback, beside a picture for newer programs."""
    return any(
        True
        for fallback in node.iterancestors(f"{MC}Fallback")
        if (both := fallback.getparent()) is not None
        for choice in both.iterfind(f"{MC}Choice")
        for _ in choice.iter(*_PICTURES)
    )


def _picture(opened: OoxmlPackage, part: str, node: Element, named: Element | None) -> FlowPicture | None:
    if named is not None and (named.get("hidden") or "") in _ON:
        return None
    target = opened.target(part, node.get(f"{R}embed") or node.get(f"{R}id"))
    if target is None:
        return None
    return FlowPicture(
        load=partial(_content, opened, target),
        description="" if named is None else alternative_text(named),
        crop=_crop(node),
    )


def _content(opened: OoxmlPackage, part: str) -> bytes:
    return within(opened.chunks(part))


def _crop(blip: Element) -> Crop:
    around = blip.getparent()
    shares = None if around is None else around.find(f"{A}srcRect")
    if shares is None:
        return WHOLE
    left, top, right, bottom = (max(number(shares.get(edge)) / _WHOLE_SHARE, 0.0) for edge in "ltrb")
    return (left, top, right, bottom)
