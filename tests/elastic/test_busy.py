"""Much at once: questions while files go in without a pause, and what failed puts leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import IndexUnavailable
from tests.contracts.indexing import chunk, dense, document, found, lexical, put, vector
from tests.elastic.opening import Bench, bench
from tests.elastic.proxy import REJECTED, Delay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag_engine.indexes.elasticsearch import ElasticsearchIndex


@pytest.fixture
async def at(elastic_node: str) -> AsyncIterator[Bench]:
    async with bench(elastic_node) as made:
        yield made


async def test_questions_are_answered_however_much_is_written_meanwhile(at: Bench) -> None:
    """Each search takes so long that something is published during every one."""
    written, first = 0, asyncio.Event()

    async def write(index: ElasticsearchIndex) -> None:
        nonlocal written
        while True:
            size = 1 + written % 3
            of = document("a")
            pairs = [
                (chunk(of, f"apple v{written}", ordinal=i, name=f"{written}-{i}"), vector(i))
                for i in range(size)
            ]
            await index.put(of, pairs)
            written += 1
            first.set()

    async with at.opened() as reader, at.opened() as writer, asyncio.TaskGroup() as group:
        await put(writer, document("b"), "apple")
        writing = group.create_task(write(writer))
        await asyncio.wait_for(first.wait(), 30)
        at.proxy.trouble(Delay(seconds=0.5), path="_msearch")
        for _ in range(4):
            before = written
            words, meanings = await found(reader, lexical("apple", limit=50), dense(vector(0), limit=50))
            versions = {name.partition("-")[0] for name in words if "-" in name}
            assert sorted(words) == sorted(meanings)
            assert len(versions) == 1
            (version,) = versions
            assert len(words) == 2 + int(version) % 3
            assert written > before
        writing.cancel()


async def test_what_a_failed_put_wrote_is_deleted(at: Bench) -> None:
    async with at.opened(write_timeout=1.0) as index:
        await put(index, document("a"), "old")
        at.proxy.trouble(REJECTED, path="_refresh")
        with pytest.raises(IndexUnavailable):
            await put(index, document("a"), "new")
        at.proxy.heal()
    assert await at.texts() == ["old"]
