"""Event-based, because pages nest deeper than Python's stack."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.parsers._shared.hidden_text import hidden_text_notice
from rag_engine.parsers._shared.sections import (
    HeadingPath,
    entered,
    is_blank,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.parsers._shared.symbols import raised
from rag_engine.parsers.texts._html import tables
from rag_engine.parsers.texts._html.hidden_elements import Strictness, has_no_size, is_unseen
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_BLOCKS: Final = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "address", "blockquote", "figure"}
    | {"hr", "figcaption", "ul", "ol", "dl", "dt", "dd", "table", "caption", "tr", "td", "th", "form"}
    | {"fieldset"}
    | {"body", "details", "summary", "center", "legend", "tbody", "thead", "tfoot", "menu", "dir", "hgroup"}
    | {"search", "optgroup", "option", "nav", "noscript", "frameset", "noframes", "dialog", "label-block"}
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_LISTS: Final = frozenset({"ul", "ol", "menu", "dir"})
_GOOGLE_LIST: Final = re.compile(r"\blst-kix_\w+-(\d)\b")
_FILE_NAME: Final = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp)", re.IGNORECASE)
_LONGEST_ALT: Final = 1_000


@dataclass(slots=True)
class _List:
    ordered: bool
    depth: int
    number: int = 0


@dataclass(slots=True)
class _Page:
    strictness: Strictness
    path: HeadingPath = ()
    inline: list[str] = field(default_factory=list[str])
    lists: list[_List] = field(default_factory=list[_List])
    marker: str = ""
    readings: list[str] = field(default_factory=list[str])
    hidden: int = 0

    def section(self, text: str, kind: SectionKind) -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)

    def leaves_out(self, element: _Element) -> bool:
        if not has_no_size(element):
            return False
        self.hidden += len("".join(element.itertext()).strip())
        return True

    def flush(self) -> Iterator[Section]:
        lines = (" ".join(line.split()) for line in "".join(self.inline).split("\v"))
        text = "\n".join(line for line in lines if line)
        self.inline.clear()
        if is_blank(text):
            return
        if self.lists or self.marker:
            indent = "  " * (self.lists[-1].depth if self.lists else 0)
            marker = self.marker or "  "
            self.marker = ""
            yield self.section(indent + marker + text.replace("\n", f"\n{indent}  "), "list")
        else:
            yield self.section(text, "prose")


def walk(
    root: _Element, *, strictness: Strictness = Strictness.BOILERPLATE, title: str = ""
) -> Iterator[Section]:
    page = _Page(strictness=strictness)
    if title:
        page.path = entered((), 0, title)
        yield page.section(title, "prose")
    events = etree.iterwalk(root, events=("start", "end"))
    for event, element in events:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "end":
            yield from _leave(page, element, tag)
            page.inline.append(element.tail or "")
        elif is_unseen(element, tag, strictness) or page.leaves_out(element):
            # The tail of a skipped element comes with its end event.
            events.skip_subtree()
            if tag in _BLOCKS:
                yield from page.flush()
            element.tag = "template"
        elif tag in _HEADINGS or tag in {"pre", "math"} or (tag == "table" and tables.is_data(element)):
            yield from _whole(page, element, tag)
            events.skip_subtree()
            element.tag = "template"
        else:
            yield from _enter(page, element, tag)
    yield from page.flush()
    if page.hidden:
        yield hidden_text_notice(page.hidden)


def _enter(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    text = element.text or ""
    if tag == "br":
        page.inline.append("\v")
    elif tag == "li":
        yield from page.flush()
        page.marker = _marker(page, element)
    elif tag == "dd":
        yield from page.flush()
        page.marker = ": "
    elif tag in {"img", "input"}:
        page.inline.append(_replaced(element, tag))
    elif tag == "rt":
        page.readings.append("".join(element.itertext()))
        text = ""
    elif tag in _BLOCKS:
        yield from page.flush()
        if tag in _LISTS:
            page.lists.append(_list(page, element, tag))
    if tag == "sup" and not len(element):
        text = raised(text)
    page.inline.append(text)


def _leave(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    if tag == "ruby" and page.readings:
        page.inline.append(f"({''.join(page.readings)})")
        page.readings.clear()
    elif tag in _BLOCKS or tag == "li":
        yield from page.flush()
        if tag in {"li", "dd"}:
            page.marker = ""
        if tag in _LISTS and page.lists:
            page.lists.pop()


def _marker(page: _Page, element: _Element) -> str:
    if not page.lists or not page.lists[-1].ordered:
        return "- "
    value = element.get("value") or ""
    current = page.lists[-1]
    current.number = (
        int(value) if value.isascii() and value.isdigit() and len(value) < 9 else current.number + 1
    )
    return f"{current.number}. "


def _list(page: _Page, element: _Element, tag: str) -> _List:
    start = element.get("start") or "1"
    number = int(start) - 1 if start.isascii() and start.isdigit() and len(start) < 9 else 0
    google = _GOOGLE_LIST.search(element.get("class") or "")
    depth = int(google[1]) if google is not None else len(page.lists)
    return _List(ordered=tag == "ol", depth=depth, number=number)


def _replaced(element: _Element, tag: str) -> str:
    if tag == "input":
        kind = (element.get("type") or "").lower()
        if kind in {"checkbox", "radio"}:
            return "[x] " if element.get("checked") is not None else "[ ] "
        return ""
    alt = (element.get("alt") or "").strip()[:_LONGEST_ALT]
    return "" if _FILE_NAME.fullmatch(alt) else alt


def _whole(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    if tag == "math":
        page.inline.append(formula(element))
        return
    yield from page.flush()
    if tag == "pre":
        yield page.section("".join(_texts(page, element, preformatted=True)), "code")
    elif tag == "table":
        yield from (
            page.section(_cell(page, caption), "prose") for caption in element.iterchildren("caption")
        )
        above, rows = tables.text_of(element, lambda cell: _cell(page, cell))
        yield page.section(above, "prose")
        yield page.section(rows, "table")
    else:
        text = one_line("".join(_texts(page, element)))
        if text:
            page.path = entered(page.path, _HEADINGS[tag], text)
            yield page.section(text, "prose")


def formula(element: _Element) -> str:
    """The TeX source, else the symbols."""
    typed = element.get("alttext") or next(
        (
            "".join(note.itertext())
            for note in element.iter("annotation", "{*}annotation")
            if "tex" in (note.get("encoding") or "").lower()
        ),
        "",
    )
    return f" {typed.strip()} " if typed.strip() else "".join(element.itertext())


def _cell(page: _Page, element: _Element) -> str:
    return one_line("".join(_texts(page, element)))


def _texts(page: _Page, element: _Element, *, preformatted: bool = False) -> Iterator[str]:
    events = etree.iterwalk(element, events=("start", "end"))
    for event, inner in events:
        tag = inner.tag if isinstance(inner.tag, str) else ""
        if event == "end":
            if inner is not element:
                if tag == "tr" and not preformatted:
                    yield "; " if inner.getnext() is not None else " "
                yield inner.tail or ""
        elif inner is not element and (is_unseen(inner, tag, page.strictness) or tag == "math"):
            events.skip_subtree()
            yield formula(inner) if tag == "math" else ""
        elif page.leaves_out(inner):
            events.skip_subtree()
        else:
            yield _before(inner, tag, preformatted=preformatted)
            yield inner.text or ""


def _before(element: _Element, tag: str, *, preformatted: bool) -> str:
    if tag == "br":
        return "\n"
    if tag in {"img", "input"}:
        return _replaced(element, tag)
    if tag == "sup" and not len(element) and element.text:
        element.text = raised(element.text)
    return " " if (tag in _BLOCKS or tag == "li") and not preformatted else ""
