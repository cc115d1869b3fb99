from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.retrieval.ranking.language_familiarity import gauge
from rag_engine.steps import fuse
from rag_engine.types import Query, Ranking
from tests.doubles.rankings import KNOWLEDGE_BASE, GivenIndex, chunk, ranking
from tests.unit.steps.test_retrieve import NoModel, OneVector

if TYPE_CHECKING:
    from collections.abc import Callable

_COVERED = chunk("covered", text="Parental leave is twelve weeks.")
_OTHER = chunk("other", text="Mothers and fathers stay at home for a season.")
_LEXICAL = ranking("lexical", [(_COVERED, 12.0), ("x", 4.0)])
_DENSE = ranking("dense", [(_OTHER, 0.7), (_COVERED, 0.5), ("y", 0.3)])


def _words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def _letters(text: str) -> int:
    return len(re.findall(r"\S", text))


async def _fused(
    question: str,
    rankings: list[Ranking],
    settings: fuse.Settings | None = None,
    *,
    count: Callable[[str], int] = _words,
    contrast: float = 1.0,
) -> fuse.Fused:
    async def given() -> float:
        return contrast

    async def known() -> bool:
        return True

    judge = fuse.LegTrust(familiarity=gauge(count), contrast=given, knows_meaning=known)
    return await fuse.fuse_rankings(
        question, rankings, judge=judge, settings=settings or fuse.Settings(), limit=10
    )


async def test_an_unknown_language_leaves_the_order_to_the_words() -> None:
    known = await _fused("parental leave", [_LEXICAL, _DENSE])
    unknown = await _fused("parental leave", [_LEXICAL, _DENSE], count=_letters)

    assert unknown.evidence["familiarity"] == 0.0
    assert unknown.shares["dense"] < 0.1 < known.shares["dense"]
    assert unknown.hits[0].chunk == _COVERED


async def test_words_that_match_nothing_leave_the_order_to_the_meaning() -> None:
    matched = await _fused("parental leave", [_LEXICAL, _DENSE])
    unmatched = await _fused("permiso de paternidad", [_LEXICAL, _DENSE])

    assert matched.evidence["coverage"] == 1.0
    assert unmatched.evidence["coverage"] == 0.0
    assert matched.shares["dense"] < 0.5 < unmatched.shares["dense"]
    assert unmatched.hits[0].chunk == _OTHER


async def test_cosines_that_hardly_differ_decide_little() -> None:
    flat = ranking("dense", [(_OTHER, 0.52), (_COVERED, 0.51), ("y", 0.5)])

    assert (await _fused("parental leave", [_LEXICAL, flat])).shares["dense"] < (
        await _fused("parental leave", [_LEXICAL, _DENSE])
    ).shares["dense"]


async def test_where_unrelated_texts_are_close_small_differences_count() -> None:
    crowded = ranking("dense", [(_OTHER, 0.94), (_COVERED, 0.9), ("y", 0.86)])

    fused = await _fused("parental leave", [_LEXICAL, crowded], contrast=0.2)

    assert fused.shares == pytest.approx((await _fused("parental leave", [_LEXICAL, _DENSE])).shares)


async def test_both_shares_are_set_by_hand() -> None:
    fused = await _fused("parental leave", [_LEXICAL, _DENSE], fuse.Settings(dense_share=0.25))

    assert fused.shares == {"lexical": 0.75, "dense": 0.25}
    assert fused.evidence == {}


@pytest.mark.parametrize("share", [1.5, -0.1])
def test_a_share_beyond_its_range_is_refused(share: float) -> None:
    with pytest.raises(ValidationError, match=r"(less|greater) than or equal to [01]"):
        fuse.Settings(dense_share=share)


async def test_familiarity_is_set_by_hand() -> None:
    fused = await _fused("parental leave", [_LEXICAL, _DENSE], fuse.Settings(familiarity=0.9), count=_letters)

    assert fused.evidence["familiarity"] == 0.9


async def test_what_one_leg_alone_found_is_kept_whatever_its_share() -> None:
    same = ranking("dense", [("only dense", 0.4)])

    fused = await _fused("parental leave", [_LEXICAL, same], count=_letters)

    assert {hit.chunk.id for hit in fused.hits} == {"covered", "x", "only dense"}
    assert fused.hits[-1].score > 0


@pytest.mark.parametrize("rankings", [[_DENSE], [ranking("lexical", []), _DENSE]])
async def test_one_leg_alone_keeps_its_order(rankings: list[Ranking]) -> None:
    fused = await _fused("parental leave", rankings, count=_letters)

    assert [hit.chunk.id for hit in fused.hits] == ["other", "covered", "y"]
    assert fused.shares == {"dense": 1.0}


async def test_nothing_found() -> None:
    assert (await _fused("parental leave", [])).hits == ()
    assert (await _fused("parental leave", [ranking("lexical", []), ranking("dense", [])])).hits == ()


async def test_reciprocal_ranks_can_be_chosen() -> None:
    fused = await _fused("parental leave", [_LEXICAL, _DENSE], fuse.Settings(method="reciprocal_rank"))

    assert fused.hits[0].chunk == _COVERED
    assert fused.hits[0].score == pytest.approx(1 / 61 + 1 / 62)


async def test_the_step_fills_the_hits_and_explains_itself_in_the_trace() -> None:
    query = Query(text="parental leave", knowledge_bases=frozenset({KNOWLEDGE_BASE}), limit=2)
    inquiry = Inquiry(query=query, question=query.text, rankings=(_LEXICAL, _DENSE))
    step = fuse.build(
        fuse.Settings(limit=1), Ports(embedder=OneVector(), index=GivenIndex({}), model=NoModel())
    )

    inquiry = await step(inquiry)

    assert [hit.rank for hit in inquiry.hits] == [1, 2]
    details = json.loads(json.dumps(inquiry.details))
    assert details["shares"].keys() == {"lexical", "dense"}
    assert details["evidence"].keys() == {"familiarity", "coverage", "spread"}
    covered = next(candidate for candidate in details["candidates"] if candidate["chunk"] == "covered")
    assert covered["legs"] == {"lexical": {"rank": 1, "score": 12.0}, "dense": {"rank": 2, "score": 0.5}}


async def test_each_query_is_weighed_by_itself() -> None:
    own = [ranking("lexical", [("x", 3.0)]), ranking("dense", [(_COVERED, 0.6), ("x", 0.1)])]
    translated = [replace(each, query="parental leave", weight=0.8) for each in (_LEXICAL, _DENSE)]
    fused = await _fused("permiso de paternidad", [*own, *translated])
    backwards = await _fused("permiso de paternidad", [*reversed(translated), *reversed(own)])

    assert fused.hits[0].chunk == _COVERED
    assert [(leg.leg, leg.query) for leg in fused.hits[0].legs] == [
        ("dense", ""),
        ("dense", "parental leave"),
        ("lexical", "parental leave"),
    ]
    assert fused.evidence["coverage"] == 0.0
    assert [hit.chunk.id for hit in backwards.hits] == [hit.chunk.id for hit in fused.hits]


async def test_a_query_of_little_weight_decides_little() -> None:
    def order(weight: float) -> list[Ranking]:
        other = [ranking("lexical", [("x", 9.0)]), ranking("dense", [("x", 0.9), ("y", 0.1)])]
        return [_LEXICAL, _DENSE, *(replace(each, query="another", weight=weight) for each in other)]

    assert (await _fused("parental leave", order(0.1))).hits[0].chunk == _COVERED
    assert (await _fused("parental leave", order(10))).hits[0].chunk.id == "x"
