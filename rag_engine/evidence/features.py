from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.evidence.answer_kinds import asked_kind, holds
from rag_engine.evidence.close_sentence import TYPICAL
from rag_engine.evidence.passage_words import LONGEST_READ, PassageWords
from rag_engine.evidence.question import terms
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.evidence.close_sentence import SentenceCosines
    from rag_engine.evidence.passage_words import Pool
    from rag_engine.evidence.question import Term
    from rag_engine.types import Chunk, Hit, Ranking

_READ: Final = 6
"""Passages."""
_IMAGINED: Final = 20
"""A word in all of a few hits does not count as common."""
_PARAPHRASED: Final = 2
_FEW: Final = 40
_TYPICAL_LEAD: Final = 0.6
_LARGEST_LEAD: Final = 1.5
_TYPICAL_CLOSENESS: Final = 0.5
_LARGEST_DISTANCE: Final = 0.3
_SENTENCES_OF, _MOST_SENTENCES, _FOURTH = 4, 60, 3
_TENTH: Final = 9
_RARE_OF_WORD, _TYPICAL_RARE, _MOST_RARE = 0.3, 1.2, 5.0
_FIGURES_FIRST, _NAMES_FIRST = 0.5, 0.2
_NEARLY: Final = 0.1
_INFLECTED: Final = 0.7
_HALF_COMPOUND: Final = 0.5
_COMPOUNDING: Final = frozenset({"de", "nl", "sv", "da", "no"})
_ELSEWHERE: Final = 0.7
_ALONE: Final = 0.5
_SAME_STEM: Final = 0.6
_SHORTEST_STEM: Final = 5
_SHORTEST_HALF: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Shares are of the question's words, weighted by rarity."""

    coverage: float
    """The share in the best passage."""
    names_missing: float
    """That the best passage lacks."""
    figures_missing: float
    """The same of numbers, dates and codes."""
    absent: float
    """The share that no hit holds."""
    lead: float
    """Of the best lexical score over the tenth, less what is typical."""
    agreement: float
    """1 if both legs find the same passage first."""
    closeness: float
    """The best cosine, 0 (unrelated) to 1, less what is typical; 0 in an unknown language."""
    kind_missing: float
    """1 without a number, date, amount or person where one is asked for; 0.5 if far from the words."""
    sentence_lead: float
    """Of the best over the fourth."""
    meaning: float
    """The best cosine of a sentence, less what is typical."""
    meaning_lead: float
    rare_words: float
    """The best lexical score over that of a word in one chunk, less what is typical."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    features: Features
    unmentioned: tuple[str, ...]
    """No passage read holds them."""
    language: str
    """Of the question; empty if unknown."""
    is_crosslingual: bool
    """The best passage is in another language."""
    reach: float
    """The best cosine in another language that the embedder knows, 0 to 1."""
    is_close: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    chunk: Chunk
    found: tuple[float, ...]
    """0 to 1 by term."""
    coverage: float
    cosine: float


def share_mentioned(question: str, rankings: Sequence[Ranking]) -> float:
    """Of its telling words, those that any hit holds; 1 without such words."""
    asked = [term for term in terms(question) if term.kind != "light"]
    texts = PassageWords().pool(rankings).texts
    found = sum(term.weight for term in asked if _is_month(term) or _count(term, texts))
    return found / sum(term.weight for term in asked) if asked else 1.0


def read(
    question: str,
    hits: Sequence[Hit],
    rankings: Sequence[Ranking],
    *,
    familiar: Callable[[str], float],
    contrast: float,
    words: PassageWords,
    said: SentenceCosines | None = None,
) -> Reading | None:
    """None without hits or telling words."""
    asked = terms(question)
    if not asked or not hits:
        return None
    pool, familiarity = words.pool(rankings), familiar(question)
    weights, is_absent = _weights(asked, pool, words)
    passages = [_passage(hit, asked, weights, pool, words) for hit in hits[:_READ]]
    best, kind_missing = _best(question, asked, passages, weights, familiarity, words)
    language = detect(question)
    is_crosslingual = bool(language and best.chunk.language) and language != best.chunk.language
    return Reading(
        features=Features(
            coverage=best.coverage,
            names_missing=_missing(asked, best, "name"),
            figures_missing=_missing(asked, best, "figure"),
            absent=_absent(weights, is_absent, passages),
            lead=_lead(rankings),
            agreement=familiarity * _agreement(rankings),
            closeness=_closeness(pool, familiarity, contrast),
            kind_missing=kind_missing,
            rare_words=_rare_words(rankings, words_asked=len(asked)),
            sentence_lead=_sentence_lead(asked, weights, passages, words) if said else 0.0,
            **_meaning(said or TYPICAL, familiarity),
        ),
        unmentioned=_unmentioned(asked, passages),
        language=language,
        is_crosslingual=is_crosslingual,
        reach=familiarity * _reach(language, passages, familiar, contrast) if is_crosslingual else 0.0,
        is_close=said is not None,
    )


def _closeness(pool: Pool, familiarity: float, contrast: float) -> float:
    if not pool.cosines:
        return 0.0
    closest = 1 - (1 - max(pool.cosines.values())) / contrast
    return familiarity * max(closest - _TYPICAL_CLOSENESS, -_LARGEST_DISTANCE)


def _reach(
    language: str, passages: Sequence[_Passage], familiar: Callable[[str], float], contrast: float
) -> float:
    foreign = (passage for passage in passages if passage.chunk.language not in ("", language))
    nearest = max(foreign, key=lambda passage: passage.cosine)
    return familiar(nearest.chunk.text) * max(1 - (1 - nearest.cosine) / contrast, 0.0)


def _meaning(said: SentenceCosines, familiarity: float) -> dict[str, float]:
    return {
        "meaning": familiarity * (said.best - TYPICAL.best),
        "meaning_lead": familiarity * (said.lead - TYPICAL.lead),
    }


def _best(
    question: str,
    asked: Sequence[Term],
    passages: Sequence[_Passage],
    weights: Sequence[float],
    familiarity: float,
    words: PassageWords,
) -> tuple[_Passage, float]:
    ranked = sorted(
        ((_fit(asked, passage, familiarity), place) for place, passage in enumerate(passages)),
        key=lambda rated: (-rated[0], rated[1]),
    )
    equals = [passages[place] for fit, place in ranked if fit >= ranked[0][0] - _NEARLY]
    lacking = [
        _kind_missing(question, passage.chunk, _nearby(passage, asked, weights, words)) for passage in equals
    ]
    least = lacking.index(min(lacking))
    return _with_other_names(asked, equals[least], passages, weights), lacking[least]


def _with_other_names(
    asked: Sequence[Term], best: _Passage, passages: Sequence[_Passage], weights: Sequence[float]
) -> _Passage:
    """Of two names, each may have its own passage."""
    names = [number for number, term in enumerate(asked) if term.kind == "name"]
    lacking = [number for number in names if not best.found[number]]
    if not lacking or len(lacking) == len(names):
        return best
    if not any(all(each.found[number] == 1 for number in lacking) for each in passages):
        return best
    found = tuple(_ELSEWHERE if number in lacking else sure for number, sure in enumerate(best.found))
    return replace(best, found=found, coverage=sum(map(operator.mul, weights, found)))


def _fit(asked: Sequence[Term], passage: _Passage, familiarity: float) -> float:
    lacking = _FIGURES_FIRST * _missing(asked, passage, "figure") + _NAMES_FIRST * _missing(
        asked, passage, "name"
    )
    return passage.coverage + 0.5 * familiarity * passage.cosine - lacking


def _weights(asked: Sequence[Term], pool: Pool, words: PassageWords) -> tuple[list[float], list[bool]]:
    texts = pool.texts
    counts = [_count(term, texts) for term in asked]
    months_found = [words.months(text) for text in texts] if any(_is_month(term) for term in asked) else []
    counts = [
        max(count, sum(not term.forms.isdisjoint(found) for found in months_found))
        for term, count in zip(asked, counts, strict=True)
    ]
    rare = [_rarity(term, count, of=len(texts)) for term, count in zip(asked, counts, strict=True)]
    total = sum(rare) or 1.0
    return [value / total for value in rare], [not count for count in counts]


def _absent(weights: Sequence[float], is_absent: Sequence[bool], passages: Sequence[_Passage]) -> float:
    return sum(
        weight
        for number, weight in enumerate(weights)
        if is_absent[number] and not any(passage.found[number] for passage in passages)
    )


def _rarity(term: Term, count: int, *, of: int) -> float:
    if term.kind not in {"name", "figure"}:
        count = max(count, _PARAPHRASED)
    return term.weight * math.log(1 + (of + _IMAGINED - count + 0.5) / (count + 0.5))


def _count(term: Term, texts: Sequence[str]) -> int:
    forms = [form for form in term.forms if not form.startswith("\x00")]
    if term.parts:
        return sum(_is_whole(term, forms, text) for text in texts)
    if len(forms) == 1:
        (only,) = forms
        return sum(only in text for text in texts)
    return sum(any(form in text for form in forms) for text in texts)


def _is_whole(term: Term, forms: Sequence[str], text: str) -> bool:
    return any(form in text for form in forms) or all(part in text for part in term.parts)


def _is_month(term: Term) -> bool:
    return any(form.startswith("\x00") for form in term.forms)


def _passage(
    hit: Hit, asked: Sequence[Term], weights: Sequence[float], pool: Pool, words: PassageWords
) -> _Passage:
    present = words.forms(hit.chunk, with_months=any(_is_month(term) for term in asked))
    listed = f" {' '.join(present)} "
    joins = hit.chunk.language in _COMPOUNDING
    found = tuple(_found(term, present, listed, joins=joins) for term in asked)
    return _Passage(
        chunk=hit.chunk,
        found=found,
        coverage=sum(weight * sure for weight, sure in zip(weights, found, strict=True)),
        cosine=pool.cosines.get(hit.chunk.id, pool.lowest),
    )


def _found(term: Term, present: frozenset[str], listed: str, *, joins: bool) -> float:
    if not term.forms.isdisjoint(present):
        return 1.0
    if term.parts and term.parts <= present:
        return 1.0 if term.kind == "figure" else _ALONE
    if term.kind == "figure":
        return 0.0
    alphabetic = [form for form in term.forms if form.isalpha()]
    long = [form for form in alphabetic if len(form) >= _SHORTEST_STEM]
    if any(_is_related(form, listed) for form in long):
        return _INFLECTED
    if not joins:
        return 0.0
    is_joined = any(_has_half(form, present) for form in long) or any(
        _is_half(form, present) for form in alphabetic if len(form) >= _SHORTEST_HALF
    )
    return _HALF_COMPOUND if is_joined else 0.0


def _has_half(form: str, present: frozenset[str]) -> bool:
    ends = range(_SHORTEST_STEM, len(form) - 3)
    return any(form[:end] in present for end in ends) or any(form[-end:] in present for end in ends)


def _is_half(form: str, present: frozenset[str]) -> bool:
    """ "Flut" of "Sturmflut"."""
    shortest = len(form) + _SHORTEST_HALF
    return any(
        len(other) >= shortest and (other.startswith(form) or other.endswith(form)) for other in present
    )


def _is_related(form: str, listed: str) -> bool:
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


def _nearby(passage: _Passage, asked: Sequence[Term], weights: Sequence[float], words: PassageWords) -> str:
    chunk = passage.chunk
    said = words.sentences(chunk, with_months=any(_is_month(term) for term in asked))
    found_terms = [
        (term, weight) for term, weight, sure in zip(asked, weights, passage.found, strict=True) if sure
    ]
    best, place = 0.0, 0
    for number, own in enumerate(said.forms):
        after = said.forms[number + 1] if number + 1 < len(said.forms) else frozenset[str]()
        share = _share(found_terms, own | said.header | after, chunk)
        if share > best:
            best, place = share, number
    return " ".join(said.parts[max(0, place - 1) : place + 3])


def _sentence_lead(
    asked: Sequence[Term], weights: Sequence[float], passages: Sequence[_Passage], words: PassageWords
) -> float:
    with_months = any(_is_month(term) for term in asked)
    sought = list(zip(asked, weights, strict=True))
    shares: list[float] = []
    for chunk in (passage.chunk for passage in passages[:_SENTENCES_OF]):
        said = words.sentences(chunk, with_months=with_months)
        for own in said.forms[:_MOST_SENTENCES]:
            shares.append(_share(sought, own | said.header, chunk))
    shares.sort(reverse=True)
    return shares[0] - (shares[_FOURTH] if len(shares) > _FOURTH else 0.0) if shares else 0.0


def _share(sought: Sequence[tuple[Term, float]], near: frozenset[str], chunk: Chunk) -> float:
    listed = f" {' '.join(near)} "
    joins = chunk.language in _COMPOUNDING
    return sum(weight * _found(term, near, listed, joins=joins) for term, weight in sought)


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


def _rare_words(rankings: Sequence[Ranking], *, words_asked: int) -> float:
    lexical = [ranking for ranking in rankings if ranking.leg == "lexical" and ranking.rarest > 0]
    found = [hit.score / ranking.rarest for ranking in lexical for hit in ranking.hits[:1]]
    typical = min(_RARE_OF_WORD * words_asked, _TYPICAL_RARE)
    return min(max(found), _MOST_RARE) - typical if found else 0.0


def _agreement(rankings: Sequence[Ranking]) -> float:
    first = {
        leg: max(hits, key=lambda hit: hit.score).chunk.id
        for leg in ("lexical", "dense")
        if (hits := [hit for ranking in rankings if ranking.leg == leg for hit in ranking.hits])
    }
    return float(len(first) > 1 and len(set(first.values())) == 1)


def _kind_missing(question: str, chunk: Chunk, nearby: str) -> float:
    kind = asked_kind(question)
    units = chunk.kind != "table"
    if not kind or holds(kind, nearby, question, units=units):
        return 0.0
    return 0.5 if holds(kind, searchable_text(chunk)[:LONGEST_READ], question, units=units) else 1.0
