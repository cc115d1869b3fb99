"""Chunks that were found lately stay in memory: searches return their keys alone, and nothing old is shown."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.contracts.indexing import (
    DIMENSIONS,
    base,
    chunk,
    dense,
    document,
    found,
    lexical,
    near,
    pairs,
    put,
    put_all,
    vector,
)
from tests.elastic.opening import Bench, bench
from tests.elastic.proxy import Hold

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag_engine.indexes.elasticsearch import ElasticsearchIndex
    from rag_engine.types import Vector

TEXTS = [f"apple tree number{number}" for number in range(12)]
UNTIL_KNOWN = 12


@pytest.fixture
async def at(elastic_node: str) -> AsyncIterator[Bench]:
    async with bench(elastic_node) as made:
        yield made


async def ask_often(index: ElasticsearchIndex) -> None:
    for _ in range(UNTIL_KNOWN):
        await index.search([lexical("apple"), dense(vector(3))])


async def texts(index: ElasticsearchIndex, question: str) -> list[str]:
    (ranking,) = await index.search([lexical(question)])
    return [hit.chunk.text for hit in ranking.hits]


async def test_what_was_found_lately_is_not_sent_again(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *TEXTS)
        first = await index.search([lexical("apple"), dense(vector(3))])
        await ask_often(index)
        before = len(at.proxy.requests)
        assert await index.search([lexical("apple"), dense(vector(3))]) == first
        (request,) = at.proxy.requests[before:]
    assert request.path.endswith("/_msearch")
    legs = [json.loads(line) for line in request.text.splitlines()][1:4:2]
    assert [leg["stored_fields"] for leg in legs] == ["_none_"] * 2


async def test_what_was_not_found_yet_is_read_afterwards(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *TEXTS)
        await ask_often(index)
        await put(index, document("b"), "pear")
        before = len(at.proxy.requests)
        assert await texts(index, "pear") == ["pear"]
        paths = [request.path.rpartition("/")[2] for request in at.proxy.requests[before:]]
    # Its words are counted, its key is found, it is read.
    assert paths == ["_search", "_msearch", "_search"]


async def test_the_words_of_all_queries_of_a_call_are_counted_at_once(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *TEXTS)
        await ask_often(index)
        before = len(at.proxy.requests)
        asked = [lexical(text) for text in ("number1 tree", "number2 number3", "apple number4")]
        first, second, third = await index.search(asked)
        paths = [request.path.rpartition("/")[2] for request in at.proxy.requests[before:]]
    assert paths == ["_search", "_msearch"]
    assert [ranking.hits[0].chunk.text for ranking in (first, second, third)] == [
        "apple tree number1",
        "apple tree number2",
        "apple tree number4",
    ]


async def test_another_programs_changes_are_seen_and_what_they_withdrew_is_forgotten(at: Bench) -> None:
    async with at.opened() as index, at.opened() as other:
        await put(index, document("a"), *TEXTS)
        await ask_often(index)
        await put(other, document("a"), "apple new")
        assert await texts(index, "apple") == ["apple new"]
        await other.drop(base("kb"), document("a").id)
        assert await texts(index, "apple") == []
        await put(other, document("a"), "apple again")
        assert await texts(index, "apple") == ["apple again"]
        await other.drop(base("kb"))
        assert await texts(index, "apple") == []
        kept = index._found_chunks._kept
        assert [chunk.chunk.text for each in kept.values() for chunk in each.values()] == []


async def test_a_chunk_deleted_before_it_is_read_is_searched_for_again(at: Bench) -> None:
    async with (
        at.opened() as index,
        at.opened() as other,
        asyncio.timeout(30),
        asyncio.TaskGroup() as group,
    ):
        await put(index, document("a"), *TEXTS)
        await ask_often(index)
        await put(index, document("b"), "pear old")
        hold = Hold()
        at.proxy.trouble(hold, path="_msearch", times=1)
        asked = len(at.proxy.seen("_msearch"))
        asking = group.create_task(texts(index, "pear"))
        await at.proxy.wait_seen("_msearch", count=asked + 1)
        await put(other, document("b"), "pear new")
        while "pear old" in await at.texts():  # noqa: ASYNC110 - the node has no event for it
            await asyncio.sleep(0.05)
        hold.until.set()
        assert await asking == ["pear new"]


async def test_more_chunks_than_are_kept_are_all_found(at: Bench) -> None:
    async with at.opened(kept_chunks=3) as index:
        await put_all(index, [(of, pairs(of, text)) for text in TEXTS if (of := document(text[-2:]))])
        for _ in range(3):
            assert sorted(await texts(index, "apple"))[:2] == sorted(TEXTS)[:2]
            assert sorted(await texts(index, "tree"))[:2] == sorted(TEXTS)[:2]
        assert sum(map(len, index._found_chunks._kept.values())) <= 3


async def test_queries_of_one_call_rank_as_each_does_alone(at: Bench) -> None:
    asked = [
        "number3 number4 number5",
        "number3 number4 number6",
        "number5 number4 apple",
        "number7",
        "unknown",
    ]
    searches = [each for place, text in enumerate(asked) for each in (lexical(text), dense(vector(place)))]
    async with at.opened() as index:
        await put(index, document("a"), *TEXTS)
        alone = [(await index.search([search]))[0] for search in searches]
        before = len(at.proxy.seen("_msearch"))
        assert await index.search(searches) == alone
        (request,) = at.proxy.seen("_msearch")[before:]
        # Five dense searches, one for the three similar questions, one for the fourth, and the manifests.
        assert len(request.text.splitlines()) == 2 * 8
        assert await found(index, *searches[:2]) == [
            [hit.chunk.id for hit in each.hits] for each in alone[:2]
        ]


async def test_wordings_near_the_question_take_its_candidates(at: Bench) -> None:
    asked = [dense(vector(1), limit=20), *(dense(near(vector(1), seed)) for seed in range(2, 6))]
    far = dense(vector(9))
    async with at.opened() as index:
        of, without = document("a"), np.zeros(DIMENSIONS, dtype=np.float32)
        await index.put(of, [(chunk(of, "apple"), without), *pairs(document("b"), *TEXTS)])
        alone = [(await index.search([search]))[0] for search in (*asked, far)]
        await ask_often(index)
        rankings = await index.search([*asked, far])
        before = len(at.proxy.seen("search$"))
        assert await index.search([*asked, far]) == rankings
        (request,) = at.proxy.seen("search$")[before:]
    # The question, the wording that is far from it, and the manifests.
    assert len(request.text.splitlines()) == 2 * 3
    for ranking, own in zip(rankings, alone, strict=True):
        assert [hit.chunk.id for hit in ranking.hits] == [hit.chunk.id for hit in own.hits]
        assert [hit.score for hit in ranking.hits] == pytest.approx([hit.score for hit in own.hits], abs=1e-6)


async def test_vectors_are_read_once_for_wordings_near_the_question(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *TEXTS)
        await ask_often(index)
        asked = [dense(vector(3)), dense(near(vector(3), 4))]
        paths: list[list[str]] = []
        for _ in range(2):
            before = len(at.proxy.seen("search$"))
            await index.search(asked)
            requests = at.proxy.seen("search$")[before:]
            paths.append([request.path.rpartition("/")[2] for request in requests])
    # The mean of the passages is measured first.
    assert paths == [["_search", "_msearch", "_search"], ["_msearch"]]


async def test_what_all_passages_have_in_common_makes_no_wording_near(at: Bench) -> None:
    def alike(seed: int) -> Vector:
        """At a cosine of about .86 with each other, as of e5 models."""
        moved = 2.5 * vector(0) + vector(seed)
        return (moved / np.linalg.norm(moved)).astype(np.float32)

    of = document("a")
    passages = [(chunk(of, "apple", ordinal=number), alike(number)) for number in range(1, 601)]
    question, wording = alike(5_001), alike(5_002)
    cosines = np.array([passage for _, passage in passages]) @ wording
    async with at.opened() as index:
        await index.put(of, passages)
        asked = [dense(question, limit=100), dense(wording, limit=20)]
        await ask_often(index)
        _, ranking = await index.search(asked)
        again = [dense(question, limit=100), dense(near(question, 7, noise=0.05), limit=20)]
        before = len(at.proxy.seen("_msearch"))
        await index.search(again)
        (request,) = at.proxy.seen("_msearch")[before:]
    found = [hit.chunk.ordinal - 1 for hit in ranking.hits]
    assert len({*np.argsort(-cosines)[:20].tolist()}.intersection(found)) >= 18
    # The question and the manifests.
    assert len(request.text.splitlines()) == 2 * 2


async def test_a_misspelt_word_of_several_wordings_is_looked_up_once(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *(f"orchard tree{number}" for number in range(12)))
        asked = [lexical(f"orchrad {other}") for other in ("tree1", "tree2", "tree3")]
        await ask_often(index)
        looked_up: list[int] = []
        for _ in range(2):
            before = len(at.proxy.requests)
            rankings = await index.search(asked)
            assert [ranking.corrections["orchrad"] for ranking in rankings] == [("orchard",)] * 3
            looked_up.append(sum('"fuzzy"' in request.text for request in at.proxy.requests[before:]))
        await put(index, document("b"), "orchrad")
        assert [dict(ranking.corrections) for ranking in await index.search(asked)] == [{}] * 3
    # In its three forms.
    assert looked_up == [3, 0]
