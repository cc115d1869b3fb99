"""BM25 with the statistics of the visible chunks: nothing outside the audience affects hits, order or scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_engine.indexes.embedded.database.rows import hash_of
from rag_engine.indexes.embedded.postings.bm25 import CommonTerm, RareTerm, best, common_from
from rag_engine.retrieval.ranking.bm25 import norms_of, saturated, term_weight
from rag_engine.text.name_similarity import lacking, replacements, similar_words
from rag_engine.text.spelling import SHARE, corrections

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask, SearchAudience, Snapshot

    Scores = NDArray[np.float64]
    Corrections = Mapping[str, tuple[str, ...]]

_MOST_TERMS = 1_024


def best_matches(
    terms: AudienceTerms,
    tokens: Sequence[str],
    *,
    wanted: Mask | None = None,
    limit: int,
    literal: Collection[str] = (),
    synonyms: Mapping[int, Mapping[str, float]] = MappingProxyType({}),
) -> tuple[Ids, Scores, Corrections]:
    """Unordered: `limit` and ties with the last."""
    asked = Counter(token for token in tokens if token.strip())
    counts, corrected = _frequencies(dict(list(asked.items())[:_MOST_TERMS]), terms, literal)
    typed = zip(counts, terms.postings(counts), counts.values(), strict=True)
    found = [
        (postings.frequency, token, postings, count * terms.weight(postings.frequency))
        for token, postings, count in typed
    ]
    found += _synonyms(synonyms, terms, typed=counts)
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0), {}
    found.sort(key=itemgetter(0, 1))
    snapshot = terms.snapshot
    places, scores = best(
        [terms.rare(each, weight) for _, _, each, weight in found if isinstance(each, VisiblePostings)],
        [terms.common(each, weight) for _, _, each, weight in found if isinstance(each, VisibleCounts)],
        chunks=snapshot.ids.size,
        wanted=wanted,
        limit=limit,
    )
    return snapshot.ids[places], scores, corrected


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePostings:
    positions: Ids
    """In the snapshot."""
    counts: NDArray[np.uint8]

    @property
    def frequency(self) -> int:
        return self.positions.size

    @property
    def bytes(self) -> int:
        return self.positions.nbytes + self.counts.nbytes

    def within(self, chunks: Mask) -> Visible:
        here = chunks[self.positions]
        return _visible(self.positions[here], self.counts[here], chunks.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleCounts:
    """Of a common term, by chunk."""

    counts: NDArray[np.uint8]
    frequency: int

    @property
    def bytes(self) -> int:
        return self.counts.nbytes

    def within(self, chunks: Mask) -> Visible:
        positions = np.flatnonzero(chunks & (self.counts > 0))
        return _visible(positions, self.counts[positions], chunks.size)


Visible: TypeAlias = "VisiblePostings | VisibleCounts"


def _visible(positions: Ids, counts: NDArray[np.uint8], chunks: int) -> Visible:
    if positions.size < common_from(chunks):
        return VisiblePostings(positions=positions, counts=counts)
    by_chunk = np.zeros(chunks, dtype=np.uint8)
    by_chunk[positions] = counts
    return VisibleCounts(counts=by_chunk, frequency=positions.size)


class AudienceTerms:
    """Reads each term once, for one audience."""

    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot, audience: SearchAudience) -> None:
        self.snapshot = snapshot
        self.audience = audience
        self._connection = connection
        self.average = audience.tokens / audience.chunks
        self._read: dict[str, Visible] = {}
        self._rare: dict[tuple[int, float], tuple[VisiblePostings, RareTerm]] = {}
        self._common: dict[tuple[int, float], CommonTerm] = {}
        self._weights: dict[int, float] = {}
        self._near: dict[str, Mapping[int, Sequence[str]]] = {}

    def postings(self, terms: Iterable[str]) -> list[Visible]:
        terms = list(terms)
        recent, mark = self.snapshot.terms, self.audience.mark
        if new := [term for term in terms if term not in self._read]:
            known = recent.get_all([(mark, term) for term in new])
            self._read.update((term, visible) for (_, term), visible in known.items())
            new = [term for term in new if term not in self._read]
        if new:
            snapshot = self.snapshot
            stored = snapshot.stored.of(self._connection, snapshot.cache, [hash_of(term) for term in new])
            for term, parts in zip(new, stored, strict=True):
                self._read[term] = visible = self._visible(parts)
                if sum(ids.size for ids, _ in parts) >= common_from(snapshot.ids.size):
                    recent.put([((mark, term), visible, visible.bytes)])
        return [self._read[term] for term in terms]

    def weight(self, frequency: int) -> float:
        if frequency not in self._weights:
            self._weights[frequency] = term_weight(frequency, self.audience.chunks)
        return self._weights[frequency]

    def rare(self, term: VisiblePostings, weight: float) -> RareTerm:
        key = (id(term), weight)
        if key not in self._rare:
            gains = saturated(weight, term.counts, self._norms[term.positions])
            self._rare[key] = term, RareTerm(positions=term.positions, gains=gains)
        return self._rare[key][1]

    def common(self, term: VisibleCounts, weight: float) -> CommonTerm:
        key = (id(term.counts), weight)
        if key not in self._common:
            self._common[key] = CommonTerm(term.counts, weight, self._norms)
        return self._common[key]

    @cached_property
    def _norms(self) -> Scores:
        return norms_of(self.snapshot.lengths, self.average)

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        found = self.postings(terms)
        return {term: postings.frequency for term, postings in zip(terms, found, strict=True)}

    def near(self, word: str) -> Mapping[int, Sequence[str]]:
        if word not in self._near:
            self._near[word] = self.snapshot.vocabulary.near(self._connection, word)
        return self._near[word]

    def similar(self, names: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, float]]:
        seen = self.frequencies([form for forms in names for form in forms])
        near = {forms: self._similar(forms) for forms in lacking(names, seen)}
        return {forms: replacements(words, self.frequencies(list(words))) for forms, words in near.items()}

    def _similar(self, forms: tuple[str, ...]) -> Mapping[str, float]:
        vocabulary = self.snapshot.vocabulary
        words = {word for form in forms for word in vocabulary.similar(self._connection, form)}
        return similar_words(forms, words)

    def _visible(self, parts: Sequence[tuple[Ids, NDArray[np.uint8]]]) -> Visible:
        if not parts:
            return VisiblePostings(positions=np.zeros(0, dtype=np.int64), counts=np.zeros(0, dtype=np.uint8))
        ids, counts = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        positions = self.snapshot.positions(ids)
        if not self.audience.is_everything or positions.min() < 0:
            seen = self.audience.visible[positions]
            positions, counts = positions[seen], counts[seen]
        return _visible(positions, counts, self.snapshot.ids.size)


def _frequencies(
    asked: Mapping[str, int], terms: AudienceTerms, literal: Collection[str]
) -> tuple[dict[str, float], Corrections]:
    frequencies = terms.frequencies(list(asked))
    counts = {token: float(asked[token]) for token, frequency in frequencies.items() if frequency}
    corrected = corrections(frequencies, near=terms.near, look_up=terms.frequencies, literal=literal)
    for token, words in corrected.items():
        for word in words:
            counts[word] = counts.get(word, 0.0) + SHARE * asked[token]
    return counts, {token: tuple(words) for token, words in corrected.items() if words}


def _synonyms(
    synonyms: Mapping[int, Mapping[str, float]],
    terms: AudienceTerms,
    *,
    typed: Collection[str],
) -> list[tuple[int, str, Visible, float]]:
    found: list[tuple[int, str, Visible, float]] = []
    for base, weights in synonyms.items():
        chunks = terms.snapshot.bases == base
        for token, postings in zip(weights, terms.postings(weights), strict=True):
            if token not in typed and (own := postings.within(chunks)).frequency:
                weight = weights[token] * terms.weight(postings.frequency)
                found.append((own.frequency, token, own, weight))
    return found
