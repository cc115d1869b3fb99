from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import IndexUnavailable, StorageUnavailable
from rag_engine.indexes.embedded.database import group_commit
from tests.unit.indexes.test_embedded import BASE, clustered, opened, put, words

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex

_VECTORS = clustered(60, seed=3)


def _putting(index: EmbeddedIndex, number: int) -> asyncio.Task[None]:
    return asyncio.create_task(put(index, f"d{number}", [f"word{number}"], [_VECTORS[number]]))


async def test_many_at_once_are_all_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "_MOST_CHUNKS", 7)
    async with asyncio.timeout(60), opened(tmp_path) as index:
        for _ in range(20):
            await asyncio.gather(*(_putting(index, number) for number in range(len(_VECTORS))))
        assert await index.count(BASE) == len(_VECTORS)


async def test_a_cancelled_document_costs_no_other(tmp_path: Path) -> None:
    async with asyncio.timeout(60), opened(tmp_path) as index:
        for _ in range(10):
            tasks = [_putting(index, number) for number in range(len(_VECTORS))]
            await asyncio.sleep(0)
            for task in tasks[::3]:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(one) for one in outcomes[1::3] + outcomes[2::3]} == {type(None)}
        await _putting(index, 0)
        assert await index.count(BASE) >= 2 * len(_VECTORS) // 3


async def test_a_bug_while_writing_reaches_everyone_who_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with asyncio.timeout(60), opened(tmp_path) as index:
        with monkeypatch.context() as broken:
            broken.setattr(group_commit, "replace_documents", fail)
            outcomes = await asyncio.gather(
                *(_putting(index, number) for number in range(5)), return_exceptions=True
            )
        assert {type(one) for one in outcomes} == {ZeroDivisionError}
        await _putting(index, 0)
        assert await index.count(BASE) == 1


async def test_a_full_disk_reaches_everyone_who_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async with asyncio.timeout(60), opened(tmp_path) as index:
        monkeypatch.setattr(group_commit, "replace_documents", fail)
        outcomes = await asyncio.gather(
            *(_putting(index, number) for number in range(5)), return_exceptions=True
        )
        assert {type(one) for one in outcomes} <= {StorageUnavailable, IndexUnavailable}


async def test_a_closed_index_refuses_documents(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        pass
    for _ in range(2):
        with pytest.raises(IndexUnavailable, match="closed"):
            await _putting(index, 0)


async def test_the_last_of_several_versions_put_at_once_stays(tmp_path: Path) -> None:
    async with asyncio.timeout(60), opened(tmp_path) as index:
        await asyncio.gather(
            put(index, "a", ["first", "second"], _VECTORS[:2]),
            put(index, "b", ["beside"], [_VECTORS[2]]),
            put(index, "a", ["third"], [_VECTORS[3]]),
            put(index, "c", [], []),
            put(index, "b", [], []),
            put(index, "d", [f"word{number}" for number in range(1_200)], _VECTORS * 20),
            put(index, "a", ["last"], [_VECTORS[4]]),
        )
        assert await index.count(BASE) == 1_201
        assert await words(index, "first second beside third last") == ["last"]
    async with opened(tmp_path) as index:
        assert await index.count(BASE) == 1_201
        assert await words(index, "last") == ["last"]
