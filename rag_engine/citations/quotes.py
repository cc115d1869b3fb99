"""The words of a passage that best support a claim: whole sentences or one table row, verbatim."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag_engine.citations.numbers import figures, missing
from rag_engine.citations.wording_similarity import Weights, WordingSimilarity
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.sentences import split_sentences
from rag_engine.text.table_anchors import table_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Chunk

LONGEST_QUOTE: Final = 300
_SHORTEST_UNIT: Final = 12
_IDEOGRAPH_WEIGHT: Final = 3
_GAIN: Final = 0.12
"""Share of a claim that a neighbouring sentence must add to be quoted."""
_ROW: Final = lazy(lambda: re.compile(r"[^\n]+"))
_WHOLE_END: Final = lazy(lambda: re.compile(r"[^\w.,-]|[.,-](?:\W|$)|$"))
_WORD: Final = lazy(lambda: re.compile(r"[\u2e80-\uffff]|\w+"))


def units(chunk: Chunk) -> list[tuple[int, int]]:
    """The places of sentences or table rows."""
    if chunk.kind == "table":
        return [match.span() for match in _ROW.finditer(chunk.text) if match[0].strip()]
    found: list[tuple[int, int]] = []
    start = 0
    for sentence in split_sentences(chunk.text):
        end = start + len(sentence)
        begin = start + len(sentence) - len(sentence.lstrip())
        last = start + len(sentence.rstrip())
        if last > begin:
            if found and _joins(chunk.text, found[-1], begin):
                begin = found.pop()[0]
            found.append((begin, last))
        start = end
    return found


def _joins(text: str, unit: tuple[int, int], begin: int) -> bool:
    start, end = unit
    weight = sum(
        _IDEOGRAPH_WEIGHT if sign >= "\u2e80" else 1
        for sign in text[start : min(end, start + _SHORTEST_UNIT)]
    )
    return weight < _SHORTEST_UNIT and "\n" not in text[end:begin]


def quote(chunk: Chunk, claims: Sequence[str]) -> str:
    """At most 300 characters of the chunk's text."""
    places = units(chunk)
    if not places:
        return ""
    claim = " ".join(claims)
    wordings = [WordingSimilarity.of(chunk.text[start:end], language=chunk.language) for start, end in places]
    wanted = WordingSimilarity.of(claim, language=chunk.language)
    weights = Weights(wordings)
    scores = [
        weights.overlap(wanted, wording) + _shared_figures(claim, chunk.text[start:end])
        for wording, (start, end) in zip(wordings, places, strict=True)
    ]
    best = max(range(len(places)), key=lambda index: (scores[index], -index))
    if chunk.kind == "table" and scores[best] > 0:
        return _cut(chunk.text[slice(*places[best])], claim)
    first = last = best
    while True:
        grown = _grown(chunk, places, claims=wanted, weights=weights, first=first, last=last)
        if grown is None:
            break
        first, last = grown
    return _cut(chunk.text[places[first][0] : places[last][1]], claim)


def place(chunk: Chunk, claims: Sequence[str]) -> str:
    """The anchor of the rows that state the claims if each claim matches one row; else the chunk's."""
    lines = table_lines(chunk.anchor, chunk.text) if chunk.kind == "table" else None
    if lines is None or not claims:
        return chunk.anchor
    rows = chunk.text.split("\n")
    found = [_said_row(rows, claim, lines.header_lines) for claim in claims]
    said = [row for row in found if row is not None]
    if len(said) < len(found):
        return chunk.anchor
    return lines.anchor(min(said), max(said)) or chunk.anchor


def _said_row(rows: Sequence[str], claim: str, first: int) -> int | None:
    said = f" {' '.join(claim.split())} "
    shares = [sum(len(cell) for cell in cells if _is_said(cell, said)) for cells in map(_cells, rows[first:])]
    best = max(shares, default=0)
    if not best or shares.count(best) > 1:
        return None
    row = first + shares.index(best)
    elsewhere = set(missing(claim, [rows[row]])) - set(missing(claim, rows[first:]))
    return None if elsewhere else row


def _cells(row: str) -> list[str]:
    return [" ".join(cell.split()) for cell in row.split(" | ") if cell.strip()]


def _is_said(cell: str, said: str) -> bool:
    """Whether the claim contains the whole cell: "12" is not in "12.5"."""
    start = said.find(cell)
    while start >= 0:
        before, after = said[start - 1], said[start + len(cell) : start + len(cell) + 2]
        if not (before.isalnum() or before in "-.,") and _WHOLE_END.match(after):
            return True
        start = said.find(cell, start + 1)
    return False


def _shared_figures(claim: str, unit: str) -> float:
    stated = figures(claim)
    return 0.5 * (1 - len(missing(claim, [unit])) / len(set(stated))) if stated else 0.0


def _grown(
    chunk: Chunk,
    places: list[tuple[int, int]],
    *,
    claims: WordingSimilarity,
    weights: Weights,
    first: int,
    last: int,
) -> tuple[int, int] | None:
    now = weights.overlap(claims, _wording(chunk, places, first, last))
    options = [
        (weights.overlap(claims, _wording(chunk, places, *option)), option)
        for option in ((first, last + 1), (first - 1, last))
        if option[0] >= 0
        and option[1] < len(places)
        and places[option[1]][1] - places[option[0]][0] <= LONGEST_QUOTE
    ]
    gain, option = max(options, default=(0.0, (first, last)))
    return option if gain >= now + _GAIN else None


def _wording(chunk: Chunk, places: list[tuple[int, int]], first: int, last: int) -> WordingSimilarity:
    return WordingSimilarity.of(chunk.text[places[first][0] : places[last][1]], language=chunk.language)


def _cut(text: str, claim: str) -> str:
    if len(text) <= LONGEST_QUOTE:
        return text
    said = {word.casefold() for word in _WORD.findall(claim)}
    words = [match.span() for match in _WORD.finditer(text)]
    hits = [text[start:end].casefold() in said for start, end in words]
    best, best_count, count, right = 0, -1, 0, 0
    for left, (start, _) in enumerate(words):
        while right < len(words) and words[right][1] - start <= LONGEST_QUOTE:
            count += hits[right]
            right += 1
        if count > best_count:
            best, best_count = left, count
        count -= hits[left] if right > left else 0
        right = max(right, left + 1)
    start = words[best][0] if words else 0
    cut = text[start : start + LONGEST_QUOTE]
    if start + LONGEST_QUOTE < len(text) and text[start + LONGEST_QUOTE].isalnum() and " " in cut:
        cut = cut[: cut.rindex(" ")]
    return cut.strip()
