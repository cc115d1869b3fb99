"""Without a model: the sentences that most resemble their section and the document, in order."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.models.extractive.candidates import candidates
from rag_engine.models.extractive.sentence_features import form, is_aside
from rag_engine.models.extractive.sentence_scores import Scored, distinct
from rag_engine.summaries.outline import outline, sections
from rag_engine.text.analyzer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.summaries.length_and_language import LengthAndLanguage
    from rag_engine.summaries.outline import OutlineSection
    from rag_engine.types import Hit, Matrix, Vector

_MOST_SECTIONS = {"short": 6, "": 24, "long": 40}
_FEW_SECTIONS = 6
_MOST_OF_ONE = {"short": 1, "": 2, "long": 4}
_SENTENCES_FOR_MORE = 4
_ALONE = {"short": 3, "": 6, "long": 10}
_MOST_COMPARED = 40
_WORDS_EACH = 18
_BOILERPLATE, _SOMETIMES = 0.3, 2
_OWN, _WHOLE = 0.65, 0.35
_MEANING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    section: OutlineSection
    chosen: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDraft:
    sections: tuple[OutlineSection, ...]
    found: tuple[tuple[_Measured, ...], ...]
    all_sections: int
    """Sections before merging neighbours."""
    each: tuple[int, ...]
    """Maximum sentences per section."""

    @property
    def texts(self) -> list[str]:
        return [measured.candidate.text for section in self.found for measured in section]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    candidate: Candidate
    tokens: frozenset[str]
    score: float


def draft(passages: Sequence[Hit], style: LengthAndLanguage) -> SummaryDraft:
    """Of as many sections as fit. Slow for a long document."""
    chunks = [hit.chunk for hit in passages]
    of_chunk = [candidates(number, chunk) for number, chunk in enumerate(chunks)]
    telling = [[] if is_aside(chunk) else found for chunk, found in zip(chunks, of_chunk, strict=True)]
    of_chunk = telling if any(telling) else of_chunk
    most = _most_sections(style)
    every = [section for section in sections(chunks) if _has(section, of_chunk)]
    if len(every) > most:
        listed = [section for section in outline(chunks, most=most) if _has(section, of_chunk)]
    else:
        listed = every
    words = [
        [frozenset(tokens(found.text, language=chunk.language)) for found in listed_]
        for chunk, listed_ in zip(chunks, of_chunk, strict=True)
    ]
    document = Counter(token for chunk in words for found in chunk for token in found)
    total = sum(map(len, words)) or 1
    repeated = Counter(own for chunk in words for own in chunk)
    found = tuple(_measured(section, of_chunk, words, document, total, repeated) for section in listed)
    return SummaryDraft(
        sections=tuple(listed),
        found=found,
        all_sections=len(every),
        each=_each(listed, found, style),
    )


def choose(made: SummaryDraft, vectors: Matrix | None, style: LengthAndLanguage) -> list[Choice]:
    """In document order; `vectors`: a row per text of the draft."""
    scores = _with_meaning(made, vectors)
    chosen: list[list[Scored]] = []
    said: list[Scored] = []
    places = {id(one.candidate): place for section in made.found for place, one in enumerate(section)}
    for listed, scored, most in zip(made.found, scores, made.each, strict=True):
        ranked = sorted(
            (
                Scored(candidate=one.candidate, score=score, tokens=one.tokens)
                for one, score in zip(listed, scored, strict=True)
            ),
            key=lambda item: -item.score,
        )
        new = [item for item in ranked if len(distinct([*said, item], len(said) + 1)) > len(said)]
        best = distinct(new or ranked[:1], most)
        said += best
        chosen.append(best)
    if style.words:
        _fit_words(chosen, style.words)
    return [
        Choice(
            section=section,
            chosen=tuple(sorted((item.candidate for item in best), key=lambda one: places[id(one)])),
        )
        for section, best in zip(made.sections, chosen, strict=True)
        if best
    ]


def _has(section: OutlineSection, of_chunk: Sequence[Sequence[Candidate]]) -> bool:
    return any(of_chunk[section.first : section.last + 1])


def _most_sections(style: LengthAndLanguage) -> int:
    count = style.points or style.sentences or 4 * style.paragraphs
    if style.words:
        count = max(1, style.words // _WORDS_EACH)
    return count or _MOST_SECTIONS[style.size]


def _each(
    listed: Sequence[OutlineSection], found: Sequence[Sequence[_Measured]], style: LengthAndLanguage
) -> tuple[int, ...]:
    count = style.points or style.sentences or 4 * style.paragraphs
    if style.words:
        count = max(1, style.words // _WORDS_EACH)
    if count:
        each = [1] * len(listed)
        while sum(each) < count and any(more < len(one) for more, one in zip(each, found, strict=True)):
            place = max(
                (place for place in range(len(each)) if each[place] < len(found[place])),
                key=lambda place: len(found[place]) / (each[place] + 1),
            )
            each[place] += 1
        return tuple(each)
    if len(listed) == 1:
        return (_ALONE[style.size],)
    most = _MOST_OF_ONE[style.size] if len(listed) <= _FEW_SECTIONS or style.size == "long" else 1
    return tuple(most if len(one) >= _SENTENCES_FOR_MORE else 1 for one in found)


def _compared(
    section: OutlineSection,
    of_chunk: Sequence[Sequence[Candidate]],
    words: Sequence[Sequence[frozenset[str]]],
) -> list[tuple[Candidate, frozenset[str]]]:
    distinct_pairs = {
        own: (candidate, own)
        for number in reversed(range(section.first, section.last + 1))
        for candidate, own in reversed(list(zip(of_chunk[number], words[number], strict=True)))
    }
    pairs = list(distinct_pairs.values())[::-1]
    if len(pairs) <= _MOST_COMPARED:
        return pairs
    step = len(pairs) / _MOST_COMPARED
    return [pairs[int(place * step)] for place in range(_MOST_COMPARED)]


def _measured(
    section: OutlineSection,
    of_chunk: Sequence[Sequence[Candidate]],
    words: Sequence[Sequence[frozenset[str]]],
    document: Counter[str],
    total: int,
    repeated: Counter[frozenset[str]],
) -> tuple[_Measured, ...]:
    pairs = _compared(section, of_chunk, words)
    here = Counter(token for _, own in pairs for token in own)
    rarity = {token: math.log(1 + total / document[token]) for token in here}
    own_weight = {token: count / len(pairs) * rarity[token] for token, count in here.items()}
    whole_weight = {token: document[token] / total * rarity[token] for token in here}
    own_most = _norm(own_weight.values())
    whole_most = _norm(whole_weight.values())

    def central(own: frozenset[str]) -> float:
        if not own:
            return 0.0
        length = _norm(rarity[token] for token in own)
        near = sum(own_weight[token] * rarity[token] for token in own) / (length * own_most or 1)
        far = sum(whole_weight[token] * rarity[token] for token in own) / (length * whole_most or 1)
        return _OWN * near + _WHOLE * far

    return tuple(
        _Measured(
            candidate=candidate,
            tokens=own,
            score=central(own)
            + form(candidate, own, place=place, of=len(pairs))
            - (_BOILERPLATE if repeated[own] > _SOMETIMES else 0.0),
        )
        for place, (candidate, own) in enumerate(pairs)
    )


def _norm(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values)) or 1.0


def _with_meaning(made: SummaryDraft, vectors: Matrix | None) -> list[list[float]]:
    if vectors is None or not len(vectors):
        return [[one.score for one in section] for section in made.found]
    whole = _unit(vectors.mean(axis=0))
    scores: list[list[float]] = []
    start = 0
    for section in made.found:
        own = vectors[start : start + len(section)]
        start += len(section)
        if not len(own):
            scores.append([])
            continue
        near = _OWN * (own @ _unit(own.mean(axis=0))) + _WHOLE * (own @ whole)
        scores.append([one.score + _MEANING * float(value) for one, value in zip(section, near, strict=True)])
    return scores


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length else vector


def _fit_words(chosen: list[list[Scored]], most: int) -> None:

    def words(item: Scored) -> int:
        text = item.candidate.text
        return max(len(text.split()), len(re.findall(r"[\u3041-\u30ff\u3400-\u9fff]", text)))

    while sum(words(item) for best in chosen for item in best) > most:
        filled = [best for best in chosen if best]
        if sum(map(len, filled)) <= 1:
            return
        most_sentences = max(map(len, filled))
        candidates_ = [best for best in filled if len(best) == most_sentences]
        weakest = min(candidates_, key=lambda best: min(item.score for item in best))
        weakest.remove(min(weakest, key=lambda item: item.score))
