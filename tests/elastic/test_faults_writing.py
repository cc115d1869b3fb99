"""A document is put whole or not at all, whatever is cut, lost, killed, removed or done by another program meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import SchemaMismatch
from rag_engine.indexes import elasticsearch
from rag_engine.indexes.elasticsearch.manifests import LEASE_SECONDS
from rag_engine.types import DocumentId
from tests.conftest import PROJECT
from tests.contracts.indexing import (
    IDENTITY,
    StoredIndex,
    base,
    dense,
    document,
    found,
    lexical,
    pairs,
    put,
    put_all,
    vector,
)
from tests.doubles import commands
from tests.elastic.opening import NOWHERE, Bench, bench, failing
from tests.elastic.proxy import Cut, Hold
from tests.elastic.putting import texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag_engine.types import KnowledgeBaseId
    from tests.doubles.commands import Command

OLD = ["old apple", "old pear"]
NEW = ["new apple", "new pear", "new plum"]


@pytest.fixture
async def at(elastic_node: str) -> AsyncIterator[Bench]:
    async with bench(elastic_node) as made:
        yield made


async def seen(index: StoredIndex) -> list[str]:
    """What a reader has of the document, which all ways of reading must agree on."""
    lexical_hits, dense_hits = await index.search(
        [lexical("apple pear plum", limit=50), dense(vector(1), limit=50)]
    )
    by_words = sorted(hit.chunk.text for hit in lexical_hits.hits)
    assert by_words == sorted(hit.chunk.text for hit in dense_hits.hits)
    assert by_words == sorted([chunk.text async for chunk, _ in index.scan(base("kb"))])
    assert len(by_words) == await index.count(base("kb"))
    return by_words


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("path", ["_bulk", "_refresh", "/_doc/", "_search$", "_mget"])
async def test_a_connection_that_is_cut_leaves_nothing_missing_and_nothing_double(
    at: Bench, path: str, cut: Cut
) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *OLD)
        at.proxy.trouble(cut, path=path, times=3)
        await put(index, document("a"), *NEW)
        assert await seen(index) == NEW
    assert await at.texts() == NEW


@pytest.mark.parametrize("cut", [Cut.BEFORE_REQUEST, Cut.BEFORE_ANSWER])
@pytest.mark.parametrize("path", ["_bulk", "_refresh", "/_doc/"])
async def test_connections_that_stay_cut_leave_one_whole_version(at: Bench, path: str, cut: Cut) -> None:
    async with at.opened(attempts=2) as index:
        await put(index, document("a"), *OLD)
        at.proxy.trouble(cut, path=path)
        with failing("unreachable"):
            await put(index, document("a"), *NEW)
        at.proxy.heal()
        published = path == "/_doc/" and cut is Cut.BEFORE_ANSWER
        assert await seen(index) == (NEW if published else OLD)
        await put(index, document("a"), "last apple")
        assert await seen(index) == ["last apple"]
    async with at.opened() as index:
        await index.drop(base("kb"))
    assert await at.texts() == []


async def test_a_put_that_failed_is_deleted_when_the_cluster_is_back(at: Bench) -> None:
    async with at.opened(attempts=2) as index:
        at.proxy.trouble(Cut.BEFORE_REQUEST, path="_refresh", times=2)
        with failing("unreachable"):
            await put(index, document("a"), *NEW)
        assert await at.texts() == NEW  # hidden, not yet deleted
        assert await seen(index) == []
        await put(index, document("b"), "apple")
    assert await at.texts() == ["apple"]


async def test_after_changes_nothing_is_left_of_what_was_replaced_or_dropped(at: Bench) -> None:
    async with at.opened() as index:
        for version in range(3):
            await put_all(
                index, [(document(f"d{n}"), pairs(document(f"d{n}"), *[f"v{version}"] * 3)) for n in range(6)]
            )
        await index.drop(base("kb"), DocumentId("d0"))
        assert len(await at.texts()) >= 15
        await put(index, document("x", knowledge_base="other"), "apple")
        await index.drop(base("other"))
        await index.put(document("d1"), [])
    assert await at.texts() == ["v2"] * 12
    stored = await at.stored_manifests()
    assert [manifest["manifest"]["condemned"] for manifest in stored.values()] == [{}] * len(stored)
    assert [manifest["manifest"]["pending"] for manifest in stored.values()] == [{}] * len(stored)


@asynccontextmanager
async def program(at: Bench, first: int) -> AsyncIterator[Command]:
    """A process of its own that puts; killed (-9) at the end of the block."""
    process = await commands.start(
        *(at.proxy.url, at.alias, str(first)),
        source=commands.module("tests.elastic.putting"),
        environment=os.environ,
        folder=PROJECT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("path", ["_bulk", "_refresh", "/_doc/"])
async def test_a_program_killed_in_the_middle_of_a_put_leaves_nothing_to_be_seen(
    at: Bench, path: str
) -> None:
    async with at.opened() as index:
        await put(index, document("a"), *OLD)
    at.proxy.requests.clear()
    async with asyncio.timeout(60), program(at, 3) as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"3\n"
        at.proxy.trouble(Hold(), path=path)
        await at.proxy.wait_seen(path, count=len(at.proxy.seen(path)) + 1)
    at.proxy.heal()
    async with at.opened() as index:
        whole = await seen(index)
        assert whole in [texts(version) for version in range(3, 60)]
        await put(index, document("a"), *NEW)
        assert await seen(index) == NEW
    left = [text for text in await at.texts() if text not in NEW]
    ended_before_the_publishing = path != "/_doc/"
    assert bool(left) <= ended_before_the_publishing

    # A day later the next program that opens the index gives up the dead one's leases, and deletes what it wrote.
    ((key, stored),) = (await at.stored_manifests()).items()
    assert stored["manifest"]["pending"]
    for generation in stored["manifest"]["pending"]:
        stored["manifest"]["pending"][generation] = time.time() - LEASE_SECONDS - 1
    await at.raw.index(index=await at.manifests(), id=key, document=stored, refresh=True)
    async with at.opened() as index:
        assert await seen(index) == NEW
    assert await at.texts() == NEW


async def test_programs_killed_at_any_moment(at: Bench) -> None:
    version = 0
    for _ in range(4):
        async with asyncio.timeout(60), program(at, version + 1) as process:
            assert process.stdout is not None
            for _ in range(3):
                version = int(await process.stdout.readline())
            with suppress(TimeoutError):
                async with asyncio.timeout(random.uniform(0, 0.1)):
                    await process.wait()
            process.kill()
            # What it had reported, and the one it may have been about to report.
            version = max([version, *map(int, (await process.stdout.read()).split())])
        async with at.opened() as index:
            assert await seen(index) in (texts(version), texts(version + 1))


async def test_many_programs_that_put_the_same_document_leave_one_version(at: Bench) -> None:
    views: list[list[str]] = []
    async with at.opened() as one, at.opened() as two, at.opened() as three:
        for turn in range(4):
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                for number, index in enumerate((one, two, three, one)):
                    group.create_task(put(index, document("a"), *[f"apple {turn} {number}"] * (1 + number)))
            views = [await seen(index) for index in (one, two, three)]
            assert views[0] == views[1] == views[2]
            assert views[0] in [[f"apple {turn} {number}"] * (1 + number) for number in range(4)]
    assert await at.texts() == views[0]


async def test_what_another_program_did_is_not_overlooked(at: Bench) -> None:
    """What this one remembers of a knowledge base may be old, and it has nothing to search for meanwhile."""
    async with at.opened() as one, at.opened() as two:
        assert await found(one, lexical("apple")) == [[]]
        await put(two, document("a"), "apple")
        await one.drop(base("kb"), DocumentId("a"))
        assert await seen(two) == []
        await put(one, document("a"), "apple")
        await two.drop(base("kb"))
        await put(two, document("a"), "pear")
        await one.drop(base("kb"), DocumentId("a"))
        assert await seen(one) == await seen(two) == []
        await put(two, document("a"), "plum")
        await one.drop(base("kb"))
        assert await seen(one) == await seen(two) == []
    assert await at.texts() == []


async def test_an_index_that_is_removed_while_it_is_used_is_missed_once_and_made_again(at: Bench) -> None:
    async with at.opened() as index, at.opened() as other:
        for each in (index, *[other] * 6):
            await put(each, document("a"), "apple")
        await at.raw.indices.delete(index=await at.names())
        with failing("missing"):
            await put(index, document("a"), "pear")
        for name in await at.names():
            (described,) = (await at.raw.indices.get_mapping(index=name)).values()
            assert described["mappings"]["_meta"]["application"] == "footnote-bot"
        await put(index, document("a"), "plum")
        assert await seen(index) == ["plum"]
        # The other has not seen it go: what it remembers is of an index that is no more.
        assert await seen(other) == ["plum"]
        await put(other, document("a"), "apple")
        assert await seen(index) == ["apple"]
        await at.raw.indices.delete(index=await at.names())
        for use in (index.search([lexical("apple")]), other.count(base("kb"))):
            with failing("missing"):
                await use
        assert await found(index, lexical("apple")) == [[]]
    assert len(await at.names()) == 2


async def rebuild(at: Bench, **chosen: list[KnowledgeBaseId]) -> None:
    """Replace the index by one with "pear" in it."""
    settings = at.settings()
    async with elasticsearch.connect(
        settings, data_dir=NOWHERE, identity=IDENTITY, rebuilding=True
    ) as rebuilt:
        await put(rebuilt, document("a"), "pear")
    await elasticsearch.replace(settings, data_dir=NOWHERE, identity=IDENTITY, **chosen)
    async with at.opened() as index:
        assert await seen(index) == ["pear"]


async def test_an_index_of_an_older_schema_names_the_command_that_replaces_it(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "apple")
    name = await at.chunks()
    (described,) = (await at.raw.indices.get_mapping(index=name)).values()
    await at.raw.indices.put_mapping(index=name, meta={**described["mappings"]["_meta"], "schema": 2})
    with pytest.raises(SchemaMismatch, match=r"schema 2.*`footnote kb reindex --all`"):
        async with at.opened():
            pass
    await rebuild(at, knowledge_bases=[document("a").knowledge_base])


async def test_an_index_of_which_a_half_is_gone_says_how_to_repair_it(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "apple")
        await at.raw.indices.delete(index=await at.manifests())
        with failing("missing"):
            await index.search([lexical("apple")])
        with pytest.raises(SchemaMismatch, match=r"`footnote kb reindex --all`"):
            await index.search([lexical("apple")])
    with pytest.raises(SchemaMismatch, match=r"`footnote kb reindex --all`"):
        async with at.opened():
            pass
    await rebuild(at)


async def test_a_put_is_cut_off_by_a_drop_of_the_knowledge_base_and_done_again(at: Bench) -> None:
    async with at.opened() as one, at.opened() as two:
        await put(one, document("b"), "old apple")
        held = Hold()
        at.proxy.trouble(held, path="_refresh", times=1)
        putting = asyncio.create_task(put(one, document("a"), *NEW))
        await at.proxy.wait_seen("_refresh", count=2)
        await two.drop(base("kb"))
        held.until.set()
        await putting
        assert await seen(two) == NEW
    assert await at.texts() == NEW


async def test_a_drop_that_fails_halfway_is_out_of_sight_and_is_finished_later(at: Bench) -> None:
    async with at.opened(attempts=1) as index:
        await put(index, document("a"), *OLD)
        at.proxy.trouble(Cut.BEFORE_REQUEST, path="_bulk")
        with failing("unreachable"):
            await index.drop(base("kb"), DocumentId("a"))
        at.proxy.heal()
        assert await seen(index) == []
    async with at.opened():
        pass
    assert await at.texts() == []
