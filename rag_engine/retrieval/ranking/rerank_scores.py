from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Hit


def probabilities(scores: Sequence[float]) -> list[float]:
    """Scores outside 0 and 1 are logits. Not scaled by batch: a minimum score means the same for every question."""
    if all(0 <= score <= 1 for score in scores):
        return list(scores)
    return [sigmoid(score) for score in scores]


def reordered(hits: Sequence[Hit], scores: Sequence[float], *, limit: int) -> list[Hit]:
    pairs = sorted(zip(hits, scores, strict=True), key=lambda pair: (-pair[1], pair[0].rank))
    return [replace(hit, score=score, rank=rank) for rank, (hit, score) in enumerate(pairs[:limit], start=1)]


def sigmoid(logit: float) -> float:
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    growth = math.exp(logit)
    return growth / (1 + growth)
