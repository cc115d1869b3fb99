"""Chunks with common terms alone are left out where they cannot reach the last hit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.retrieval.ranking.bm25 import gain, saturated

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


class CommonTerm:
    """In so many chunks that each has its count, 0 included."""

    def __init__(self, counts: NDArray[np.uint8], weight: float, norms: Scores) -> None:
        self._counts = counts
        self._norms = norms
        self.weight = weight

    @cached_property
    def gains(self) -> Scores:
        return saturated(self.weight, self._counts, self._norms)

    def gains_at(self, places: Ids) -> Scores:
        if "gains" in self.__dict__:
            return self.gains[places]
        return saturated(self.weight, self._counts[places], self._norms[places])


def common_from(chunks: int) -> int:
    return max(_COMMON, chunks // _COMMON_SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunks:
    lengths: NDArray[np.int32]
    """Tokens of every chunk."""
    average: float
    wanted: Mask | None
    """None: all."""

    def best(
        self, rare: Sequence[WeightedPostings], common: Sequence[CommonTerm], *, limit: int
    ) -> tuple[Ids, Scores]:
        """Unordered: `limit` of them and ties with the last. Terms are added in this order: equal chunks get equal
        scores.
        """
        scores, floor = self._of_rare(rare, limit)
        for number, term in enumerate(common):
            # A term adds less than its weight.
            rest = _ROUNDING * sum(other.weight for other in common[number:])
            if (floor := _last(scores[scores >= floor], limit)) > rest:
                places = np.flatnonzero(scores >= floor - rest)
                return _top(places, _with(scores[places], places, common[number:]), limit)
            scores += term.gains
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
        gains = gain(weights, counts, self.lengths[positions], self.average)
        scores: Scores = np.bincount(positions, weights=gains, minlength=self.lengths.size).astype(
            np.float64, copy=False
        )
        if self.wanted is not None:
            scores[~self.wanted] = 0
        # np.unique imports numpy.ma: 40 ms.
        likely = np.sort(positions[: _ENOUGH * limit])
        return scores, _last(scores[likely[np.diff(likely, append=-1) != 0]], limit)


def _with(scores: Scores, places: Ids, terms: Sequence[CommonTerm]) -> Scores:
    for term in terms:
        scores += term.gains_at(places)
    return scores


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
