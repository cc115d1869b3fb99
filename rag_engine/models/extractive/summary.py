"""A summary without a model: the most telling sentences of every section, in their order, each with its passage.

A sentence tells much of its section when its words, and its meaning where that is measured, are what the others of the section
and of the document have in common. What opens a section counts a little more; what begins with "this" or "they" less.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.analysis import tokens
from rag_engine.models.extractive.candidates import candidates
from rag_engine.models.extractive.scoring import Scored, distinct
from rag_engine.summarizing.outline import outline, sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.summarizing.lengths import Wishes
    from rag_engine.summarizing.outline import OutlineSection
    from rag_engine.types import Chunk, Hit, Matrix, Vector

_MOST_SECTIONS = {"short": 6, "": 24, "long": 40}
_FEW_SECTIONS = 6
"""Of so few, each may have several sentences."""
_MOST_OF_ONE = {"short": 1, "": 2, "long": 4}
_SENTENCES_FOR_MORE = 4
_ALONE = {"short": 3, "": 6, "long": 10}
"""Sentences of a document that has one section only."""
_MOST_COMPARED = 40
"""Candidates of one section: of more, those that begin it and every so many of the others."""
_WORDS_EACH = 18
_ENTRY = re.compile(
    r"(?:^|: )(?:total|sum|overall|gesamt|summe|total général|suma|totale|totaal|итого|合计|总计|合計|합계)\b",
    re.IGNORECASE,
)
_NOTE = re.compile(r"(?:.*, )?(?:foot|end)note \d+")
_ASIDE = re.compile(
    r"(?:page )?(?:header|footer)s?|(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice|sumário|"
    r"inhoudsopgave|содержание|оглавление|目录|目錄|目次|차례|목차",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\s*(?:this|these|that|those|it|they|he|she|however|therefore|moreover|furthermore|also|but|and|so|such|dies(?:e[rs]?)?|das|er|sie|es|jedoch|"
    r"daher|außerdem|auch|aber|und|cela|ceci|ce|ces|il|elle|ils|elles|cependant|donc|mais|et|esto|este|esta|ello|sin embargo|pero|y|isto|isso|ele|ela|"
    r"mas|questo|questa|ciò|tuttavia|ma|dit|deze|het|zij|hij|echter|maar|это|он|она|они|однако|но|这|該|其|但|そして|しかし|また|これ|그|이|하지만)\b",
    re.IGNORECASE,
)
_LONG_SENTENCE, _VERY_LONG = 250, 420
_FEWEST_TOKENS = 4
_OPENING, _NEXT, _LAST = 0.2, 0.08, 0.05
_BACK, _SHORT, _LONGER, _QUESTION, _COLON, _UNENDED = 0.1, 0.25, 0.08, 0.15, 0.1, 0.1
_ENDS, _CLOSERS = (*".!?…。！？।۔",), " \"'”’»)]」』"
_BOILERPLATE, _SOMETIMES = 0.3, 2
_TOTAL = 0.3
_NAMES, _ROW = 0.3, 0.25
_FEWEST_WORDS, _MOSTLY = 3, 0.7
_FIELD, _FIELDS = re.compile(r"\w: \S[^;]*;"), 2
_WORD = re.compile(r"[^\W\d_]{2,}")
_OWN, _WHOLE = 0.65, 0.35
_MEANING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is said of one section."""

    section: OutlineSection
    chosen: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What there is to choose from, section by section, with how much each candidate tells by its words."""

    sections: tuple[OutlineSection, ...]
    found: tuple[tuple[_Measured, ...], ...]
    all_sections: int
    """How many there are before neighbours were taken together."""
    each: tuple[int, ...]
    """The most that is said of each."""

    @property
    def texts(self) -> list[str]:
        """All candidates, in order."""
        return [measured.candidate.text for section in self.found for measured in section]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    candidate: Candidate
    tokens: frozenset[str]
    score: float


def draft(passages: Sequence[Hit], wishes: Wishes) -> Draft:
    """The candidates of as many sections as the summary has room for. Takes a while for a long document."""
    chunks = [hit.chunk for hit in passages]
    of_chunk = [candidates(number, chunk) for number, chunk in enumerate(chunks)]
    telling = [[] if _is_aside(chunk) else found for chunk, found in zip(chunks, of_chunk, strict=True)]
    of_chunk = telling if any(telling) else of_chunk
    most = _most_sections(wishes)
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
    return Draft(
        sections=tuple(listed),
        found=found,
        all_sections=len(every),
        each=_each(listed, found, wishes),
    )


def choose(made: Draft, vectors: Matrix | None, wishes: Wishes) -> list[Choice]:
    """The sentences, in the order of the document; `vectors` has a row for each of the draft's texts, where there are any."""
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
    if wishes.words:
        _fit_words(chosen, wishes.words)
    return [
        Choice(
            section=section,
            chosen=tuple(sorted((item.candidate for item in best), key=lambda one: places[id(one)])),
        )
        for section, best in zip(made.sections, chosen, strict=True)
        if best
    ]


def _is_aside(chunk: Chunk) -> bool:
    """Whether it stands beside what a document says: its table of contents, a footnote, what every page bears."""
    is_named = any(_ASIDE.fullmatch(heading.strip()) for heading in chunk.headings)
    return is_named or _NOTE.fullmatch(chunk.anchor) is not None


def _has(section: OutlineSection, of_chunk: Sequence[Sequence[Candidate]]) -> bool:
    return any(of_chunk[section.first : section.last + 1])


def _most_sections(wishes: Wishes) -> int:
    wanted = wishes.points or wishes.sentences or 4 * wishes.paragraphs
    if wishes.words:
        wanted = max(1, wishes.words // _WORDS_EACH)
    return wanted or _MOST_SECTIONS[wishes.size]


def _each(
    listed: Sequence[OutlineSection], found: Sequence[Sequence[_Measured]], wishes: Wishes
) -> tuple[int, ...]:
    """How many sentences each section may have: just as many as are wished for, or by its length."""
    wanted = wishes.points or wishes.sentences or 4 * wishes.paragraphs
    if wishes.words:
        wanted = max(1, wishes.words // _WORDS_EACH)
    if wanted:
        each = [1] * len(listed)
        while sum(each) < wanted and any(more < len(one) for more, one in zip(each, found, strict=True)):
            place = max(
                (place for place in range(len(each)) if each[place] < len(found[place])),
                key=lambda place: len(found[place]) / (each[place] + 1),
            )
            each[place] += 1
        return tuple(each)
    if len(listed) == 1:
        return (_ALONE[wishes.size],)
    most = _MOST_OF_ONE[wishes.size] if len(listed) <= _FEW_SECTIONS or wishes.size == "long" else 1
    return tuple(most if len(one) >= _SENTENCES_FOR_MORE else 1 for one in found)


def _measured(
    section: OutlineSection,
    of_chunk: Sequence[Sequence[Candidate]],
    words: Sequence[Sequence[frozenset[str]]],
    document: Counter[str],
    total: int,
    repeated: Counter[frozenset[str]],
) -> tuple[_Measured, ...]:
    distinct_pairs = {
        own: (candidate, own)
        for number in reversed(range(section.first, section.last + 1))
        for candidate, own in reversed(list(zip(of_chunk[number], words[number], strict=True)))
    }
    pairs = list(distinct_pairs.values())[::-1]
    if len(pairs) > _MOST_COMPARED:
        step = len(pairs) / _MOST_COMPARED
        pairs = [pairs[int(place * step)] for place in range(_MOST_COMPARED)]
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
            + _form(candidate, own, place=place, of=len(pairs))
            - (_BOILERPLATE if repeated[own] > _SOMETIMES else 0.0),
        )
        for place, (candidate, own) in enumerate(pairs)
    )


def _norm(values: Iterable[float]) -> float:
    return math.sqrt(sum(value * value for value in values)) or 1.0


def _form(candidate: Candidate, own: frozenset[str], *, place: int, of: int) -> float:
    """What speaks for a sentence, or against it, whatever it says."""
    text = candidate.text
    return (
        (_OPENING if place == 0 else _NEXT if place == 1 else _LAST if place == of - 1 else 0.0)
        + (_TOTAL if _ENTRY.search(text) else 0.0)
        - (_BACK if _POINTS_BACK.match(text) else 0.0)
        - (_SHORT if len(own) < _FEWEST_TOKENS else 0.0)
        - (_LONGER if len(text) > _LONG_SENTENCE else 0.0)
        - (_LONGER if len(text) > _VERY_LONG else 0.0)
        - (_QUESTION if text.rstrip().endswith(("?", "？", "؟")) else 0.0)
        - (_NAMES if _is_names(text) else 0.0)
        - (_ROW if len(_FIELD.findall(text)) >= _FIELDS else 0.0)
        - (_COLON if text.rstrip().endswith((":", "：")) else 0.0)
        - (0.0 if text.rstrip(_CLOSERS).endswith(_ENDS) else _UNENDED)
    )


def _is_names(text: str) -> bool:
    """Whether hardly a word begins small: names of authors, a headline, shouting."""
    words = [word for word in _WORD.findall(text) if word[0].isupper() or word[0].islower()]
    return len(words) >= _FEWEST_WORDS and sum(word[0].isupper() for word in words) > _MOSTLY * len(words)


def _with_meaning(made: Draft, vectors: Matrix | None) -> list[list[float]]:
    """The scores; with vectors, half of what is central is told by the meaning."""
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
    """Leave out sentences until the words are few enough: the least telling of the sections that have most of them first."""

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
