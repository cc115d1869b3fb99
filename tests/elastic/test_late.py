"""What comes late: a request that was given up and sent again, an answer that is lost, a view opened while others write, and what was forgotten."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.indexes import elasticsearch
from tests.contracts.indexing import IDENTITY, base, document, found, lexical, put
from tests.elastic.opening import NOWHERE, Bench, bench
from tests.elastic.proxy import Cut, Hold

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def at(elastic_node: str) -> AsyncIterator[Bench]:
    async with bench(elastic_node) as made:
        yield made


async def test_a_chunk_that_is_written_once_more_after_it_was_replaced_stays_deleted(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "old apple")
        (written,) = at.proxy.seen("_bulk")
        await put(index, document("a"), "new apple")
    assert await at.texts() == ["new apple"]
    operations = [json.loads(line) for line in written.text.splitlines()]
    answer = await at.raw.bulk(operations=operations, index=await at.chunks(), refresh=True)
    assert [item["index"]["status"] for item in answer["items"]] == [409]
    async with at.opened() as index:
        assert await found(index, lexical("apple old new")) == [["a/0"]]
    assert await at.texts() == ["new apple"]


@pytest.mark.parametrize("counting", [True, False])
async def test_a_view_opened_while_a_document_is_half_written_does_not_show_it(
    at: Bench, *, counting: bool
) -> None:
    async def read() -> int:
        return await one.count(base("kb")) if counting else len([_ async for _ in one.scan(base("kb"))])

    async with at.opened() as one, at.opened() as two, asyncio.timeout(30), asyncio.TaskGroup() as group:
        await put(one, document("a"), "apple", "pear")
        view, refresh = Hold(), Hold()
        looks = len(at.proxy.seen("_mget"))
        at.proxy.trouble(view, path="_mget", times=1)
        reading = group.create_task(read())
        await at.proxy.wait_seen("_mget", count=looks + 1)
        refreshes = len(at.proxy.seen("_refresh"))
        at.proxy.trouble(refresh, path="_refresh", times=1)
        putting = group.create_task(put(two, document("b"), "half"))
        await at.proxy.wait_seen("_refresh", count=refreshes + 1)
        assert len(await at.texts()) == 3  # refreshed for somebody else
        view.until.set()
        assert await reading == 2
        refresh.until.set()
        await putting
        assert await read() == 3


@pytest.mark.parametrize("cut", [Cut.BEFORE_REQUEST, Cut.BEFORE_ANSWER, Cut.IN_ANSWER])
async def test_a_rebuilt_index_is_put_in_place_though_an_answer_is_lost(at: Bench, cut: Cut) -> None:
    settings = at.settings()
    async with at.opened() as index:
        await put(index, document("a"), "old")
    async with elasticsearch.connect(
        settings, data_dir=NOWHERE, identity=IDENTITY, rebuilding=True
    ) as rebuilt:
        await put(rebuilt, document("a"), "new")
    at.proxy.trouble(cut, path="_aliases", times=1)
    await elasticsearch.replace(settings, data_dir=NOWHERE, identity=IDENTITY)
    assert await at.texts() == ["new"]
    assert len(await at.names()) == 2
    at.proxy.trouble(cut, path="_aliases", times=1)
    await elasticsearch.remove(settings, data_dir=NOWHERE)
    assert await at.names() == []


async def test_more_knowledge_bases_than_are_remembered(at: Bench) -> None:
    others = [f"other{number}" for number in range(10_050)]
    async with at.opened() as index:
        await put(index, document("a"), "apple")
        for _ in range(2):
            assert await found(index, lexical("apple", "kb", *others)) == [["a/0"]]
