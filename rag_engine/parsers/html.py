"""HTML by lxml: headings, paragraphs, lists, tables and code of what a reader sees, without scripts, styles and menus."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import CorruptFile
from rag_engine.parsers._encoding import encoding_of
from rag_engine.parsers._sections import (
    HeadingPath,
    entered,
    is_blank,
    joined,
    one_line,
    section_anchor,
    titles,
)
from rag_engine.parsers._tables import table_text
from rag_engine.types import Section, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage] - the only name lxml has for it

_UNSEEN: Final = frozenset(
    {"head", "script", "style", "template", "noscript", "svg", "math", "nav", "iframe", "object", "canvas"}
    | {"audio", "video", "select", "datalist", "button", "map", "dialog"}
)
_BLOCKS: Final = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "aside",
        "address",
        "blockquote",
        "figure",
        "hr",
    }
    | {
        "figcaption",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "table",
        "caption",
        "tr",
        "td",
        "th",
        "form",
        "fieldset",
        "body",
    }
    | {"details", "summary", "center", "legend", "tbody", "thead", "tfoot"}
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_TAGS: Final = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DECLARED: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,30})", re.IGNORECASE)
_LARGEST: Final = 64 << 20
"""Characters: the tree of a larger page would not fit the worker's memory."""


@dataclass(slots=True)
class _Page:
    """Where the walk is, and the inline text not yet handed out."""

    path: HeadingPath = ()
    inline: list[str] = field(default_factory=list[str])
    item_depth: int = 0
    """Lists around the place."""
    begins_item: bool = False

    def section(self, text: str, kind: SectionKind) -> Section:
        headings = titles(self.path)
        return Section(text=text, anchor=section_anchor(headings), headings=headings, kind=kind)

    def flush(self) -> Iterator[Section]:
        """The inline text so far as one paragraph or list item."""
        lines = (" ".join(line.split()) for line in "".join(self.inline).split("\v"))
        text = "\n".join(line for line in lines if line)
        self.inline.clear()
        if is_blank(text):
            return
        if self.item_depth:
            indent = "  " * (self.item_depth - 1)
            yield self.section(f"{indent}{'- ' if self.begins_item else '  '}{text}", "list")
            self.begins_item = False
        else:
            yield self.section(text, "prose")


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading"."""
    yield from joined(sections(_read(path)))


def sections(source: str) -> Iterator[Section]:
    """The blocks of an HTML page or of a piece of one."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    try:
        root = etree.fromstring(source.encode("utf-8", errors="replace"), parser)
    except etree.XMLSyntaxError as error:
        if is_blank(_TAGS.sub("", source)):
            return
        raise CorruptFile("The HTML page is damaged and cannot be read; save it again.") from error
    if root is None:  # pyright: ignore[reportUnnecessaryComparison] - lxml does so for a page of blanks
        return
    if any("depth" in entry.message for entry in parser.error_log):
        raise CorruptFile(
            "The HTML page nests its elements too deeply to be read; save its text in another format."
        )
    yield from _walk(root)


def _walk(root: _Element) -> Iterator[Section]:
    """Event by event, not by recursion: pages nest deeper than the interpreter's stack."""
    page = _Page()
    events = etree.iterwalk(root, events=("start", "end"))
    for event, element in events:
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "end":
            yield from _leave(page, element, tag)
            page.inline.append(element.tail or "")
            continue
        if (
            _is_unseen(element, tag)
            or tag in _HEADINGS
            or tag == "pre"
            or (tag == "table" and _is_data(element))
        ):
            yield from page.flush()
            yield from _whole(page, element, tag)
            # The tail of a skipped element comes with its end event.
            events.skip_subtree()
        else:
            yield from _enter(page, element, tag)


def _enter(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    if tag == "br":
        page.inline.append("\v")
    elif tag == "li":
        yield from page.flush()
        page.begins_item = True
    elif tag in _BLOCKS:
        yield from page.flush()
        page.item_depth += tag in {"ul", "ol"}
    page.inline.append(element.text or "")


def _leave(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    if tag in _BLOCKS or tag == "li":
        if not _is_unseen(element, tag):
            yield from page.flush()
        page.item_depth -= tag in {"ul", "ol"}


def _whole(page: _Page, element: _Element, tag: str) -> Iterator[Section]:
    """A block that is taken as one: a heading, a table, code, or nothing at all."""
    if _is_unseen(element, tag):
        page.item_depth += tag in {"ul", "ol"}
    elif tag == "pre":
        yield page.section("".join(_texts(element)), "code")
    elif tag == "table":
        rows = [
            [one_line("".join(_texts(cell))) for cell in row.iter("td", "th")] for row in element.iter("tr")
        ]
        yield from (page.section("".join(_texts(caption)), "prose") for caption in element.iter("caption"))
        yield page.section(table_text(rows), "table")
    else:
        text = one_line("".join(_texts(element)))
        if text:
            page.path = entered(page.path, _HEADINGS[tag], text)
            yield page.section(text, "prose")


def _texts(element: _Element) -> Iterator[str]:
    """All text inside, without what is not seen; blocks divided by a blank."""
    events = etree.iterwalk(element, events=("start", "end"))
    for event, inner in events:
        tag = inner.tag if isinstance(inner.tag, str) else ""
        if event == "start":
            if _is_unseen(inner, tag):
                events.skip_subtree()
            else:
                yield "\n" if tag == "br" else " " if tag in _BLOCKS or tag == "li" else ""
                yield inner.text or ""
        elif inner is not element:
            yield inner.tail or ""


def _is_unseen(element: _Element, tag: str) -> bool:
    return (
        tag in _UNSEEN
        or element.get("hidden") is not None
        or element.get("role") == "navigation"
        or _HIDDEN.search(element.get("style") or "") is not None
    )


def _is_data(table: _Element) -> bool:
    """A table of facts, not one that only lays out the page: nothing large inside, and at least two cells in a row."""
    if next(table.iterdescendants("table", "h1", "h2", "h3", "ul", "ol", "pre"), None) is not None:
        return False
    return any(sum(1 for _ in row.iterchildren("td", "th")) > 1 for row in table.iter("tr"))


def _read(path: Path) -> str:
    """The page's text by its byte order mark, else what it declares in a meta element, else what the bytes suggest."""
    content = path.read_bytes()[:_LARGEST]
    encoding = encoding_of(path) or "utf-8"
    declared = _DECLARED.search(content[:4096])
    if declared is not None and encoding not in {"utf-16", "utf-32", "utf-8-sig", "utf-16-le", "utf-16-be"}:
        try:
            return content.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            # A wrong declaration is common; the bytes know better.
            return content.decode(encoding, errors="replace")
    return content.decode(encoding, errors="replace")
