"""Further vectors of chunks: what every index finds by summaries and made-up questions."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.expansion.types import ExpansionVector
from rag_engine.types import ChunkId, DocumentId, Search
from tests.contracts.indexing import (
    DIMENSIONS,
    IDENTITY,
    base,
    chunk,
    dense,
    document,
    found,
    ids,
    lexical,
    pairs,
    put,
    vector,
)

if TYPE_CHECKING:
    from rag_engine.types import Document, Expansion, Vector
    from tests.contracts.indexing import OpenIndex, StoredIndex


def axis(number: int) -> Vector:
    return np.eye(DIMENSIONS, dtype=np.float32)[number]


def near(number: int, cosine: float) -> Vector:
    """A unit vector with this cosine to an axis."""
    return (cosine * axis(number) + np.sqrt(1 - cosine**2) * axis(DIMENSIONS - 1)).astype(np.float32)


def expansion(chunk: str, at: Vector, kind: Expansion = "summary") -> ExpansionVector:
    return ExpansionVector(chunk=ChunkId(chunk), kind=kind, vector=at)


def expanded(search: Search, kind: Expansion = "summary") -> Search:
    return replace(search, expansion=kind)


async def three(index: StoredIndex, name: str = "a", knowledge_base: str = "kb") -> Document:
    of = document(name, knowledge_base=knowledge_base)
    await put(index, of, "First text.", "Second text.", "Third text.")
    return of


async def test_a_hit_of_an_expansion_is_its_chunk_once_with_the_best_score(index: StoredIndex) -> None:
    of = await three(index)
    vectors = [
        *(expansion("a/0", near(0, cosine), "question") for cosine in (0.5, 0.9, 0.3)),
        *(expansion("a/1", near(0, cosine), "question") for cosine in (0.8, 0.79)),
        expansion("a/2", near(0, 1.0)),
    ]
    assert await index.expand(of, vectors)
    (ranking,) = await index.search([expanded(dense(axis(0)), "question")])
    assert ids(ranking) == ["a/0", "a/1"]
    assert [hit.score for hit in ranking.hits] == pytest.approx([0.9, 0.8], abs=2e-3)
    assert [hit.rank for hit in ranking.hits] == [1, 2]
    assert ranking.hits[0].chunk == chunk(of, "First text.")


async def test_duplicates_do_not_starve_the_result(index: StoredIndex) -> None:
    of = document("many")
    await put(index, of, *(f"Text {number}." for number in range(12)))
    vectors = [
        expansion(f"many/{number}", near(0, 0.99 - number / 100 - copy / 1000), "question")
        for number in range(12)
        for copy in range(5)
    ]
    await index.expand(of, vectors)
    asked = expanded(dense(axis(0), limit=6), "question")
    assert await found(index, asked) == [[f"many/{number}" for number in range(6)]]


async def test_kinds_and_the_chunks_themselves_are_searched_apart(index: StoredIndex) -> None:
    of = await three(index)
    await index.expand(of, [expansion("a/1", axis(0)), expansion("a/2", axis(0), "question")])
    own = dense(axis(0))
    plain, summaries, questions = await index.search([own, expanded(own), expanded(own, "question")])
    assert ids(summaries) == ["a/1"]
    assert ids(questions) == ["a/2"]
    assert sorted(ids(plain)) == ["a/0", "a/1", "a/2"]
    assert all(hit.score < 0.9 for hit in plain.hits)
    assert await found(index, lexical("text")) == [["a/0", "a/1", "a/2"]]
    assert await index.count(base("kb")) == 3
    assert [await index.expansions(base("kb"), kind) for kind in ("summary", "question")] == [1, 1]


async def test_what_the_audience_or_a_filter_hides_is_not_found_by_expansions(index: StoredIndex) -> None:
    ours, theirs = await three(index), await three(index, "secret", "other")
    for of in (ours, theirs):
        await index.expand(
            of, [expansion(f"{of.id}/0", axis(0)), expansion(f"{of.id}/1", axis(0), "question")]
        )
    for kind in ("summary", "question"):
        asked = expanded(dense(axis(0)), kind)
        (ranking,) = await index.search([asked])
        assert [hit.chunk.knowledge_base for hit in ranking.hits] == ["kb"]
        outside = replace(asked, documents=frozenset({theirs.id}))
        nothing = replace(asked, documents=frozenset[DocumentId]())
        inside = replace(asked, documents=frozenset({ours.id}))
        assert [len(ids) for ids in await found(index, outside, nothing, inside)] == [0, 0, 1]
        assert await found(index, replace(asked, knowledge_bases=frozenset({base("nobody")}))) == [[]]
        both = replace(asked, knowledge_bases=frozenset({base("kb"), base("other")}))
        assert len((await found(index, both))[0]) == 2


async def test_expansions_go_with_their_chunks(index: StoredIndex) -> None:
    a, b = await three(index, "a"), await three(index, "b")
    for of in (a, b):
        await index.expand(of, [expansion(f"{of.id}/0", axis(0)), expansion(f"{of.id}/1", axis(1))])
    asked = expanded(dense(axis(0)))
    await put(index, a, "Other text.", seed=50)
    assert {each.split("/")[0] for each in (await found(index, asked))[0]} == {"b"}
    assert await index.expansions(base("kb"), "summary") == 2
    await index.drop(b.knowledge_base, b.id)
    assert await found(index, asked) == [[]]
    assert await index.expansions(base("kb"), "summary") == 0


async def test_expansions_are_replaced_and_emptied(index: StoredIndex) -> None:
    of = await three(index)
    await index.expand(of, [expansion("a/0", axis(0)), expansion("a/0", axis(1), "question")])
    await index.expand(of, [expansion("a/2", axis(0))])
    asked = dense(axis(0))
    assert await found(index, expanded(asked), expanded(asked, "question")) == [["a/2"], []]
    await index.expand(of, [])
    assert await found(index, expanded(asked)) == [[]]
    assert [pair[0].id async for pair in index.scan(base("kb"))] == ["a/0", "a/1", "a/2"]


async def test_an_orphan_is_dropped_and_logged(index: StoredIndex, caplog: pytest.LogCaptureFixture) -> None:
    of = await three(index)
    with caplog.at_level(logging.WARNING):
        assert await index.expand(of, [expansion("a/0", axis(0)), expansion("gone/7", axis(0))])
    assert "expansions_without_passage dropped=1" in caplog.text
    assert await index.expansions(base("kb"), "summary") == 1
    assert not await index.expand(document("nothing"), [expansion("a/0", axis(0))])


async def test_vectors_and_chunks_stay_as_they_were(index: StoredIndex) -> None:
    of = document("a")
    stored = pairs(of, "First text.", "Second text.")
    await index.put(of, stored)
    await index.expand(of, [expansion("a/0", axis(0))])
    scanned = [pair async for pair in index.scan(base("kb"))]
    assert [found for found, _ in scanned] == [put for put, _ in stored]
    for (_, after), (_, before) in zip(scanned, stored, strict=True):
        assert float(after @ before) == pytest.approx(1, abs=1e-3)
    assert await found(index, dense(vector(1), limit=1)) == [["a/1"]]


async def test_expansions_are_found_after_the_index_is_opened_again(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as index:
        of = await three(index)
        await index.expand(of, [expansion("a/1", axis(0))])
    async with open_index(IDENTITY) as index:
        assert await found(index, expanded(dense(axis(0)))) == [["a/1"]]


async def test_another_program_sees_new_expansions(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as one, open_index(IDENTITY) as other:
        of = await three(one)
        asked = expanded(dense(axis(0)))
        assert await found(other, asked) == [[]]
        await one.expand(of, [expansion("a/1", axis(0))])
        assert await found(other, asked) == [["a/1"]]
        await other.expand(of, [expansion("a/2", axis(0))])
        assert await found(one, asked) == [["a/2"]]


async def test_many_expansions_are_ranked_exactly(index: StoredIndex) -> None:
    random = np.random.default_rng(5)
    of = document("large")
    await index.put(of, [(chunk(of, f"w{number}", ordinal=number), vector(number)) for number in range(600)])
    drawn = random.standard_normal((1_800, DIMENSIONS)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    await index.expand(
        of, [expansion(f"large/{number % 600}", row, "question") for number, row in enumerate(drawn)]
    )
    cosines = drawn @ axis(3)
    best = cosines.reshape(3, 600).max(axis=0)
    expected = {f"large/{number}" for number in np.argsort(-best)[:10]}
    (names,) = await found(index, expanded(dense(axis(3), limit=10), "question"))
    assert len(set(names) & expected) >= 9
