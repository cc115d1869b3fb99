from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.ranking.fusion import Method, fuse
from tests.doubles.rankings import chunk, ranking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from rag_engine.types import Hit, Leg, Ranking

_NAMES = [f"c{number}" for number in range(12)]
_METHODS = st.sampled_from(["mix", "reciprocal_rank"])


def _rankings_of(leg: Leg, least: float, most: float) -> st.SearchStrategy[Ranking]:
    scored = st.dictionaries(
        st.sampled_from(_NAMES), st.floats(least, most).map(lambda score: round(score, 6)), max_size=12
    )
    return scored.map(
        lambda scores: ranking(leg, sorted(scores.items(), key=lambda item: (-item[1], item[0])))
    )


_LEXICAL = _rankings_of("lexical", 0.01, 60)
_DENSE = _rankings_of("dense", -1, 1)
_MANY = st.lists(st.one_of(_LEXICAL, _DENSE), max_size=5)
_SHARE = st.floats(0.05, 0.95)


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


def _shares(dense: float) -> dict[Leg, float]:
    return {"lexical": 1 - dense, "dense": dense}


def test_reciprocal_ranks_add_up() -> None:
    lexical = ranking("lexical", [("a", 9.0), ("b", 5.0), ("c", 4.0)])
    dense = ranking("dense", [("d", 0.9), ("e", 0.8), ("a", 0.7), ("f", 0.6), ("g", 0.5)])

    hits = fuse([lexical, dense], shares={"lexical": 1, "dense": 1}, limit=10, method="reciprocal_rank")

    scores = {str(hit.chunk.id): hit.score for hit in hits}
    assert hits[0].chunk.id == "a"
    assert scores["a"] == pytest.approx(0.032266, abs=1e-6)
    assert scores["g"] == pytest.approx(0.015385, abs=1e-6)


def test_reciprocal_ranks_are_weighed() -> None:
    lexical = ranking("lexical", [("a", 9.0)])
    dense = ranking("dense", [("b", 0.9)])

    hits = fuse([lexical, dense], shares={"lexical": 1, "dense": 3}, limit=10, method="reciprocal_rank")

    assert [(hit.chunk.id, round(hit.score, 6)) for hit in hits] == [("b", 0.04918), ("a", 0.016393)]


def test_a_mix_stretches_words_from_zero_and_cosines_from_the_last_hit() -> None:
    lexical = ranking("lexical", [("a", 10.0), ("b", 5.0)])
    dense = ranking("dense", [("b", 0.9), ("c", 0.7), ("a", 0.5)])

    hits = fuse([lexical, dense], shares=_shares(0.5), limit=10)

    assert [(hit.chunk.id, round(hit.score, 6)) for hit in hits] == [("b", 0.75), ("a", 0.5), ("c", 0.25)]


def test_a_chunk_that_a_full_ranking_does_not_name_counts_like_its_last_hit() -> None:
    lexical = ranking("lexical", [("a", 10.0), ("b", 8.0)])
    dense = ranking("dense", [("c", 0.9), ("a", 0.7)])

    hits = fuse([lexical, dense], shares=_shares(0.5), limit=10)

    assert [(hit.chunk.id, round(hit.score, 6)) for hit in hits] == [("c", 0.9), ("a", 0.5), ("b", 0.4)]


def test_where_each_hit_came_from() -> None:
    lexical = ranking("lexical", [("a", 10.0), ("b", 5.0)])
    dense = ranking("dense", [("b", 0.9)])

    hits = fuse([dense, lexical], shares=_shares(0.5), limit=10)

    found = {hit.chunk.id: [(leg.leg, leg.rank, leg.score) for leg in hit.legs] for hit in hits}
    assert found == {"a": [("lexical", 1, 10.0)], "b": [("dense", 1, 0.9), ("lexical", 2, 5.0)]}


def test_ties_go_to_the_better_rank_and_then_to_the_smaller_id() -> None:
    lexical = ranking("lexical", [("z", 3.0), ("b", 3.0), ("a", 3.0)])

    assert _ids(fuse([lexical], shares={"lexical": 1.0}, limit=10)) == ["z", "b", "a"]
    apart = [ranking("lexical", [("b", 3.0)]), ranking("dense", [("a", 0.4)])]
    assert _ids(fuse(apart, shares=_shares(0.5), limit=10)) == ["a", "b"]


def test_several_rankings_of_one_leg_divide_its_share() -> None:
    variants = [ranking("lexical", [("a", 9.0)]), ranking("lexical", [("b", 2.0)])]
    dense = ranking("dense", [("c", 0.9), ("d", 0.5)])

    hits = fuse([*variants, dense], shares=_shares(0.4), limit=3)

    assert [(hit.chunk.id, round(hit.score, 6)) for hit in hits] == [("c", 0.4), ("a", 0.3), ("b", 0.3)]


def test_a_chunk_named_twice_counts_once_at_its_better_rank() -> None:
    hits = fuse([ranking("lexical", [("a", 9.0), ("a", 8.0)])], shares={"lexical": 1.0}, limit=10)

    assert [(hit.chunk.id, hit.score, hit.legs[0].rank) for hit in hits] == [("a", 1.0, 1)]


def test_equal_scores_are_all_the_best() -> None:
    hits = fuse([ranking("dense", [("a", 0.0), ("b", 0.0)])], shares={"dense": 1.0}, limit=10)

    assert [hit.score for hit in hits] == [1.0, 1.0]


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse([], shares=_shares(0.5), limit=10) == []
    assert fuse([ranking("dense", [])], shares=_shares(0.5), limit=10) == []


@given(_MANY, _SHARE, _METHODS, st.randoms(use_true_random=False), st.integers(1, 30))
def test_the_order_of_the_rankings_does_not_matter(
    rankings: list[Ranking], share: float, method: Method, random: Random, limit: int
) -> None:
    shuffled = list(rankings)
    random.shuffle(shuffled)

    assert fuse(rankings, shares=_shares(share), limit=limit, method=method) == fuse(
        shuffled, shares=_shares(share), limit=limit, method=method
    )


@given(_LEXICAL, _DENSE, _SHARE, _METHODS)
def test_better_in_both_legs_is_never_worse(
    lexical: Ranking, dense: Ranking, share: float, method: Method
) -> None:
    hits = fuse([lexical, dense], shares=_shares(share), limit=99, method=method)

    place = {hit.chunk.id: hit.rank for hit in hits}
    in_lexical = {hit.chunk.id: hit for hit in lexical.hits}
    in_dense = {hit.chunk.id: hit for hit in dense.hits}
    both = in_lexical.keys() & in_dense.keys()
    for one in both:
        for other in both:
            ahead = (
                in_lexical[one].rank < in_lexical[other].rank and in_dense[one].rank < in_dense[other].rank
            )
            if ahead:
                assert place[one] < place[other]


@given(_MANY, _SHARE, _METHODS)
def test_provenance_is_complete(rankings: list[Ranking], share: float, method: Method) -> None:
    hits = fuse(rankings, shares=_shares(share), limit=99, method=method)

    expected = sorted(
        (hit.chunk.id, ranking.leg, hit.rank, hit.score) for ranking in rankings for hit in ranking.hits
    )
    assert (
        sorted((hit.chunk.id, leg.leg, leg.rank, leg.score) for hit in hits for leg in hit.legs) == expected
    )
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert len(set(_ids(hits))) == len(hits)


@given(_LEXICAL, _DENSE, _METHODS)
def test_a_share_of_one_is_that_leg_alone(lexical: Ranking, dense: Ranking, method: Method) -> None:
    both = [lexical, dense]

    assert _ids(fuse(both, shares=_shares(0.0), limit=99, method=method)) == _ids(lexical.hits)
    assert _ids(fuse(both, shares=_shares(1.0), limit=99, method=method)) == _ids(dense.hits)


@given(_MANY, _SHARE, _METHODS, st.integers(1, 12))
def test_the_limit_cuts_and_nothing_else(
    rankings: list[Ranking], share: float, method: Method, limit: int
) -> None:
    whole = fuse(rankings, shares=_shares(share), limit=99, method=method)

    assert fuse(rankings, shares=_shares(share), limit=limit, method=method) == whole[:limit]


def test_the_chunk_itself_comes_through() -> None:
    found = chunk("a", text="word for word", title="Title")

    (hit,) = fuse([ranking("lexical", [(found, 1.0)])], shares={"lexical": 1.0}, limit=1)

    assert hit.chunk is found
