"""What every `Index` must do when its contents change: atomically, durably, and for all who have it open."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from rag_engine.errors import SchemaMismatch
from rag_engine.ports import IndexIdentity
from rag_engine.text.analyzer import VERSION, query_tokens, tokens
from rag_engine.types import DocumentId
from tests.contracts.indexing import (
    DIMENSIONS,
    IDENTITY,
    OpenIndex,
    StoredIndex,
    base,
    bm25,
    chunk,
    dense,
    document,
    found,
    lexical,
    put,
    random_texts,
    vector,
)


async def test_putting_again_replaces_the_document_and_nothing_else(index: StoredIndex) -> None:
    await put(index, document("a"), "old apple", "old pear")
    await put(index, document("b"), "old apple")
    await put(index, document("a", knowledge_base="other"), "old apple")
    await put(index, document("a"), "new apple")
    assert await found(index, lexical("old"), lexical("new"), lexical("old", "other")) == [
        ["b/0"],
        ["a/0"],
        ["a/0"],
    ]
    assert await index.count(base("kb")) == 2
    await index.put(document("a"), [])
    assert await found(index, lexical("apple")) == [["b/0"]]


async def test_a_chunk_given_twice_is_there_once(index: StoredIndex) -> None:
    of = document("a")
    await index.put(of, [(chunk(of, "apple"), vector(1)), (chunk(of, "apple"), vector(1))])
    assert await found(index, lexical("apple"), dense(vector(1))) == [["a/0"], ["a/0"]]


async def test_dropping(index: StoredIndex) -> None:
    for name in ("kb", "other"):
        await put(index, document("a", knowledge_base=name), "apple")
        await put(index, document("b", knowledge_base=name), "apple")
    await index.drop(base("kb"), DocumentId("a"))
    await index.drop(base("kb"), DocumentId("never there"))
    await index.drop(base("never there"))
    assert await found(index, lexical("apple"), dense(vector(0))) == [["b/0"], ["b/0"]]
    await index.drop(base("kb"))
    assert await found(index, lexical("apple"), lexical("apple", "other")) == [[], ["a/0", "b/0"]]
    assert (await index.count(base("kb")), await index.count(base("other"))) == (0, 2)
    await put(index, document("a"), "apple again")
    assert await found(index, lexical("apple"), dense(vector(0))) == [["a/0"], ["a/0"]]


@pytest.mark.parametrize("last", [20, pytest.param(200, marks=pytest.mark.soak)])
async def test_no_search_sees_a_document_missing_double_or_half(index: StoredIndex, last: int) -> None:
    of = document("a")

    async def write(version: int) -> None:
        size = 1 + version % 4
        pairs = [
            (chunk(of, f"apple v{version} of {size}", ordinal=i, name=f"{version}-{i}"), vector(i))
            for i in range(size)
        ]
        await index.put(of, pairs)

    await write(0)
    done = asyncio.Event()
    seen: set[str] = set()

    async def watch() -> None:
        while not done.is_set():
            views = await found(index, lexical("apple", limit=50), dense(vector(0), limit=50))
            versions = {name.partition("-")[0] for view in views for name in view}
            assert len(versions) == 1, views
            (version,) = versions
            seen.add(version)
            expected = [f"{version}-{i}" for i in range(1 + int(version) % 4)]
            assert [sorted(view) for view in views] == [expected, expected]

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(watch())
        for version in range(1, last):
            await write(version)
        done.set()
    assert len(seen) > 1


async def test_a_put_that_is_cancelled_happens_whole_or_not_at_all(index: StoredIndex) -> None:
    of = document("a")
    await put(index, of, "old apple", "old pear")
    for pause in range(6):
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(put(index, of, *(f"new{pause} apple" for _ in range(20))))
            for _ in range(pause):
                await asyncio.sleep(0)
            writing.cancel()
        assert await index.count(base("kb")) in (2, 20)
    await put(index, of, "last apple")
    assert await found(index, lexical("apple")) == [["a/0"]]


async def test_what_was_put_is_there_after_reopening(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "red apple", "green pear")
        await put(index, document("b"), "red plum", seed=9)
        await index.drop(base("kb"), DocumentId("b"))
        before = await index.search([lexical("red apple pear"), dense(vector(1))])
    async with open_index(IDENTITY) as index:
        assert await index.search([lexical("red apple pear"), dense(vector(1))]) == before
        assert await index.count(base("kb")) == 2


@pytest.mark.parametrize(
    "other",
    [
        IndexIdentity(model="other@fp32", dimensions=DIMENSIONS, analyzer=VERSION),
        IndexIdentity(model="test@fp32", dimensions=DIMENSIONS * 2, analyzer=VERSION),
        IndexIdentity(model="test@fp32", dimensions=DIMENSIONS, analyzer="another"),
    ],
)
async def test_another_identity_is_refused_with_the_fix(open_index: OpenIndex, other: IndexIdentity) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "apple")
    with pytest.raises(SchemaMismatch, match="footnote kb reindex --all"):
        async with open_index(other):
            pass
    async with open_index(IDENTITY) as index:
        assert await found(index, lexical("apple")) == [["a/0"]]


async def test_an_index_with_nothing_in_it_takes_any_identity(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "apple")
        await index.drop(base("kb"))
    other = IndexIdentity(model="other@fp32", dimensions=DIMENSIONS * 2, analyzer=VERSION)
    async with open_index(other) as index:
        of = document("a")
        await index.put(of, [(chunk(of, "pear"), vector(1, dimensions=DIMENSIONS * 2))])
        assert await found(index, dense(vector(1, dimensions=DIMENSIONS * 2))) == [["a/0"]]


async def test_two_handles_see_what_either_writes(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as one, open_index(IDENTITY) as other:
        handles = (one, other)
        for turn in range(12):
            writing, reading = handles[turn % 2], handles[(turn + 1) % 2]
            await put(writing, document("a"), f"apple turn{turn}", seed=turn)
            await put(writing, document(f"d{turn}"), "pear", seed=100 + turn)
            assert await found(reading, lexical(f"turn{turn}"), dense(vector(turn), limit=1)) == [
                ["a/0"],
                ["a/0"],
            ]
            assert sorted((await found(reading, lexical("pear", limit=50)))[0]) == sorted(
                f"d{number}/0" for number in range(turn + 1)
            )
        await one.drop(base("kb"))
        assert await found(other, lexical("pear"), dense(vector(1))) == [[], []]


async def test_many_may_open_a_new_index_at_the_same_time(open_index: OpenIndex) -> None:
    async def open_and_put(number: int) -> None:
        async with open_index(IDENTITY) as index:
            await put(index, document(f"d{number}"), "apple", seed=number)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(open_and_put(number))
    async with open_index(IDENTITY) as index:
        assert await index.count(base("kb")) == 8


async def test_two_handles_may_write_at_the_same_time(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as one, open_index(IDENTITY) as other:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for number in range(40):
                handle = one if number % 2 else other
                group.create_task(put(handle, document(f"d{number}"), "apple", seed=number))
        expected = sorted(f"d{number}/0" for number in range(40))
        for handle in (one, other):
            views = await found(handle, lexical("apple", limit=50), dense(vector(1), limit=50))
            assert [sorted(view) for view in views] == [expected, expected]


@pytest.mark.parametrize("changes", [60, pytest.param(300, marks=pytest.mark.soak)])
async def test_after_any_changes_the_index_equals_one_made_in_one_go(
    open_index: OpenIndex, changes: int
) -> None:
    random = np.random.default_rng(11)
    kept: dict[tuple[str, str], list[str]] = {}
    async with open_index(IDENTITY) as index:
        for _ in range(changes):
            place = (str(random.choice(["kb", "other"])), f"d{random.integers(12)}")
            if random.random() < 0.25:
                kept.pop(place, None)
                await index.drop(base(place[0]), DocumentId(place[1]))
            else:
                kept[place] = random_texts(int(random.integers(1, 4)), seed=int(random.integers(1e6)))
                await put(index, document(place[1], knowledge_base=place[0]), *kept[place])
    async with open_index(IDENTITY) as index:
        for name in ("kb", "other"):
            expected = [
                (place[1], text) for place in sorted(kept) if place[0] == name for text in kept[place]
            ]
            assert [(each.document, each.text) async for each, _ in index.scan(base(name))] == expected
        analysed = [tokens(text, language="en") for texts in kept.values() for text in texts]
        scores = sorted(
            (score for score in bm25(analysed, query_tokens("w1 w7 w30")) if score > 0), reverse=True
        )
        (ranking,) = await index.search([lexical("w1 w7 w30", "kb", "other", limit=200)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(scores, rel=1e-6)
