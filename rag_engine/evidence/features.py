"""How well the passages fit a question, as the numbers that `calibration` weighs. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.evidence.answer_kinds import asked_kind, holds
from rag_engine.evidence.question import is_unspaced, month_forms, terms
from rag_engine.text.analyzer import tokens
from rag_engine.text.chunk_text import searchable_header, searchable_text
from rag_engine.text.language import detect
from rag_engine.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.evidence.question import Term
    from rag_engine.types import Chunk, ChunkId, Hit, Ranking

_READ: Final = 6
"""Passages read closely."""
_POOLED: Final = 40
"""Hits of each ranking that show how rare a word is."""
_IMAGINED: Final = 20
"""Further texts without the question's words: a word in all of a few hits does not count as common."""
_PARAPHRASED: Final = 2
"""A plain word in fewer hits is no rarer: people use other words than their files."""
_FEW: Final = 40
"""Hits of which the standing out of the best is half believed."""
_TYPICAL_LEAD: Final = 0.6
_LARGEST_LEAD: Final = 1.5
_TYPICAL_CLOSENESS: Final = 0.5
_LARGEST_DISTANCE: Final = 0.3
_TENTH: Final = 9
_INFLECTED: Final = 0.7
_SAME_STEM: Final = 0.6
_SHORTEST_STEM: Final = 5
_LONGEST_READ: Final = 4_000
"""Characters of a passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Shares are of the question's words, weighted by how rare they are among the hits."""

    coverage: float
    """The share in the best passage."""
    window: float
    """The share in two neighbouring sentences or rows of it."""
    names_missing: float
    """The share of the question's names that the best passage lacks."""
    figures_missing: float
    """The same of numbers, dates and codes."""
    absent: float
    """The share that no hit holds."""
    lead: float
    """How far the best lexical score is above the tenth, less what is typical; 0 for a few hits."""
    closeness: float
    """The best cosine, 0 for unrelated texts and 1 for equal ones, less what is typical; 0 if the embedder does not know the language."""
    kind_missing: float
    """1 if the passage has no number, date, amount or person where one is asked for; 0.5 if only far from the words."""
    unspaced: float
    """1 if the question is in a script without blanks, whose characters are compared in place of words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The features with what they rest on."""

    features: Features
    unmentioned: tuple[str, ...]
    """The names and figures of the question that no passage read holds."""
    is_crosslingual: bool
    """Whether the best passage is in another language than the question; words then say little."""
    reach: float
    """The best cosine from 0 (unrelated texts) to 1, as far as the embedder knows the language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    chunk: Chunk
    found: tuple[float, ...]
    """For each term how surely it is there, 0 to 1."""
    coverage: float
    cosine: float


def read(
    question: str, hits: Sequence[Hit], rankings: Sequence[Ranking], *, familiarity: float, contrast: float
) -> Reading | None:
    """None if there is nothing to judge: no hits, or no telling words in the question."""
    asked = terms(question)
    if not asked or not hits:
        return None
    weights, absent = _weights(asked, rankings)
    cosines = {
        hit.chunk.id: hit.score for ranking in rankings if ranking.leg == "dense" for hit in ranking.hits
    }
    passages = [_passage(hit, asked, weights, cosines) for hit in hits[:_READ]]
    best = max(passages, key=lambda passage: passage.coverage + 0.5 * familiarity * passage.cosine)
    window, nearby = _window(best.chunk, asked, weights)
    language = detect(question)
    closest = 1 - (1 - max(cosines.values(), default=0.0)) / contrast
    return Reading(
        features=Features(
            coverage=best.coverage,
            window=max(window, 0.0),
            names_missing=_missing(asked, best, "name"),
            figures_missing=_missing(asked, best, "figure"),
            absent=absent,
            lead=_lead(rankings),
            closeness=familiarity * max(closest - _TYPICAL_CLOSENESS, -_LARGEST_DISTANCE) if cosines else 0.0,
            kind_missing=_kind_missing(question, best.chunk, nearby),
            unspaced=float(is_unspaced(question)),
        ),
        unmentioned=_unmentioned(asked, passages),
        is_crosslingual=bool(language and best.chunk.language) and language != best.chunk.language,
        reach=familiarity * max(closest, 0.0) if cosines else 0.0,
    )


def _weights(asked: Sequence[Term], rankings: Sequence[Ranking]) -> tuple[list[float], float]:
    """The weight of each term, adding up to 1, and the weight of those in no hit."""
    pool = {hit.chunk.id: hit.chunk for ranking in rankings for hit in ranking.hits[:_POOLED]}
    texts = [searchable_text(chunk).casefold() for chunk in pool.values()]
    counts = [_count(term, texts) for term in asked]
    months_found = [month_forms(text) for text in texts] if any(_is_month(term) for term in asked) else []
    counts = [
        max(count, sum(not term.forms.isdisjoint(found) for found in months_found))
        for term, count in zip(asked, counts, strict=True)
    ]
    rare = [_rarity(term, count, of=len(texts)) for term, count in zip(asked, counts, strict=True)]
    total = sum(rare) or 1.0
    weights = [value / total for value in rare]
    return weights, sum(weight for weight, count in zip(weights, counts, strict=True) if not count)


def _rarity(term: Term, count: int, *, of: int) -> float:
    if term.kind not in {"name", "figure"}:
        count = max(count, _PARAPHRASED)
    return term.weight * math.log(1 + (of + _IMAGINED - count + 0.5) / (count + 0.5))


def _count(term: Term, texts: Sequence[str]) -> int:
    forms = [form for form in term.forms if not form.startswith("\x00")]
    if len(forms) == 1:
        (only,) = forms
        return sum(only in text for text in texts)
    return sum(any(form in text for form in forms) for text in texts)


def _is_month(term: Term) -> bool:
    return any(form.startswith("\x00") for form in term.forms)


def _passage(
    hit: Hit, asked: Sequence[Term], weights: Sequence[float], cosines: Mapping[ChunkId, float]
) -> _Passage:
    text = searchable_text(hit.chunk)[:_LONGEST_READ]
    present = frozenset(tokens(text, language=hit.chunk.language))
    if any(_is_month(term) for term in asked):
        present |= month_forms(text)
    listed = f" {' '.join(present)} "
    found = tuple(_found(term, present, listed) for term in asked)
    return _Passage(
        chunk=hit.chunk,
        found=found,
        coverage=sum(weight * sure for weight, sure in zip(weights, found, strict=True)),
        cosine=cosines.get(hit.chunk.id, min(cosines.values(), default=0.0)),
    )


def _found(term: Term, present: frozenset[str], listed: str) -> float:
    if not term.forms.isdisjoint(present):
        return 1.0
    if term.kind == "figure":
        return 0.0
    long = [form for form in term.forms if len(form) >= _SHORTEST_STEM and form.isalpha()]
    return _INFLECTED if any(_is_related(form, listed) for form in long) else 0.0


def _is_related(form: str, listed: str) -> bool:
    """Whether one of the listed tokens is another inflection of `form`, or a compound that ends in it."""
    if f"{form} " in listed:
        return True
    stem = form[: max(_SHORTEST_STEM - 1, math.ceil(_SAME_STEM * len(form)))]
    start = listed.find(f" {stem}")
    while start >= 0:
        other = listed[start + 1 : listed.find(" ", start + 1)]
        if form.startswith(other) or (other.startswith(form) and len(form) >= _SAME_STEM * len(other)):
            return True
        start = listed.find(f" {stem}", start + 1)
    return False


def _window(chunk: Chunk, asked: Sequence[Term], weights: Sequence[float]) -> tuple[float, str]:
    """The best coverage of two neighbours with the headings, and their text with what stands around it."""
    parts = (
        chunk.text[:_LONGEST_READ].split("\n")
        if chunk.kind == "table"
        else split_sentences(chunk.text[:_LONGEST_READ])
    )
    header = frozenset(tokens(searchable_header(chunk.title, chunk.headings), language=chunk.language))
    if chunk.kind == "table" and parts:
        header |= frozenset(tokens(parts[0], language=chunk.language)) | month_forms(parts[0])
    with_months = any(_is_month(term) for term in asked)
    present = [
        frozenset(tokens(part, language=chunk.language))
        | (month_forms(part) if with_months else frozenset[str]())
        for part in parts
    ]
    best, place = 0.0, 0
    for number, own in enumerate(present):
        near = own | header | (present[number + 1] if number + 1 < len(present) else frozenset[str]())
        share = sum(
            weight for term, weight in zip(asked, weights, strict=True) if not term.forms.isdisjoint(near)
        )
        if share > best:
            best, place = share, number
    return best, " ".join(parts[max(0, place - 1) : place + 3])


def _missing(asked: Sequence[Term], passage: _Passage, kind: str) -> float:
    found = [sure > 0 for term, sure in zip(asked, passage.found, strict=True) if term.kind == kind]
    return 1 - sum(found) / len(found) if found else 0.0


def _unmentioned(asked: Sequence[Term], passages: Sequence[_Passage]) -> tuple[str, ...]:
    return tuple(
        term.text
        for number, term in enumerate(asked)
        if term.kind in {"name", "figure"} and not any(passage.found[number] for passage in passages)
    )


def _lead(rankings: Sequence[Ranking]) -> float:
    lexical = [hit.score for ranking in rankings if ranking.leg == "lexical" for hit in ranking.hits]
    scores = sorted(lexical, reverse=True)
    if len(scores) <= _TENTH or scores[_TENTH] <= 0:
        return 0.0
    trust = len(scores) / (len(scores) + _FEW)
    return trust * (min(math.log(scores[0] / scores[_TENTH]), _LARGEST_LEAD) - _TYPICAL_LEAD)


def _kind_missing(question: str, chunk: Chunk, nearby: str) -> float:
    kind = asked_kind(question)
    if not kind or holds(kind, nearby, question):
        return 0.0
    return 0.5 if holds(kind, searchable_text(chunk)[:_LONGEST_READ], question) else 1.0
