"""Wordings that share the candidates of the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 0.81
"""Cosine; below it an own search finds more."""
_TINY = 1e-12


def are_near_first(
    vectors: NDArray[np.float32], mean: NDArray[np.float32] | None = None
) -> NDArray[np.bool_]:
    """`mean`: of the passages."""
    centred = vectors if mean is None else vectors - mean
    lengths = np.linalg.norm(centred, axis=1)
    return centred @ centred[0] >= _LEAST * np.maximum(lengths * lengths[0], _TINY)
