from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnsupportedFile
from rag_engine.parsers._properties import web
from rag_engine.parsers._shared.encoding import markup_encoding
from rag_engine.parsers._shared.sections import is_blank, joined, one_line
from rag_engine.parsers.texts._html.hidden_elements import Strictness
from rag_engine.parsers.texts._html.page_tree import LARGEST, page_tree
from rag_engine.parsers.texts._html.walk import walk
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

SUFFIXES: Final = "htm xhtml xht shtml"
CONTENT: Final = "text"

__all__ = ["parse", "properties", "sections", "walk"]

properties: Final = web.page

# An unclosed comment extends to the end: linear time.
_TAGS: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
_LEAST_SHARE: Final = 0.2
"""If fewer of the words remain, the boilerplate rules do not fit."""
_SHORT: Final = 200


def parse(path: Path) -> Iterator[Section]:
    """Anchored "§ Heading". Raises `UnsupportedFile` for a frameset."""
    with path.open("rb") as file:
        content = file.read(LARGEST)
        cut = bool(file.read(1))
    source = content.decode(markup_encoding(path), errors="replace")
    root = page_tree(source)
    if root is not None and next(root.iter("frameset"), None) is not None and _is_empty(page_tree(source)):
        raise UnsupportedFile("The page only shows other pages in frames; add those pages instead.")
    yield from joined(_visible_sections(root, source, titled=True))
    if cut:
        yield Section(text=f"Only the first {LARGEST >> 20} MB of the page were read.", kind="notice")


def sections(source: str) -> Iterator[Section]:
    yield from _visible_sections(page_tree(source), source, titled=False)


def _visible_sections(root: _Element | None, source: str, *, titled: bool) -> Iterator[Section]:
    if root is None:
        yield from _text_between_tags(source)
        return
    title = _title(root) if titled else ""
    found: list[Section] = []
    for strictness in (Strictness.BOILERPLATE, Strictness.HIDDEN, Strictness.CODE):
        tree = root if strictness == Strictness.BOILERPLATE else page_tree(source)
        if tree is None:
            break
        whole = _text_size(tree)
        found = list(walk(tree, strictness=strictness, title=title))
        size = len(_content(found)) - len(title)
        if size >= min(whole * _LEAST_SHARE, _SHORT * 5) and (size > 0 or not whole):
            break
    yield from found


def _text_size(root: _Element) -> int:
    body = root.find("body")
    code = sum(
        len("".join(element.itertext())) for element in root.iter("script", "style", "template", "svg")
    )
    return max(sum(len(text.strip()) for text in (root if body is None else body).itertext()) - code, 0)


def _title(root: _Element) -> str:
    if next(root.iter("h1"), None) is not None:
        return ""
    return one_line(root.findtext("head/title") or "")


def _is_empty(root: _Element | None) -> bool:
    return root is None or is_blank(_content(walk(root)))


def _content(sections: Iterable[Section]) -> str:
    return "".join(section.text for section in sections if section.kind != "notice")


def _text_between_tags(source: str) -> Iterator[Section]:
    for line in _TAGS.sub("\n", source).splitlines():
        if not is_blank(line):
            yield Section(text=line.strip())
