from __future__ import annotations

import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.evaluation import metrics

_TREC_NAMES = {
    "ndcg@10": ir_measures.nDCG @ 10,
    "recall@10": ir_measures.R @ 10,
    "recall@100": ir_measures.R @ 100,
    "mrr@10": ir_measures.RR @ 10,
}


def _random_case(seed: int) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(300)]
    judgements = {
        f"q{query}": {
            document: chance.choice([0, 0, 1, 1, 2, 3]) for document in chance.sample(documents, 30)
        }
        for query in range(12)
    }
    rankings = {query: chance.sample(documents, chance.choice([0, 3, 40, 150])) for query in judgements}
    return rankings, judgements


@pytest.mark.parametrize("seed", range(8))
def test_the_measures_equal_those_of_ir_measures(seed: int) -> None:
    rankings, judgements = _random_case(seed)
    run = {
        query: {document: float(-rank) for rank, document in enumerate(ranking)}
        for query, ranking in rankings.items()
        if ranking
    }
    expected = ir_measures.calc_aggregate(list(_TREC_NAMES.values()), judgements, run)

    measured = metrics.mean_measures(rankings, judgements)

    assert measured == pytest.approx(
        {name: expected[measure] for name, measure in _TREC_NAMES.items()}, abs=1e-9
    )


def test_a_query_without_a_ranking_counts_as_nothing_found() -> None:
    measured = metrics.mean_measures({"q1": ["a"]}, {"q1": {"a": 1}, "q2": {"b": 1}})

    assert measured == {"ndcg@10": 0.5, "recall@10": 0.5, "recall@100": 0.5, "mrr@10": 0.5}


def test_no_judged_query_gives_zeros() -> None:
    assert metrics.mean_measures({}, {}) == dict.fromkeys(metrics.MEASURES, 0.0)


@given(
    st.lists(st.sampled_from("abcdefghij"), unique=True),
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(-1, 3)),
)
def test_the_measures_stay_between_zero_and_one(ranking: list[str], judgements: dict[str, int]) -> None:
    for measure in metrics.MEASURES.values():
        assert 0 <= measure(ranking, judgements) <= 1
