"""Pure: from a parser's raw blocks to clean sections of a sensible size."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.errors import EmptyDocument
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST = 8_000
"""Characters of the longest section: a document without headings must not become one huge section in memory."""

NO_TEXT = "The file has no text in it, so there is nothing to search."

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Control characters, lone surrogates, byte order marks and noncharacters: databases, JSON and terminals choke on them.
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_INVISIBLE = re.compile("[\\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]+")
_SEPARATORS = {"prose": "\n\n", "list": "\n", "code": "\n\n", "table": "\n"}


def clean(text: str) -> str:
    """The same words with plain line ends and without characters that no person typed."""
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))


def is_blank(text: str) -> bool:
    """True when nothing in `text` can be seen."""
    return _INVISIBLE.fullmatch(text) is not None or not text


def one_line(text: str) -> str:
    """`text` on one line, blanks collapsed: for headings, anchors and cells."""
    return " ".join(clean(text).split())


def section_anchor(headings: tuple[str, ...]) -> str:
    """The anchor of formats that have headings but no pages: the innermost heading."""
    return f"§ {headings[-1]}" if headings else ""


def under(headings: tuple[str, ...], level: int, heading: str) -> tuple[str, ...]:
    """The path after a heading of `level` (from 1) below the path so far; a skipped level leaves no gap."""
    return (*headings[: max(level - 1, 0)], one_line(heading))


def joined(blocks: Iterable[Section], *, no_text: str = NO_TEXT) -> Iterator[Section]:
    """Clean blocks, neighbours of one place and kind put together, none longer than `LARGEST`.

    Raises `EmptyDocument` with `no_text` at the end when no block had text. Tables stay apart from each other.
    """
    pending: Section | None = None
    found = False
    for block in blocks:
        for piece in _pieces(_cleaned(block)):
            found = True
            if pending is not None and _belong_together(pending, piece):
                pending = replace(pending, text=pending.text + _SEPARATORS[piece.kind] + piece.text)
                continue
            if pending is not None:
                yield pending
            pending = piece
    if pending is not None:
        yield pending
    if not found:
        raise EmptyDocument(no_text)


def _cleaned(block: Section) -> Section:
    text = clean(block.text)
    text = text.strip("\n").rstrip() if block.kind == "code" else text.strip()
    headings = tuple(heading for heading in map(one_line, block.headings) if heading)
    return Section(text=text, anchor=one_line(block.anchor), headings=headings, kind=block.kind)


def _belong_together(first: Section, second: Section) -> bool:
    return (
        first.kind == second.kind != "table"
        and first.anchor == second.anchor
        and first.headings == second.headings
        and len(first.text) + len(second.text) < LARGEST
    )


def _pieces(block: Section) -> Iterator[Section]:
    if is_blank(block.text):
        return
    if len(block.text) <= LARGEST:
        yield block
        return
    header = block.text.partition("\n")[0] + "\n" if block.kind == "table" else ""
    if len(header) > LARGEST // 4:
        header = ""
    for number, text in enumerate(_cut(block.text, LARGEST - len(header))):
        yield replace(block, text=text if number == 0 else header + text)


def _cut(text: str, longest: int) -> Iterator[str]:
    """`text` in parts of at most `longest` characters, cut at the last line end, else blank, else anywhere."""
    start = 0
    while len(text) - start > longest:
        end = start + longest
        for separator in ("\n", " "):
            found = text.rfind(separator, start + longest // 2, end)
            if found > 0:
                end = found
                break
        part = text[start:end].strip("\n")
        if not is_blank(part):
            yield part
        start = end
    rest = text[start:].strip("\n")
    if not is_blank(rest):
        yield rest
