"""BM25 with the statistics of the visible chunks: nothing outside the audience affects hits, order or scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.bm25 import ScoredChunks, WeightedPostings
from rag_engine.indexes.embedded.rows import hash_of
from rag_engine.retrieval.ranking.bm25 import term_weight
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
    """Unordered: `limit` of them and ties with the last."""
    asked = Counter(token for token in tokens if token.strip())
    snapshot, audience = terms.snapshot, terms.audience
    counts, corrected = _frequencies(dict(list(asked.items())[:_MOST_TERMS]), terms, literal)
    typed = zip(counts, terms.postings(counts), counts.values(), strict=True)
    found = [
        (token, postings, count * term_weight(postings.frequency, audience.chunks))
        for token, postings, count in typed
    ]
    found += _synonyms(synonyms, terms, typed=counts)
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0), {}
    order = sorted(found, key=lambda term: (term[1].frequency, term[0]))
    weighted = [
        WeightedPostings(positions=postings.positions, counts=postings.counts, weight=weight)
        for _, postings, weight in order
    ]
    scored = ScoredChunks(lengths=snapshot.lengths, average=audience.tokens / audience.chunks, wanted=wanted)
    places, scores = scored.best(weighted, limit=limit)
    return snapshot.ids[places], scores, corrected


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePostings:
    positions: Ids
    """In the snapshot."""
    counts: NDArray[np.uint8]

    @property
    def frequency(self) -> int:
        return self.positions.size


class AudienceTerms:
    """Reads each term once, for one audience."""

    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot, audience: SearchAudience) -> None:
        self.snapshot = snapshot
        self.audience = audience
        self._connection = connection
        self._read: dict[str, VisiblePostings] = {}
        self._near: dict[str, Mapping[int, Sequence[str]]] = {}

    def postings(self, terms: Iterable[str]) -> list[VisiblePostings]:
        terms = list(terms)
        if new := [term for term in terms if term not in self._read]:
            snapshot = self.snapshot
            stored = snapshot.stored.of(self._connection, snapshot.cache, [hash_of(term) for term in new])
            self._read.update(zip(new, map(self._visible, stored), strict=True))
        return [self._read[term] for term in terms]

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        found = self.postings(terms)
        return {term: postings.frequency for term, postings in zip(terms, found, strict=True)}

    def near(self, word: str) -> Mapping[int, Sequence[str]]:
        if word not in self._near:
            self._near[word] = self.snapshot.vocabulary.near(self._connection, word)
        return self._near[word]

    def _visible(self, parts: Sequence[tuple[Ids, NDArray[np.uint8]]]) -> VisiblePostings:
        if not parts:
            return VisiblePostings(positions=np.zeros(0, dtype=np.int64), counts=np.zeros(0, dtype=np.uint8))
        ids, counts = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        positions = self.snapshot.positions(ids)
        if not self.audience.is_everything or positions.min() < 0:
            seen = self.audience.visible[positions]
            positions, counts = positions[seen], counts[seen]
        return VisiblePostings(positions=positions, counts=counts)


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
) -> list[tuple[str, VisiblePostings, float]]:
    found: list[tuple[str, VisiblePostings, float]] = []
    for base, weights in synonyms.items():
        for token, postings in zip(weights, terms.postings(weights), strict=True):
            here = terms.snapshot.bases[postings.positions] == base
            if token not in typed and here.any():
                own = VisiblePostings(positions=postings.positions[here], counts=postings.counts[here])
                found.append(
                    (token, own, weights[token] * term_weight(postings.frequency, terms.audience.chunks))
                )
    return found
