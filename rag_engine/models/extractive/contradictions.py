"""Sentences of several files that give different figures for the same thing, the newer first."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from rag_engine.citations.stated_facts import unheld
from rag_engine.citations.stated_numbers import spelled_number
from rag_engine.text.language.months import months
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.models.extractive.sentence_scores import Scored
    from rag_engine.types import Chunk, DocumentId, Hit

Difference = Literal["", "differ", "differ_undated"]

_ALIKE = 0.5
_MOST_FIGURES = 2
_YEAR = lazy(lambda: re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"))
_LABEL = lazy(lambda: re.compile(r"\b([^\W\d_a-zß-öø-ÿ]\w+) (\d+)(?=\W*$|[:,;.)]|\s*[–-])"))


def newest_first(
    chosen: Sequence[Scored], passages: Sequence[Hit], dates: Mapping[DocumentId, str]
) -> tuple[list[Scored], Difference]:
    """`dates` are ISO dates of files; a year in a title or heading also dates its file."""
    chunks = [passages[item.candidate.passage].chunk for item in chosen]
    places = range(len(chosen))
    differing = {
        place
        for one, other in combinations(places, 2)
        if _differ(chosen[one], chosen[other], chunks[one], chunks[other])
        for place in (one, other)
    }
    if not differing:
        return list(chosen), ""
    known = {place: _date(chunks[place], dates) for place in differing}
    if not all(known.values()) or len(set(known.values())) == 1:
        return list(chosen), "differ_undated"
    newest = iter(sorted(differing, key=lambda place: known[place], reverse=True))
    return [chosen[next(newest) if place in differing else place] for place in places], "differ"


def _differ(item: Scored, other: Scored, of_item: Chunk, of_other: Chunk) -> bool:
    if of_item.document == of_other.document or item.candidate.cells or other.candidate.cells:
        return False
    words, others = _words(item), _words(other)
    if not words or len(words & others) < _ALIKE * len(words | others):
        return False
    texts = item.candidate.text, other.candidate.text
    if _labels(texts[0]) != _labels(texts[1]):
        return False
    first, second = (
        _unlike(text, than, chunk.language)
        for text, than, chunk in ((*texts, of_item), (*texts[::-1], of_other))
    )
    return _is_difference(first) and _is_difference(second) and not (first[1] and second[1])


def _words(item: Scored) -> frozenset[str]:
    return frozenset(token for token in item.tokens if token[:1].isalpha() and not spelled_number(token))


def _labels(text: str) -> frozenset[str]:
    return frozenset(f"{word} {number}" for word, number in _LABEL.findall(text) if not months(word))


def _unlike(text: str, than: str, language: str) -> tuple[list[str], list[str]]:
    facts = [fact for fact in unheld(text, [than], language=language) if not _YEAR.fullmatch(fact)]
    figures = [fact for fact in facts if _is_figure(fact)]
    return figures, [fact for fact in facts if fact not in figures]


def _is_figure(fact: str) -> bool:
    return any(sign.isdigit() or spelled_number(sign) for sign in fact) or bool(
        spelled_number(fact) or months(fact)
    )


def _is_difference(unlike: tuple[list[str], list[str]]) -> bool:
    return 0 < len(unlike[0]) <= _MOST_FIGURES


def _date(chunk: Chunk, dates: Mapping[DocumentId, str]) -> str:
    years = _YEAR.findall(" ".join((chunk.title, *chunk.headings)))
    return max(years) if years else dates.get(chunk.document, "")
