from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_engine.evidence.features import Reading

# Logistic regression by `python -m benchmarks.answers.evidence` on half of XQuAD's articles (English,
# Spanish, Chinese), of RGB's news, of real files and of tests/answers.
COEFFICIENTS: Final = {
    "coverage": 5.110,
    "names_missing": -3.206,
    "figures_missing": -3.810,
    "absent": -1.277,
    "lead": 2.529,
    "agreement": 0.299,
    "closeness": 1.250,
    "kind_missing": -1.984,
}
BIAS: Final = -2.997

COMPOUNDING: Final = frozenset({"da", "de", "nl", "no", "sv"})
"""Fewer of a question's words are in its passage."""
COMPOUNDING_SHIFT: Final = 0.6
"""As few German questions are refused as others."""

# Not fitted. A cosine a third of the way from unrelated to equal is even odds.
_ACROSS_LANGUAGES, _EVEN_ODDS, _FIGURES_ACROSS = 8.0, 0.3, -2.0


def probability(reading: Reading, *, reranked: float | None = None) -> float:
    """`reranked`: the best score, 0 to 1; it counts as much as all features."""
    features = reading.features
    value = BIAS + sum(weight * getattr(features, name) for name, weight in COEFFICIENTS.items())
    found = _sigmoid(value + (COMPOUNDING_SHIFT if reading.language in COMPOUNDING else 0.0))
    if reading.is_crosslingual:
        meaning = (
            _ACROSS_LANGUAGES * (reading.reach - _EVEN_ODDS) + _FIGURES_ACROSS * features.figures_missing
        )
        found = max(found, _sigmoid(meaning))
    return found if reranked is None else (found + reranked) / 2


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
