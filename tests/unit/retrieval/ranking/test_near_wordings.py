"""Which wordings take the candidates of the first."""

from __future__ import annotations

import numpy as np

from rag_engine.retrieval.ranking.near_wordings import are_near_first


def test_a_wording_within_a_cosine_of_81_hundredths_is_near() -> None:
    vectors = np.array([[2, 0], [0.82, np.sqrt(1 - 0.82**2)], [0.8, 0.6], [-1, 0]], dtype=np.float32)
    assert are_near_first(vectors).tolist() == [True, True, False, False]


def test_what_all_passages_have_in_common_makes_no_wording_near() -> None:
    common = np.array([9, 0, 0], dtype=np.float32)
    vectors = common + np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0.1]], dtype=np.float32)
    assert are_near_first(vectors).all()
    assert are_near_first(vectors, common).tolist() == [True, False, True]


def test_nothing_is_near_a_wording_without_a_direction() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 0]], dtype=np.float32)
    assert not are_near_first(vectors).any()
    assert are_near_first(vectors[1:]).tolist() == [True, False]
