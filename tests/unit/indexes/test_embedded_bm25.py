"""Scores of the embedded index, compared with sums over every chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded.postings.bm25 import CommonTerm, RareTerm, best, common_from
from rag_engine.retrieval.ranking.bm25 import norms_of, saturated

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = 6_000
SHARES = {
    "rare": (0.001, 0.003, 0.01),
    "rare and common": (0.001, 0.05, 0.4, 0.9),
    "common": (0.3, 0.5, 0.95),
    "fewer than asked for": (0.0005,),
    "one rare, many common": (0.05, *(0.9,) * 12),
    "less and less rare": (0.02, 0.2, 0.3, 0.35, 0.4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPostings:
    positions: NDArray[np.int64]
    counts: NDArray[np.uint8]
    weight: float


def _terms(random: np.random.Generator, shares: tuple[float, ...]) -> list[WeightedPostings]:
    made: list[WeightedPostings] = []
    for share in shares:
        positions = np.sort(random.choice(CHUNKS, size=max(int(share * CHUNKS), 1), replace=False))
        counts = random.integers(1, 9, positions.size).astype(np.uint8)
        weight = float(np.log(1 + (CHUNKS - positions.size + 0.5) / (positions.size + 0.5)))
        made.append(WeightedPostings(positions=positions, counts=counts, weight=weight))
    return made


def _best(
    terms: list[WeightedPostings],
    limit: int,
    *,
    lengths: NDArray[np.int32],
    average: float,
    wanted: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    norms = norms_of(lengths, average)
    rare: list[RareTerm] = []
    common: list[CommonTerm] = []
    for term in terms:
        if term.positions.size >= common_from(CHUNKS):
            counts = np.zeros(CHUNKS, dtype=np.uint8)
            counts[term.positions] = term.counts
            common.append(CommonTerm(counts, term.weight, norms))
        else:
            gains = saturated(term.weight, term.counts, norms[term.positions])
            rare.append(RareTerm(positions=term.positions, gains=gains))
    return best(rare, common, chunks=CHUNKS, wanted=wanted, limit=limit)


def _every_score(
    terms: list[WeightedPostings], lengths: NDArray[np.int32], average: float
) -> NDArray[np.float64]:
    scores = np.zeros(CHUNKS)
    for term in terms:
        norms = 1.2 * (0.25 + 0.75 * lengths[term.positions] / average)
        scores[term.positions] += term.weight * term.counts / (term.counts + norms)
    return scores


@pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("wanted", [None, 0.1, 0.002])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_are_those_of_a_sum_over_every_chunk(
    shares: tuple[float, ...], wanted: float | None, seed: int
) -> None:
    random = np.random.default_rng(seed)
    terms = _terms(random, shares)
    # Few different lengths and counts: many ties.
    lengths = random.choice(np.array([20, 40, 80], dtype=np.int32), size=CHUNKS)
    mask = None if wanted is None else random.random(CHUNKS) < wanted
    scores = _every_score(terms, lengths, 50.0)
    if mask is not None:
        scores[~mask] = 0
    for limit in (1, 10, 100):
        last = np.sort(scores)[-limit]
        expected = np.flatnonzero((scores > 0) & (scores >= last - 1e-9))
        places, found = _best(terms, limit, lengths=lengths, average=50.0, wanted=mask)
        # Sums of another order differ in the last digits: of exact ties with the last one, some may be missing.
        surely = np.flatnonzero((scores > 0) & (scores > last + 1e-9))
        assert len(places) >= min(limit, np.count_nonzero(scores))
        assert set(surely.tolist()) <= set(places.tolist()) <= set(expected.tolist())
        assert np.allclose(found, scores[places], rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_equal_chunks_get_equal_scores_whether_common_terms_are_looked_up_or_added(seed: int) -> None:
    random = np.random.default_rng(seed)
    terms = _terms(random, (0.02, 0.5, 0.9))
    lengths = np.full(CHUNKS, 40, dtype=np.int32)
    places, scores = _best(terms, 50, lengths=lengths, average=40.0)
    one_by_one = np.zeros(CHUNKS)
    for term in terms:
        norms = 40 * (1.2 * 0.75 / 40.0) + 1.2 * (1 - 0.75)
        one_by_one[term.positions] += term.weight * term.counts.astype(np.float64) / (term.counts + norms)
    assert scores.tolist() == one_by_one[places].tolist()
    assert places.size == np.count_nonzero(one_by_one >= scores.min())
