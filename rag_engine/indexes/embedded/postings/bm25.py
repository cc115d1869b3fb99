"""Chunks with common terms alone are left out where they cannot reach the last hit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.retrieval.ranking.bm25 import saturated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask

    Scores = NDArray[np.float64]

_COMMON = 1_000
_COMMON_SHARE = 32
_ROUNDING = 1 + 1e-9
_LEAST = float(np.nextafter(0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class RareTerm:
    positions: Ids
    """Rising, each once."""
    gains: Scores


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


def best(
    rare: Sequence[RareTerm],
    common: Sequence[CommonTerm],
    *,
    chunks: int,
    wanted: Mask | None,
    limit: int,
) -> tuple[Ids, Scores]:
    """Unordered: `limit` of them and ties with the last. Terms are added in this order: equal chunks get equal scores."""
    scores, places = _of_rare(rare, chunks, wanted)
    found = scores[places]
    for number, term in enumerate(common):
        # A term adds less than its weight.
        rest = _ROUNDING * sum(other.weight for other in common[number:])
        if (floor := _last(found, limit)) > rest:
            least = floor - rest
            places = np.flatnonzero(scores >= least) if number else places[found >= least]
            return _top(places, _with(scores[places], places, common[number:]), limit)
        scores += term.gains
        if wanted is not None:
            scores[~wanted] = 0
        places = np.flatnonzero(scores >= max(floor, _LEAST))
        found = scores[places]
    return _top(places, found, limit)


def _of_rare(terms: Sequence[RareTerm], chunks: int, wanted: Mask | None) -> tuple[Scores, Ids]:
    if not terms:
        return np.zeros(chunks), np.zeros(0, dtype=np.int64)
    positions = np.concatenate([term.positions for term in terms])
    gains = np.concatenate([term.gains for term in terms])
    scores: Scores = np.bincount(positions, weights=gains, minlength=chunks).astype(np.float64, copy=False)
    # np.unique imports numpy.ma: 40 ms.
    there = np.zeros(chunks, dtype=np.bool_)
    there[positions] = True
    if wanted is not None:
        there &= wanted
        scores[~wanted] = 0
    return scores, np.flatnonzero(there)


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
