"""Lucene's BM25 with the statistics of the visible chunks alone: nothing outside the audience affects hits, order or scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.rows import hash_of
from rag_engine.text.spelling import SHARE, corrections

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask, SearchAudience, Snapshot

    Scores = NDArray[np.float64]
    Corrections = Mapping[str, tuple[str, ...]]

_K1 = 1.2
_B = 0.75
_MOST_TERMS = 1_024
_ENOUGH = 4
"""Chunks per hit in which to look for a lower bound of the last score."""


def best_matches(
    connection: sqlite3.Connection,
    snapshot: Snapshot,
    tokens: Sequence[str],
    *,
    audience: SearchAudience,
    wanted: Mask | None = None,
    limit: int,
    corrects: bool = True,
) -> tuple[Ids, Scores, Corrections]:
    """Ids and scores of visible chunks (of the `wanted` ones alone), unordered: `limit` of them and ties with the last."""
    asked = Counter(token for token in tokens if token.strip())
    terms = _Terms(connection, snapshot, audience)
    counts, corrected = _frequencies(dict(list(asked.items())[:_MOST_TERMS]), terms, corrects=corrects)
    found = [terms.postings(token) for token in counts]
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0), {}
    # From rare to common, for `_floor`, and by name, so that equal chunks get equal scores.
    order = sorted(zip(found, counts.items(), strict=True), key=lambda term: (term[0].frequency, term[1][0]))
    positions = np.concatenate([postings.positions for postings, _ in order])
    occurrences = np.concatenate([postings.counts for postings, _ in order]).astype(np.float64)
    weights = np.repeat(
        [count * _inverse(postings.frequency, audience.chunks) for postings, (_, count) in order],
        [postings.frequency for postings, _ in order],
    )
    average = audience.tokens / audience.chunks
    norms = snapshot.lengths[positions] * (_K1 * _B / average) + _K1 * (1 - _B)
    gains = weights * occurrences / (occurrences + norms)
    scores = np.zeros(snapshot.ids.size)
    scores += np.bincount(positions, weights=gains, minlength=snapshot.ids.size)
    if wanted is not None:
        scores[~wanted] = 0
    best = np.flatnonzero(scores >= _floor(scores, positions, limit))
    best, kept = _top(best, scores[best], limit)
    return snapshot.ids[best], kept, corrected


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePostings:
    positions: Ids
    """In the snapshot."""
    counts: NDArray[np.uint8]

    @property
    def frequency(self) -> int:
        return self.positions.size


class _Terms:
    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot, audience: SearchAudience) -> None:
        self._connection = connection
        self._snapshot = snapshot
        self._audience = audience
        self._read: dict[str, VisiblePostings] = {}

    def postings(self, term: str) -> VisiblePostings:
        if term not in self._read:
            self._read[term] = self._visible(term)
        return self._read[term]

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        return {term: self.postings(term).frequency for term in terms}

    def near(self, word: str) -> Mapping[int, Sequence[str]]:
        return self._snapshot.vocabulary.near(self._connection, word)

    def _visible(self, term: str) -> VisiblePostings:
        snapshot = self._snapshot
        parts = list(snapshot.stored.of(self._connection, snapshot.cache, hash_of(term)))
        if not parts:
            return VisiblePostings(positions=np.zeros(0, dtype=np.int64), counts=np.zeros(0, dtype=np.uint8))
        ids, counts = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        positions = snapshot.positions(ids)
        if not self._audience.is_everything or positions.min() < 0:
            seen = self._audience.visible[positions]
            positions, counts = positions[seen], counts[seen]
        return VisiblePostings(positions=positions, counts=counts)


def _frequencies(
    asked: Mapping[str, int], terms: _Terms, *, corrects: bool
) -> tuple[dict[str, float], Corrections]:
    """Frequencies; a term without visible chunks is replaced by its spelling corrections."""
    frequencies = terms.frequencies(list(asked))
    counts = {token: float(asked[token]) for token, frequency in frequencies.items() if frequency}
    corrected: dict[str, list[str]] = {}
    if corrects:
        corrected = corrections(frequencies, near=terms.near, look_up=terms.frequencies)
    for token, words in corrected.items():
        for word in words:
            counts[word] = counts.get(word, 0.0) + SHARE * asked[token]
    return counts, {token: tuple(words) for token, words in corrected.items() if words}


def _inverse(frequency: int, chunks: int) -> float:
    return float(np.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5)))


def _floor(scores: Scores, rarest_first: Ids, limit: int) -> float:
    """A positive score that at least `limit` chunks reach, if so many match: chunks with the rarest terms are often the best."""
    likely = np.unique(rarest_first[: _ENOUGH * limit])
    least = float(np.nextafter(0, 1))
    if likely.size < limit:
        return least
    return max(least, float(np.partition(scores[likely], likely.size - limit)[likely.size - limit]))


def _top(places: Ids, scores: Scores, limit: int) -> tuple[Ids, Scores]:
    if places.size <= limit:
        return places, scores
    last = np.partition(scores, places.size - limit)[places.size - limit]
    return places[scores >= last], scores[scores >= last]
