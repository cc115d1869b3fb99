"""Values of trec_eval and ir_measures; only grades above 0 are relevant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Judgements: TypeAlias = Mapping[str, int]


def ndcg(ranking: Sequence[str], judgements: Judgements, *, depth: int) -> float:
    """Linear gains, discounted by log2(rank + 1)."""
    ideal = _discounted(sorted(judgements.values(), reverse=True)[:depth])
    if ideal == 0:
        return 0.0
    return _discounted([judgements.get(document, 0) for document in ranking[:depth]]) / ideal


def recall(ranking: Sequence[str], judgements: Judgements, *, depth: int) -> float:
    relevant = {document for document, grade in judgements.items() if grade > 0}
    if not relevant:
        return 0.0
    return len(relevant.intersection(ranking[:depth])) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], judgements: Judgements, *, depth: int) -> float:
    """0 if none is in the first `depth`."""
    for rank, document in enumerate(ranking[:depth], start=1):
        if judgements.get(document, 0) > 0:
            return 1 / rank
    return 0.0


MEASURES: Mapping[str, Callable[[Sequence[str], Judgements], float]] = {
    "ndcg@10": lambda ranking, judgements: ndcg(ranking, judgements, depth=10),
    "recall@10": lambda ranking, judgements: recall(ranking, judgements, depth=10),
    "recall@100": lambda ranking, judgements: recall(ranking, judgements, depth=100),
    "mrr@10": lambda ranking, judgements: reciprocal_rank(ranking, judgements, depth=10),
}


def mean_measures(
    rankings: Mapping[str, Sequence[str]], judgements: Mapping[str, Judgements]
) -> dict[str, float]:
    """A query without a ranking counts zero."""
    queries = list(judgements)
    if not queries:
        return dict.fromkeys(MEASURES, 0.0)
    return {
        name: math.fsum(measure(rankings.get(query, ()), judgements[query]) for query in queries)
        / len(queries)
        for name, measure in MEASURES.items()
    }


def _discounted(grades: Sequence[int]) -> float:
    return math.fsum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
