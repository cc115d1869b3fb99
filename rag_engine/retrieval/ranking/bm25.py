"""Lucene's BM25."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_K1 = 1.2
_B = 0.75


def term_weight(holding: int, chunks: int) -> float:
    """`holding`: of the `chunks`."""
    return float(np.log(1 + (chunks - holding + 0.5) / (holding + 0.5)))


def gain(
    weight: float | NDArray[np.float64],
    counts: NDArray[np.integer],
    lengths: NDArray[np.integer],
    average: float,
) -> NDArray[np.float64]:
    return saturated(weight, counts, norms_of(lengths, average))


def norms_of(lengths: NDArray[np.integer], average: float) -> NDArray[np.float64]:
    norms: NDArray[np.float64] = lengths * np.float64(_K1 * _B / average) + _K1 * (1 - _B)
    return norms


def saturated(
    weight: float | NDArray[np.float64], counts: NDArray[np.integer], norms: NDArray[np.float64]
) -> NDArray[np.float64]:
    occurrences = counts.astype(np.float64)
    norms = occurrences + norms
    occurrences *= weight
    occurrences /= norms
    return occurrences
