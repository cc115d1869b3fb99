from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from rag_engine.errors import EmbedderUnavailable, IndexUnavailable, Unavailable
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.retrieval.queries.query_variants import QueryVariant
from rag_engine.steps import retrieve
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.types import Leg, Query, Ranking, Search, Side
from tests.doubles.rankings import KNOWLEDGE_BASE, GivenIndex, chunk, ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix

_FOUND: dict[Leg, Ranking] = {
    "lexical": ranking("lexical", [("a", 3.0)]),
    "dense": ranking("dense", [("b", 0.7), ("a", 0.5)]),
}


@dataclass(slots=True)
class OneVector:
    """Embeds everything as the same vector, or raises `failure`."""

    failure: Exception | None = None
    stalls: bool = False
    model: str = "one"
    dimensions: int = 2
    max_tokens: int = 100
    asked: list[tuple[tuple[str, ...], Side]] = field(default_factory=list[tuple[tuple[str, ...], Side]])
    started: asyncio.Event = field(default_factory=asyncio.Event)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        self.asked.append((tuple(texts), side))
        self.started.set()
        if self.stalls:
            await asyncio.Event().wait()
        if self.failure:
            raise self.failure
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))


class NoModel:
    name = "none"
    context_tokens = 0
    window_is_assumed = False

    def stream(self, prompt: object, *, task: str) -> NoReturn:
        raise AssertionError("no step of retrieval asks a language model")


def _inquiry(
    text: str = "parental leave", *, legs: tuple[Leg, ...] = ("lexical", "dense"), limit: int = 8
) -> Inquiry:
    query = Query(text=text, knowledge_bases=frozenset({KNOWLEDGE_BASE}), legs=legs, limit=limit)
    return Inquiry(query=query, question=text)


async def _run(
    inquiry: Inquiry, index: GivenIndex, embedder: OneVector, settings: retrieve.Settings | None = None
) -> Inquiry:
    ports = Ports(embedder=embedder, index=index, model=NoModel())
    return await retrieve.build(settings or retrieve.Settings(), ports)(inquiry)


async def test_both_legs_are_asked_in_one_call() -> None:
    index, embedder = GivenIndex(_FOUND), OneVector()

    inquiry = await _run(_inquiry(), index, embedder)

    ((lexical, dense),) = index.calls
    assert (lexical.leg, lexical.tokens, lexical.vector) == ("lexical", query_tokens("parental leave"), None)
    assert dense.leg == "dense"
    assert dense.vector is not None
    assert dense.vector.tolist() == [1, 0]
    assert {lexical.limit, dense.limit} == {100}
    assert lexical.knowledge_bases == dense.knowledge_bases == {KNOWLEDGE_BASE}
    assert embedder.asked == [(("parental leave",), "query")]
    assert inquiry.rankings == (_FOUND["lexical"], _FOUND["dense"])
    assert inquiry.fallbacks == ()
    assert inquiry.details["found"] == {"lexical": 1, "dense": 2}


async def test_a_code_is_searched_by_its_letters_in_the_same_call() -> None:
    index = GivenIndex(_FOUND, similar=_FOUND["lexical"])

    inquiry = await _run(_inquiry("What is AX-240?"), index, OneVector())

    ((lexical, letters, dense),) = index.calls
    assert (lexical.names, letters.names, letters.tokens, dense.leg) == ((), (("ax240",),), (), "dense")
    assert [each.expansion for each in inquiry.rankings] == [None, "letters", None]
    assert [each.is_hypothetical for each in inquiry.rankings] == [False, True, False]


async def test_the_refined_question_is_searched_for() -> None:
    index, embedder = GivenIndex(_FOUND), OneVector()
    inquiry = _inquiry("and there?")

    await _run(Inquiry(query=inquiry.query, question="leave in Spain"), index, embedder)

    assert embedder.asked == [(("leave in Spain",), "query")]
    assert index.calls[0][0].tokens == query_tokens("leave in Spain")


async def test_the_evidence_is_judged_by_the_corrected_question_too() -> None:
    found = ranking("lexical", [(chunk("a", text="Every public holiday is paid."), 2.0)])
    corrections = {token: tuple(tokens("holiday", language="en")) for token in query_tokens("hollyday")}
    index = GivenIndex({"lexical": replace(found, corrections=corrections)})

    inquiry = await _run(_inquiry("Is a hollyday paid?", legs=("lexical",)), index, OneVector())

    assert inquiry.wordings == ("Is a holiday paid?",)
    assert inquiry.wording == "Is a holiday paid?"
    assert inquiry.notices == ("Searched for “holiday” instead of “hollyday”.",)


@pytest.mark.parametrize("leg", ["lexical", "dense"])
async def test_a_query_may_want_one_leg_only(leg: Leg) -> None:
    index, embedder = GivenIndex(_FOUND), OneVector()

    inquiry = await _run(_inquiry(legs=(leg,)), index, embedder)

    assert [search.leg for search in index.calls[0]] == [leg]
    assert inquiry.rankings == (_FOUND[leg],)
    assert len(embedder.asked) == (1 if leg == "dense" else 0)


@pytest.mark.parametrize("leg", ["lexical", "dense"])
async def test_a_leg_that_is_not_set_is_not_searched(leg: Leg) -> None:
    index, embedder = GivenIndex(_FOUND), OneVector()

    await _run(_inquiry(), index, embedder, retrieve.Settings(legs=(leg,)))

    assert [search.leg for search in index.calls[0]] == [leg]
    assert len(embedder.asked) == (1 if leg == "dense" else 0)


async def test_what_a_query_wants_comes_before_the_setting() -> None:
    index = GivenIndex(_FOUND)

    await _run(_inquiry(legs=("dense",)), index, OneVector(), retrieve.Settings(legs=("lexical",)))

    assert [search.leg for search in index.calls[0]] == ["dense"]


async def test_without_the_embedder_words_are_searched_though_they_have_no_weight() -> None:
    index = GivenIndex(_FOUND)

    await _run(
        _inquiry(), index, OneVector(failure=EmbedderUnavailable()), retrieve.Settings(legs=("dense",))
    )

    assert [search.leg for search in index.calls[0]] == ["lexical"]


async def test_more_hits_are_wanted_than_candidates_are_set() -> None:
    index = GivenIndex(_FOUND)

    await _run(_inquiry(limit=30), index, OneVector(), retrieve.Settings(candidates=20))

    assert [search.limit for search in index.calls[0]] == [30, 30]


async def test_further_wordings_ask_for_fewer_hits_than_the_question() -> None:
    index = GivenIndex(_FOUND)
    queries = [QueryVariant(text="dogs", weight=1.0), QueryVariant(text="hounds", weight=0.7)]

    await retrieve.search_variants(
        queries, _inquiry().query, embedder=OneVector(), index=index, settings=retrieve.Settings()
    )

    assert [search.limit for search in index.calls[0]] == [100, 20, 100, 20]


async def test_without_the_embedder_words_alone_are_searched() -> None:
    index = GivenIndex(_FOUND)

    inquiry = await _run(_inquiry(), index, OneVector(failure=EmbedderUnavailable()))

    assert [search.leg for search in index.calls[0]] == ["lexical"]
    assert inquiry.rankings == (_FOUND["lexical"],)
    assert inquiry.fallbacks == ("dense_unavailable",)


async def test_an_embedder_that_stalls_is_given_up() -> None:
    async with asyncio.timeout(5):
        inquiry = await _run(
            _inquiry(), GivenIndex(_FOUND), OneVector(stalls=True), retrieve.Settings(timeout=0.02)
        )

    assert inquiry.fallbacks == ("dense_unavailable",)


async def test_without_the_embedder_a_dense_query_fails() -> None:
    with pytest.raises(EmbedderUnavailable):
        await _run(_inquiry(legs=("dense",)), GivenIndex(_FOUND), OneVector(failure=EmbedderUnavailable()))


async def test_an_index_that_fails_is_reported() -> None:
    class Broken(GivenIndex):
        async def search(self, searches: Sequence[Search]) -> list[Ranking]:
            raise IndexUnavailable

    with pytest.raises(Unavailable):
        await _run(_inquiry(), Broken(_FOUND), OneVector())


async def test_a_question_without_words_is_searched_by_meaning() -> None:
    index = GivenIndex(_FOUND)

    await _run(_inquiry("🙂"), index, OneVector())

    assert [search.leg for search in index.calls[0]] == ["dense"]


async def test_a_question_without_words_for_the_lexical_leg_alone_finds_nothing() -> None:
    index = GivenIndex(_FOUND)

    inquiry = await _run(_inquiry("?!", legs=("lexical",)), index, OneVector())

    assert index.calls == []
    assert inquiry.rankings == ()


async def test_a_ranking_with_parts_missing_is_recorded() -> None:
    half = ranking("lexical", [("a", 3.0)], complete=False)

    inquiry = await _run(_inquiry(), GivenIndex({**_FOUND, "lexical": half}), OneVector())

    assert inquiry.fallbacks == ("lexical_incomplete",)
    assert inquiry.notices == (retrieve.PART_MISSING,)


async def test_two_rankings_with_parts_missing_give_one_notice() -> None:
    halves: dict[Leg, Ranking] = {
        leg: replace(found, complete=False, hits=()) if leg == "dense" else replace(found, complete=False)
        for leg, found in _FOUND.items()
    }
    inquiry = _inquiry()

    inquiry = await _run(replace(inquiry, notices=("Earlier.",)), GivenIndex(halves), OneVector())

    assert inquiry.fallbacks == ("lexical_incomplete", "dense_incomplete")
    assert inquiry.notices == ("Earlier.", retrieve.PART_MISSING)


async def test_cancelling_is_not_taken_for_a_failure() -> None:
    embedder = OneVector(stalls=True)
    task = asyncio.create_task(_run(_inquiry(), GivenIndex(_FOUND), embedder))
    async with asyncio.timeout(5):
        await embedder.started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_name_nobody_knows_is_searched_for_apart_too() -> None:
    index = GivenIndex({"lexical": ranking("lexical", []), "dense": ranking("dense", [])})
    query = Query(text="Where is the lumenport?", knowledge_bases=frozenset({KNOWLEDGE_BASE}))
    found = [Inquiry(query=each, question=each.text) for each in (query, replace(query, as_asked=True))]
    for inquiry in found:
        await retrieve.build(retrieve.Settings(), Ports(embedder=Vocabulary(), index=index))(inquiry)
    asked = [search.synonyms for call in index.calls for search in call if search.leg == "lexical"]
    assert asked == [{KNOWLEDGE_BASE: dict.fromkeys(query_tokens("lumen port"), 0.25)}, {}]


class Vocabulary(OneVector):
    def count_tokens(self, text: str) -> int:
        return sum(1 if word in {"Where", "lumen", "port"} else 2 for word in text.split())
