"""Chunks with common terms alone are left out where they cannot reach the last hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.retrieval.ranking.bm25 import gain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask

    Scores = NDArray[np.float64]

_ENOUGH = 4
_COMMON = 1_000
_COMMON_SHARE = 32
_ROUNDING = 1 + 1e-9
_LEAST = float(np.nextafter(0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPostings:
    positions: Ids
    """Rising, each once."""
    counts: NDArray[np.uint8]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunks:
    lengths: NDArray[np.int32]
    """Tokens of every chunk."""
    average: float
    wanted: Mask | None
    """None: all."""

    def best(self, terms: Sequence[WeightedPostings], *, limit: int) -> tuple[Ids, Scores]:
        """Unordered: `limit` of them and ties with the last. `terms` from rare to common, added in this order: equal
        chunks get equal scores.
        """
        common = max(_COMMON, self.lengths.size // _COMMON_SHARE)
        first = sum(term.positions.size < common for term in terms)
        scores, floor = self._of_rare(terms[:first], limit)
        for number, term in enumerate(terms[first:], start=first):
            # A term adds less than its weight.
            rest = _ROUNDING * sum(other.weight for other in terms[number:])
            if (floor := _last(scores[scores >= floor], limit)) > rest:
                places = np.flatnonzero(scores >= floor - rest)
                return _top(places, self._with(scores[places], places, terms[number:]), limit)
            scores[term.positions] += self._gains(term.positions, term.counts, term.weight)
            if self.wanted is not None:
                scores[~self.wanted] = 0
        places = np.flatnonzero(scores >= max(floor, _LEAST))
        return _top(places, scores[places], limit)

    def _of_rare(self, terms: Sequence[WeightedPostings], limit: int) -> tuple[Scores, float]:
        if not terms:
            return np.zeros(self.lengths.size), 0.0
        positions = np.concatenate([term.positions for term in terms])
        counts = np.concatenate([term.counts for term in terms])
        weights = np.repeat([term.weight for term in terms], [term.positions.size for term in terms])
        gains = self._gains(positions, counts, weights)
        scores: Scores = np.bincount(positions, weights=gains, minlength=self.lengths.size).astype(
            np.float64, copy=False
        )
        if self.wanted is not None:
            scores[~self.wanted] = 0
        likely = np.unique(positions[: _ENOUGH * limit])
        return scores, _last(scores[likely], limit)

    def _with(self, scores: Scores, places: Ids, terms: Sequence[WeightedPostings]) -> Scores:
        for term in terms:
            found = np.minimum(term.positions.searchsorted(places), term.positions.size - 1)
            has = term.positions[found] == places
            scores[has] += self._gains(places[has], term.counts[found[has]], term.weight)
        return scores

    def _gains(self, positions: Ids, counts: NDArray[np.uint8], weights: float | Scores) -> Scores:
        return gain(weights, counts, self.lengths[positions], self.average)


def _last(scores: Scores, limit: int) -> float:
    positive = scores[scores > 0]
    if positive.size < limit:
        return 0.0
    return float(np.partition(positive, positive.size - limit)[positive.size - limit])


def _top(places: Ids, scores: Scores, limit: int) -> tuple[Ids, Scores]:
    if places.size <= limit:
        return places, scores
    last = np.partition(scores, places.size - limit)[places.size - limit]
    return places[scores >= last], scores[scores >= last]
