from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.evidence.features import Features, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Logistic regression by `python -m benchmarks.answers.evidence`, on its sets."""

    coefficients: Mapping[str, float]
    bias: float
    shifts: Mapping[str, float]
    """By language."""

    def value(self, features: Features, language: str) -> float:
        weighed = (weight * getattr(features, name) for name, weight in self.coefficients.items())
        return self.bias + sum(weighed) + self.shifts.get(language, 0.0)


COMPOUNDING: Final = frozenset({"da", "de", "nl", "no", "sv"})
"""Fewer of a question's words are in its passage."""

BY_WORDS: Final = Calibration(
    coefficients={
        "coverage": 5.110,
        "names_missing": -3.206,
        "figures_missing": -3.810,
        "absent": -1.277,
        "lead": 2.529,
        "agreement": 0.299,
        "closeness": 1.250,
        "kind_missing": -1.984,
    },
    bias=-2.997,
    shifts=dict.fromkeys(COMPOUNDING, 0.6),
)

BY_SENTENCES: Final = Calibration(
    coefficients={
        "coverage": 4.391,
        "names_missing": -1.079,
        "figures_missing": -4.091,
        "absent": -1.626,
        "lead": 1.481,
        "kind_missing": -1.971,
        "sentence_lead": 1.176,
        "meaning": 6.206,
        "meaning_lead": -0.105,
        "rare_words": 0.402,
    },
    bias=-3.564,
    shifts={**dict.fromkeys(COMPOUNDING, 1.75), "en": -0.2, "es": -0.15, "zh": -0.12},
)

# Not fitted. A cosine a third of the way from unrelated to equal is even odds.
_ACROSS_LANGUAGES, _EVEN_ODDS, _FIGURES_ACROSS = 8.0, 0.3, -2.0


def probability(reading: Reading, *, reranked: float | None = None) -> float:
    """`reranked`: the best score, 0 to 1; it counts as much as all features."""
    features = reading.features
    calibration = BY_SENTENCES if reading.is_close else BY_WORDS
    found = _sigmoid(calibration.value(features, reading.language))
    if reading.is_crosslingual:
        meaning = (
            _ACROSS_LANGUAGES * (reading.reach - _EVEN_ODDS) + _FIGURES_ACROSS * features.figures_missing
        )
        found = max(found, _sigmoid(meaning))
    return found if reranked is None else (found + reranked) / 2


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
