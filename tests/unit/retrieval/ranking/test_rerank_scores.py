from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.ranking.rerank_scores import probabilities, reordered
from tests.doubles.rankings import ranking


def test_scores_between_zero_and_one_stay() -> None:
    assert probabilities([0.0, 0.25, 1.0]) == [0.0, 0.25, 1.0]
    assert probabilities([]) == []


def test_logits_go_through_a_sigmoid() -> None:
    assert probabilities([-2.0, 0.0, 3.0]) == pytest.approx([0.1192, 0.5, 0.9526], abs=1e-4)


@given(st.lists(st.floats(-1000, 1000), min_size=1))
def test_the_order_is_kept_and_nothing_overflows(logits: list[float]) -> None:
    scores = probabilities(logits)

    assert all(0 <= score <= 1 for score in scores)
    for (logit, score), (other_logit, other_score) in zip(
        zip(logits, scores, strict=True), list(zip(logits, scores, strict=True))[1:], strict=False
    ):
        assert (logit <= other_logit) is False or score <= other_score


def test_best_first_with_ties_in_the_order_they_came() -> None:
    hits = ranking("lexical", [("a", 4.0), ("b", 3.0), ("c", 2.0)]).hits

    placed = reordered(hits, [0.2, 0.9, 0.2], limit=3)

    assert [(hit.chunk.id, hit.score, hit.rank) for hit in placed] == [
        ("b", 0.9, 1),
        ("a", 0.2, 2),
        ("c", 0.2, 3),
    ]


def test_one_score_for_each_hit() -> None:
    with pytest.raises(ValueError, match="zip"):
        reordered(ranking("lexical", [("a", 4.0)]).hits, [], limit=3)
