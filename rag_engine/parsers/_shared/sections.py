from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.errors import EmptyDocument
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag_engine.types import Section

HeadingPath: TypeAlias = tuple[tuple[float, str], ...]
"""With levels, outermost first; level 1 is above level 2."""

LARGEST = 8_000

NO_TEXT = "The file has no text in it, so there is nothing to search."

_LINE_ENDS = lazy(lambda: re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]"))
# These characters break databases, JSON or search.
_UNWANTED = lazy(
    lambda: re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\ud800-\udfff\ufeff\ufffe\uffff]")
)
_ODD = lazy(lambda: re.compile(f"{_LINE_ENDS.pattern}|{_UNWANTED.pattern}"))
_INVISIBLE = lazy(
    lambda: re.compile("[\\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]+")
)
_SEPARATORS = {"prose": "\n\n", "list": "\n", "code": "\n\n", "table": "\n", "notice": "\n"}


def clean(text: str) -> str:
    if text.replace("\n", "").isprintable() or _ODD.search(text) is None:
        return text
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))


def is_blank(text: str) -> bool:
    return _INVISIBLE.fullmatch(text) is not None or not text


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def section_anchor(headings: tuple[str, ...]) -> str:
    return f"§ {headings[-1]}" if headings else ""


def entered(path: HeadingPath, level: float, title: str) -> HeadingPath:
    return (*(above for above in path if above[0] < level), (level, one_line(title)))


def titles(path: HeadingPath) -> tuple[str, ...]:
    return tuple(title for _, title in path)


def joined(blocks: Iterable[Section], *, no_text: str = NO_TEXT) -> Iterator[Section]:
    """Joins neighbours of one place and kind up to `LARGEST`. Raises `EmptyDocument` with `no_text` if none had text."""
    pending: list[Section] = []
    size = 0
    found = False
    for block in blocks:
        for piece in _pieces(_cleaned(block)):
            found = found or piece.kind != "notice"
            if pending and not (_belong_together(pending[-1], piece) and size + len(piece.text) < LARGEST):
                yield _merged(pending)
                pending, size = [], 0
            pending.append(piece)
            size += len(piece.text) + len(_SEPARATORS[piece.kind])
    if pending:
        yield _merged(pending)
    if not found:
        raise EmptyDocument(no_text)


def _cleaned(block: Section) -> Section:
    text = clean(block.text)
    # Indentation has a meaning in code and lists, an empty first cell in tables.
    text = text.strip() if block.kind == "prose" else text.strip("\n").rstrip()
    headings = _clean_headings(block.headings)
    return replace(block, text=text, anchor=_clean_anchor(block.anchor), headings=headings)


@functools.lru_cache(maxsize=64)
def _clean_headings(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(heading for heading in map(one_line, headings) if heading)


@functools.lru_cache(maxsize=64)
def _clean_anchor(anchor: str) -> str:
    return one_line(anchor)


def _belong_together(first: Section, second: Section) -> bool:
    return (
        first.kind == second.kind not in {"table", "notice"}
        and first.anchor == second.anchor
        and first.headings == second.headings
    )


def _merged(sections: list[Section]) -> Section:
    if len(sections) == 1:
        return sections[0]
    return replace(sections[0], text=_SEPARATORS[sections[0].kind].join(section.text for section in sections))


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
        grid = replace(block.grid, rows=()) if block.grid and number else block.grid
        yield replace(block, text=header + text if number else text, grid=grid)


def _cut(text: str, longest: int) -> Iterator[str]:
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
