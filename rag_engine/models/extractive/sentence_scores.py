"""Tuned on English, Spanish and Chinese (`benchmarks/answers/extraction.py`). Cosines are relative to the other
sentences: a model that does not know the language has no influence.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from rag_engine.evidence.question import ASKING
from rag_engine.models.extractive.table_rows import fit
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.chunk_text import searchable_header
from rag_engine.text.language import detect, possible
from rag_engine.text.language.months import months
from rag_engine.text.language.stop_words import FUNCTION_WORDS
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.types import Hit

_OWN_WORDS = 1.0
_WORDS_WITH_CONTEXT = 0.4
_WORDS_OF_PASSAGE = 0.3
_MEANING = 1.2
_RANK = 0.06
_CELLS = 0.8
_FEWEST_TOKENS = 3
_SHORT_PENALTY = 0.2

_NAMED = 0.2
_NAMED_TOO = 0.02
_UNNAMED_PENALTY = 0.1

_RELEVANT = 0.42
_RELEVANT_BY_WORDS = 0.3
_STANDS_OUT = 0.3
_PRIOR_COSINE = 0.3
_PRIOR_WEIGHT = 4
"""Shrinks the median of few sentences towards unrelated texts' cosine."""
_UNSEEN_SENTENCES = 20
"""A word in all of a few sentences does not count as common."""
_NEARLY_AS_GOOD = 0.65
_NEARLY_AS_CLOSE = 0.75
_MUCH = 0.3
_MOST_OF = 0.75
_SAME = 0.7

_WORD = lazy(lambda: re.compile(r"\w+(?:[-'’.]\w+)*"))
_UNSPACED = lazy(lambda: re.compile(r"[\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"))
_ADDRESSING_WORDS = "i me us please tell show give much mir mich uns bitte moi je nous dime dame por favor mi ci per favore diga"
_ADDRESSING = frozenset(_ADDRESSING_WORDS.split())
_MEASURE_ASKED = lazy(
    lambda: re.compile(
        r"\bhow (?:long|often|far|old|much|many|tall|big|large|high|deep|fast|soon|late|early)\b"
        r"|\bwie (?:lange?|oft|weit|alt|viele?|hoch|gro(?:ß|ss)|teuer|schnell|spät|früh)(?: dauert)?\b"
        r"|\bcuánt[oa]s?(?: tiempo)?(?: (?:dura|tarda))?\b|\bcombien(?: de temps)?(?: dure)?\b"
        r"|\bquant[oa](?: tempo)?(?: dura)?\b|\bhoe (?:lang|vaak|ver|oud|veel|hoog|groot|duur)(?: duurt)?\b",
        re.IGNORECASE,
    )
)
"""The answer has a figure in their place: "how long", not "long"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    candidate: Candidate
    score: float
    tokens: frozenset[str]
    fit: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    candidate: Candidate
    tokens: frozenset[str]
    own: float
    with_context: float
    with_passage: float
    fit: float = 0.0
    held: Mapping[int, float] = field(default_factory=dict[int, float])


def question_terms(question: str) -> tuple[frozenset[str], ...]:
    language = detect(question)
    spoken = (language,) if language else possible(question)
    dropped = _ADDRESSING.union(*(FUNCTION_WORDS.get(name, "").split() for name in spoken))
    asking = ASKING.get(language)
    terms: list[frozenset[str]] = []
    for word in _WORD.findall(asking.sub(" ", question) if asking else _MEASURE_ASKED.sub(" ", question)):
        named = _month_tokens(word)
        if word.lower() in dropped and not named:
            continue
        forms = query_tokens(word)
        if _UNSPACED.search(word):
            terms.extend(frozenset((form,)) for form in forms)
        else:
            terms.extend(part | named for part in _parts_of(word, forms))
    return tuple(dict.fromkeys(term for term in terms if term))


def _parts_of(word: str, forms: Sequence[str]) -> list[frozenset[str]]:
    parts = [frozenset(query_tokens(part)) for part in re.split(r"[-–/]", word) if part]
    if len(parts) < 2:
        return [frozenset(forms)]
    joined = frozenset(forms).difference(*parts)
    return [part | joined for part in parts if part]


def _month_tokens(text: str) -> frozenset[str]:
    return frozenset(f"\x00month{number}" for number in months(text))


def overlaps(
    terms: Sequence[frozenset[str]], candidates: Sequence[Candidate], passages: Sequence[Hit]
) -> tuple[list[Overlap], float]:
    languages = [hit.chunk.language or detect(hit.chunk.text) for hit in passages]
    own = [
        frozenset(tokens(candidate.text, language=languages[candidate.passage]))
        | _month_tokens(candidate.text)
        for candidate in candidates
    ]
    headers = [
        frozenset(tokens(searchable_header(hit.chunk.title, hit.chunk.headings), language=language))
        for hit, language in zip(passages, languages, strict=True)
    ]
    whole = [set(header) for header in headers]
    for candidate, found in zip(candidates, own, strict=True):
        whole[candidate.passage] |= found
    rarities = [_rarity(sum(not term.isdisjoint(found) for found in own), len(own)) for term in terms]

    def held(found: frozenset[str] | set[str]) -> dict[int, float]:
        return {place: rarities[place] for place, term in enumerate(terms) if not term.isdisjoint(found)}

    def shared(found: frozenset[str] | set[str]) -> float:
        return sum(held(found).values())

    measured: list[Overlap] = []
    for candidate, found in zip(candidates, own, strict=True):
        context = frozenset(tokens(candidate.context, language=languages[candidate.passage]))
        measured.append(
            Overlap(
                candidate=candidate,
                tokens=found,
                own=shared(found),
                held=held(found),
                with_context=shared(found | context | headers[candidate.passage]),
                with_passage=shared(whole[candidate.passage]),
                fit=fit(candidate.cells, terms, rarities, language=languages[candidate.passage]),
            )
        )
    return measured, sum(rarities)


def _rarity(holding: int, of: int) -> float:
    others = of + _UNSEEN_SENTENCES - holding
    return math.log(1 + (others + 0.5) / (holding + 0.5))


def choose(
    measured: Sequence[Overlap],
    possible: float,
    cosines: Sequence[float],
    *,
    most: int,
    by_meaning: bool = False,
) -> list[Scored]:
    """Without repetitions; `cosines` may be empty."""
    if not measured or possible <= 0:
        return []
    standing = _standing_out(cosines) if cosines else [0.0] * len(measured)
    furthest = max(standing)
    found = (max(item.with_context for item in measured) + max(item.with_passage for item in measured)) / 2
    enough = _RELEVANT if cosines else _RELEVANT_BY_WORDS
    by_meaning_alone = (by_meaning and bool(cosines)) or found / possible + furthest / 2 < enough
    if by_meaning_alone and furthest < _STANDS_OUT and not by_meaning:
        return []
    least = _NEARLY_AS_CLOSE * furthest if by_meaning_alone else min(standing)
    best_passage = max(item.with_passage for item in measured) or 1.0
    scored = [
        Scored(
            candidate=item.candidate,
            score=_score(item, best_passage, above),
            tokens=item.tokens,
            fit=item.fit,
        )
        for item, above in zip(measured, standing, strict=True)
        if above >= least
    ]
    scored.sort(key=lambda item: -item.score)
    good = [item for item in scored if item.score >= _NEARLY_AS_GOOD * scored[0].score]
    chosen = distinct(_rows_that_fit(good), most)
    return [*chosen, *_complement(chosen, scored, measured, most=most)]


def _complement(
    chosen: Sequence[Scored], scored: Sequence[Scored], measured: Sequence[Overlap], *, most: int
) -> list[Scored]:
    held = {id(item.candidate): item.held for item in measured}
    said = {place for item in chosen for place in held[id(item.candidate)]}
    findable = {place: rarity for item in measured for place, rarity in item.held.items()}
    missing = sum(rarity for place, rarity in findable.items() if place not in said)
    if len(chosen) >= most or missing <= _MUCH * sum(findable.values()):
        return []

    def added(item: Scored) -> float:
        return sum(rarity for place, rarity in held[id(item.candidate)].items() if place not in said)

    best = max(scored, key=added)
    return [best] if added(best) >= _MOST_OF * missing else []


def _rows_that_fit(scored: Sequence[Scored]) -> list[Scored]:
    best = scored[0]
    if not best.candidate.cells or best.fit < _NAMED:
        return list(scored)
    return [item for item in scored if not item.candidate.cells or item.fit >= best.fit - _NAMED_TOO]


def _standing_out(cosines: Sequence[float]) -> list[float]:
    middle = median(cosines)
    weight = len(cosines) / (len(cosines) + _PRIOR_WEIGHT)
    reference = weight * middle + (1 - weight) * min(middle, _PRIOR_COSINE)
    return [cosine - reference for cosine in cosines]


def _score(item: Overlap, best_passage: float, above: float) -> float:
    words = (
        _OWN_WORDS * item.own
        + _WORDS_WITH_CONTEXT * item.with_context
        + _WORDS_OF_PASSAGE * item.with_passage
    ) / best_passage + _worth_of_cells(item)
    short = _SHORT_PENALTY if len(item.tokens) < _FEWEST_TOKENS else 0.0
    return words + _MEANING * above - _RANK * math.log1p(item.candidate.passage) - short


def _worth_of_cells(item: Overlap) -> float:
    if not item.candidate.cells:
        return 0.0
    return _CELLS * item.fit if item.fit >= _NAMED else -_UNNAMED_PENALTY


def distinct(scored: Sequence[Scored], most: int) -> list[Scored]:
    chosen: list[Scored] = []
    for item in scored:
        if len(chosen) < most and not any(_repeats(item, other) for other in chosen):
            chosen.append(item)
    return chosen


def _repeats(item: Scored, other: Scored) -> bool:
    common = len(item.tokens & other.tokens)
    smaller = min(len(item.tokens), len(other.tokens))
    same_passage = item.candidate.passage == other.candidate.passage
    if same_passage and common == smaller:
        return True
    numbers = any(token[:1].isdigit() for token in item.tokens ^ other.tokens)
    return not numbers and common > _SAME * len(item.tokens | other.tokens)
