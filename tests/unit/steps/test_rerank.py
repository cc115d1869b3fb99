from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.errors import RateLimited
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.retrieval.ranking.rerank_scores import reordered
from rag_engine.steps import rerank
from rag_engine.types import Hit, Query
from tests.doubles.rankings import KNOWLEDGE_BASE, GivenIndex, ranking
from tests.unit.steps.test_retrieve import NoModel, OneVector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HITS = ranking("lexical", [("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)]).hits


class GivenScores:
    """Prepared scores by chunk id."""

    def __init__(self, score: Callable[[str], float]) -> None:
        self._score = score
        self.calls = 0

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        self.calls += 1
        return reordered(hits, [self._score(hit.chunk.id) for hit in hits], limit=limit)


class Failing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        raise RateLimited


class Stalling:
    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        await asyncio.Event().wait()
        return []


async def _run(
    settings: rerank.Settings, reranker: GivenScores | Failing | Stalling | None, *, limit: int = 8
) -> Inquiry:
    query = Query(text="q", knowledge_bases=frozenset({KNOWLEDGE_BASE}), limit=limit)
    ports = Ports(embedder=OneVector(), index=GivenIndex({}), model=NoModel(), reranker=reranker)
    return await rerank.build(settings, ports)(Inquiry(query=query, question="q", hits=_HITS))


def _ids(inquiry: Inquiry) -> str:
    return "".join(hit.chunk.id for hit in inquiry.hits)


_BACKWARDS_SCORES = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
_BACKWARDS = GivenScores(_BACKWARDS_SCORES.__getitem__)


async def test_it_is_off_unless_enabled() -> None:
    assert _ids(await _run(rerank.Settings(), _BACKWARDS)) == "abcd"
    assert _ids(await _run(rerank.Settings(enabled=True), None)) == "abcd"


async def test_the_hits_are_cut_to_what_the_query_wants() -> None:
    assert _ids(await _run(rerank.Settings(), None, limit=2)) == "ab"
    assert _ids(await _run(rerank.Settings(enabled=True), _BACKWARDS, limit=2)) == "dc"


async def test_the_reranker_decides_the_order() -> None:
    reranker = GivenScores(_BACKWARDS_SCORES.__getitem__)

    inquiry = await _run(rerank.Settings(enabled=True), reranker)

    assert _ids(inquiry) == "dcba"
    assert reranker.calls == 1
    reranked = inquiry.details["reranked"]
    assert isinstance(reranked, list)
    assert reranked[0] == {"chunk": "d", "score": 0.4}


async def test_only_the_best_fused_hits_are_looked_at() -> None:
    assert _ids(await _run(rerank.Settings(enabled=True, limit=2), _BACKWARDS)) == "ba"


async def test_a_least_score_drops_the_rest() -> None:
    inquiry = await _run(rerank.Settings(enabled=True, min_score=0.25), _BACKWARDS)

    assert _ids(inquiry) == "dc"
    assert inquiry.details["below_min_score"] == 2


async def test_a_reranker_that_fails_leaves_the_fused_order() -> None:
    inquiry = await _run(rerank.Settings(enabled=True, min_score=0.9), Failing())

    assert _ids(inquiry) == "abcd"
    assert inquiry.fallbacks == ("rerank_failed",)


async def test_a_reranker_that_stalls_is_given_up() -> None:
    async with asyncio.timeout(5):
        inquiry = await _run(rerank.Settings(enabled=True, timeout=0.02), Stalling())

    assert _ids(inquiry) == "abcd"
    assert inquiry.fallbacks == ("rerank_failed",)


async def test_nothing_found_is_not_reranked() -> None:
    query = Query(text="q", knowledge_bases=frozenset({KNOWLEDGE_BASE}))
    ports = Ports(embedder=OneVector(), index=GivenIndex({}), model=NoModel(), reranker=Failing())
    inquiry = await rerank.build(rerank.Settings(enabled=True), ports)(Inquiry(query=query, question="q"))

    assert inquiry == replace(inquiry, hits=(), fallbacks=())
