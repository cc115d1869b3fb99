from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

import regex

from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rag_engine.types import Section, SectionKind

CHARACTERS_PER_TOKEN = 16
"""Least weight: blanks and unknown words cannot grow a chunk without limit."""

_WINDOW = 16_384
_GRAPHEME_HORIZON = 256
_HEADING_CHARACTERS = 70
_CLAUSE = re.compile(r"[,;:)\]](?=\s)\s*|[，、；：）】」』]")
_SPACE = re.compile(r"\s+")
_GRAPHEME = regex.compile(r"\X")

Weigh: TypeAlias = "Callable[[str], int]"


class Boundary(IntEnum):
    GRAPHEME = 0
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5
    SECTION = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """`weight` is its tokens without special ones."""

    text: str
    weight: int
    boundary: Boundary
    kind: SectionKind


def section_pieces(section: Section, *, weigh: Weigh, capacity: int) -> Iterator[Piece]:
    """At most `capacity`, but for a single character."""
    for text, boundary in _CUTS[section.kind](section.text):
        yield from _fitting(text, boundary, section.kind, weigh, capacity)


def halves(piece: Piece, weigh: Weigh) -> tuple[Piece, Piece] | None:
    text = piece.text
    if len(text) < 2:
        return None
    middle = len(text) // 2
    cut = text.rfind("\n", 1, middle) + 1 or _last_space(text, 1, middle) or _grapheme_cut(text, 0, middle)
    cut = cut if 0 < cut < len(text) else middle
    boundary = Boundary.LINE if text[cut - 1] == "\n" else _boundary_inside(text[:cut])
    first = replace(piece, text=text[:cut], weight=weigh(text[:cut]), boundary=boundary)
    return first, replace(piece, text=text[cut:], weight=weigh(text[cut:]))


def _prose(text: str) -> Iterator[tuple[str, Boundary]]:
    before = Boundary.SECTION
    for window in _windows(text):
        for sentence in split_sentences(window):
            boundary = _boundary_after(sentence)
            if before >= Boundary.PARAGRAPH and _announces(sentence):
                boundary = Boundary.CLAUSE
            yield sentence, boundary
            before = _boundary_after(sentence)


def _list(text: str) -> Iterator[tuple[str, Boundary]]:
    for line, following in _lines(text):
        nested = following.isspace()
        for sentence, boundary in _prose(line):
            yield sentence, Boundary.SENTENCE if nested else boundary


def _table(text: str) -> Iterator[tuple[str, Boundary]]:
    for line, _following in _lines(text):
        yield line, Boundary.LINE


def _code(text: str) -> Iterator[tuple[str, Boundary]]:
    for line, following in _lines(text):
        outermost = not following.isspace() and following not in {")", "]", "}"}
        if line.isspace():
            yield line, Boundary.PARAGRAPH if outermost else Boundary.LINE
        else:
            yield line, Boundary.LINE if outermost else Boundary.CLAUSE


_CUTS: dict[SectionKind, Callable[[str], Iterator[tuple[str, Boundary]]]] = {
    "prose": _prose,
    "list": _list,
    "table": _table,
    "code": _code,
}


def _lines(text: str) -> Iterator[tuple[str, str]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end], text[end : end + 1]
        start = end


def _windows(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _WINDOW:
        end, earliest = start + _WINDOW, start + _WINDOW // 2
        cut = text.rfind("\n\n", earliest, end) + 2
        if cut < 2:
            cut = text.rfind("\n", earliest, end) + 1 or _last_space(text, earliest, end)
        cut = cut or _grapheme_cut(text, end - _GRAPHEME_HORIZON, end)
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def _announces(paragraph: str) -> bool:
    text = paragraph.rstrip()
    return text[-1:] in set(":：") or (len(text) <= _HEADING_CHARACTERS and text[-1:].isalnum())


def _boundary_after(sentence: str) -> Boundary:
    feeds = sentence.count("\n", len(sentence.rstrip()))
    return Boundary.SENTENCE if feeds == 0 else Boundary.LINE if feeds == 1 else Boundary.PARAGRAPH


def _fitting(
    text: str, boundary: Boundary, kind: SectionKind, weigh: Weigh, capacity: int
) -> Iterator[Piece]:
    if len(text) <= capacity * CHARACTERS_PER_TOKEN:
        weight = weigh(text)
        if weight <= capacity:
            yield Piece(text=text, weight=weight, boundary=boundary, kind=kind)
            return
    start = 0
    while start < len(text):
        end = _fragment_end(text, start, max(16, capacity // 4))
        fragment = text[start:end]
        ending = boundary if end == len(text) else _boundary_inside(fragment)
        piece = Piece(text=fragment, weight=weigh(fragment), boundary=ending, kind=kind)
        yield from _light_enough(piece, weigh, capacity)
        start = end


def _light_enough(piece: Piece, weigh: Weigh, capacity: int) -> Iterator[Piece]:
    pair = halves(piece, weigh) if piece.weight > capacity else None
    if pair is None:
        yield piece
        return
    for half in pair:
        yield from _light_enough(half, weigh, capacity)


def _fragment_end(text: str, start: int, span: int) -> int:
    end = start + span
    if end >= len(text):
        return len(text)
    clauses = [match.end() for match in _CLAUSE.finditer(text, start + span // 2, end)]
    return (clauses[-1] if clauses else 0) or _last_space(text, start, end) or _grapheme_cut(text, start, end)


def _boundary_inside(fragment: str) -> Boundary:
    body = fragment.rstrip()
    if body[-1:] in set("，、；：）】」』") or (len(body) < len(fragment) and body[-1:] in set(",;:)]")):
        return Boundary.CLAUSE
    return Boundary.WORD if len(body) < len(fragment) else Boundary.GRAPHEME


def _last_space(text: str, start: int, end: int) -> int:
    last = 0
    for match in _SPACE.finditer(text, start, end):
        last = match.end()
    return last


def _grapheme_cut(text: str, start: int, end: int) -> int:
    # The library looks for flag pairs from the beginning of the text.
    nearby = text[start : end + _GRAPHEME_HORIZON]
    last = 0
    for match in _GRAPHEME.finditer(nearby):
        if match.end() > end - start:
            if last == 0 and match.end() < len(nearby):
                return start + match.end()
            break
        last = match.end()
    return start + last if last else end
