"""HTML by lxml: headings, paragraphs, lists, tables and code of what a reader sees, without scripts, menus and banners."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lxml import etree

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._encoding import opened_markup
from rag_engine.parsers._html.unseen import Strictness
from rag_engine.parsers._html.walk import walk
from rag_engine.parsers._sections import is_blank, joined, one_line
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage] - the only name lxml has for it

__all__ = ["parse", "sections", "walk"]

# What is opened and never closed ends with the page: looking for its end again and again would take forever.
_TAGS: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
_WRAPPERS: Final = re.compile(r"</?(?:div|span|font|b|i|u|em|strong|center|section|blockquote)\b[^>]*>", re.I)
_ENDS: Final = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
_LARGEST: Final = 48 << 20
"""Characters: the tree of a larger page would not fit the worker's memory."""
_LEAST_SHARE: Final = 0.2
"""When less of a page's words is left, the rules about what is no content did not fit it."""
_SHORT: Final = 200


def parse(path: Path) -> Iterator[Section]:
    """Sections by heading, anchored "§ Heading". Raises `UnsupportedFile` for a page that only shows others in frames."""
    with path.open("rb") as file:
        content = file.read(_LARGEST)
        cut = bool(file.read(1))
    source = content.decode(opened_markup(path), errors="replace")
    root = _tree(source)
    if root is not None and next(root.iter("frameset"), None) is not None and _is_empty(_tree(source)):
        raise UnsupportedFile("The page only shows other pages in frames; add those pages instead.")
    yield from joined(_checked(root, source, titled=True))
    if cut:
        yield Section(text=f"Only the first {_LARGEST >> 20} MB of the page were read.", kind="notice")


def sections(source: str) -> Iterator[Section]:
    """The blocks of an HTML page or of a piece of one."""
    yield from _checked(_tree(source), source, titled=False)


def _checked(root: _Element | None, source: str, *, titled: bool) -> Iterator[Section]:
    """What a reader sees; nearly nothing being left, more and more of the rest as well."""
    if root is None:
        yield from _stripped(source)
        return
    title = _title(root) if titled else ""
    found: list[Section] = []
    for strictness in (Strictness.BOILERPLATE, Strictness.HIDDEN, Strictness.CODE):
        tree = root if strictness == Strictness.BOILERPLATE else _tree(source)
        if tree is None:
            break
        whole = _words(tree)
        found = list(walk(tree, strictness=strictness, title=title))
        kept = sum(len(section.text) for section in found) - len(title)
        if kept >= min(whole * _LEAST_SHARE, _SHORT * 5) and (kept > 0 or not whole):
            break
    yield from found


def _words(root: _Element) -> int:
    """Characters of the page that are no code."""
    body = root.find("body")
    code = sum(
        len("".join(element.itertext())) for element in root.iter("script", "style", "template", "svg")
    )
    return max(sum(len(text.strip()) for text in (root if body is None else body).itertext()) - code, 0)


def _title(root: _Element) -> str:
    """The page's title, where no heading says it."""
    if next(root.iter("h1"), None) is not None:
        return ""
    return one_line(root.findtext("head/title") or "")


def _is_empty(root: _Element | None) -> bool:
    return root is None or is_blank("".join(section.text for section in walk(root)))


def _tree(source: str) -> _Element | None:
    """The page's elements; None when it has none, or nests them too deeply for the library even without mere wrappers."""
    # Where a word may be broken is no part of it.
    source = source.replace("&shy;", "").replace("\u00ad", "")
    # The library ends with the first page of several put one after the other.
    source = _ENDS.sub(" ", source)
    for attempt in (source, None):
        text = _WRAPPERS.sub(" ", source) if attempt is None else attempt
        parser = etree.HTMLParser(
            encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
        )
        try:
            root = etree.fromstring(text.encode("utf-8", errors="replace"), parser)
        except etree.XMLSyntaxError:
            return None
        if root is None:  # pyright: ignore[reportUnnecessaryComparison] - lxml does so for a page of blanks
            return None
        if not any("depth" in entry.message for entry in parser.error_log):
            return root
    return None


def _stripped(source: str) -> Iterator[Section]:
    """The words between the tags of a page that cannot be taken apart."""
    for line in _TAGS.sub("\n", source).splitlines():
        if not is_blank(line):
            yield Section(text=line.strip())
