"""From features to the probability that the passages answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.evidence.features import Reading

# Logistic regression by `python -m benchmarks.answers.evidence` on half of the articles of XQuAD (English, Spanish, Chinese), half of
# RGB's news, and half of the files of tests/answers; answerable and unanswerable questions weigh the same.
COEFFICIENTS: Final = {
    "coverage": 4.892,
    "window": 0.122,
    "names_missing": -1.030,
    "figures_missing": -2.617,
    "absent": -1.182,
    "lead": 1.933,
    "closeness": 1.622,
    "kind_missing": -3.370,
    "unspaced": -0.265,
}
BIAS: Final = -2.678

# Not fitted: no multilingual weights were at hand. A cosine a third of the way from unrelated to equal texts is even odds.
_ACROSS_LANGUAGES, _EVEN_ODDS, _FIGURES_ACROSS = 8.0, 0.3, -2.0


def probability(reading: Reading, *, reranked: float | None = None) -> float:
    """`reranked` is the reranker's best score from 0 to 1; it counts as much as all features."""
    features = reading.features
    found = _sigmoid(BIAS + sum(weight * getattr(features, name) for name, weight in COEFFICIENTS.items()))
    if reading.is_crosslingual:
        meaning = (
            _ACROSS_LANGUAGES * (reading.reach - _EVEN_ODDS) + _FIGURES_ACROSS * features.figures_missing
        )
        found = max(found, _sigmoid(meaning))
    return found if reranked is None else (found + reranked) / 2


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
