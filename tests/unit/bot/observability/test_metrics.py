from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.observability import Observers
from bot.observability.metrics import Meters
from bot.observability.operations import IndexUse
from rag_engine.errors import IndexUnavailable, SchemaMismatch
from tests.contracts.indexing import IDENTITY, base, dense, document, lexical, put, vector
from tests.doubles import flaky_index

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rag_engine.ports import StoredIndex

MINE = "footnote_index_"


@pytest.fixture
def meters() -> Meters:
    return Meters()


@pytest.fixture
async def index(meters: Meters, tmp_path: Path) -> AsyncGenerator[StoredIndex]:
    async with flaky_index.connect(flaky_index.Settings(), data_dir=tmp_path, identity=IDENTITY) as opened:
        yield Observers(sinks=(meters,)).index(opened)


def counted(meters: Meters, name: str, **labels: str) -> float | None:
    return meters.registry.get_sample_value(MINE + name, labels)


def opening(meters: Meters) -> AbstractContextManager[None]:
    return Observers(sinks=(meters,)).around(IndexUse(name="open"))


def searching(meters: Meters) -> AbstractContextManager[None]:
    return Observers(sinks=(meters,)).around(IndexUse(name="search"))


def operations(meters: Meters) -> dict[tuple[str, str], float]:
    """How often each operation ended how; those that never did are left out."""
    return {
        (sample.labels["operation"], sample.labels["outcome"]): sample.value
        for metric in meters.registry.collect()
        for sample in metric.samples
        if sample.name == MINE + "operations_total" and sample.value
    }


async def test_every_operation_is_counted_and_timed(meters: Meters, index: StoredIndex) -> None:
    await put(index, document("leave"), "leave of 28 days")
    lexical_hits, dense_hits = await index.search([lexical("leave"), dense(vector(0))])
    assert len(lexical_hits.hits) == len(dense_hits.hits) == 1
    assert await index.count(base("kb")) == 1
    assert [chunk.text async for chunk, _ in index.scan(base("kb"))] == ["leave of 28 days"]
    await index.drop(base("kb"))
    assert operations(meters) == {("put", "ok"): 1, ("search", "ok"): 1, ("drop", "ok"): 1}
    for operation in ("put", "search", "drop"):
        assert counted(meters, "seconds_count", operation=operation) == 1
    assert counted(meters, "operations_total", operation="open", outcome="unavailable") == 0


async def test_a_fault_is_counted_by_what_was_wrong(
    meters: Meters, index: StoredIndex, tmp_path: Path
) -> None:
    (tmp_path / flaky_index.AWAY).touch()
    for _ in range(2):
        with pytest.raises(IndexUnavailable):
            await index.search([lexical("leave")])
    assert operations(meters) == {("search", "unavailable"): 2}
    assert counted(meters, "faults_total", backend="flaky", reason="unreachable") == 2


async def test_a_ranking_with_parts_missing_is_counted_by_its_leg(
    meters: Meters, index: StoredIndex, tmp_path: Path
) -> None:
    await index.search([lexical("leave"), dense(vector(0))])
    (tmp_path / flaky_index.PART).touch()
    await index.search([lexical("leave")])
    assert operations(meters) == {("search", "ok"): 2}
    assert counted(meters, "incomplete_rankings_total", leg="lexical") == 1
    assert counted(meters, "incomplete_rankings_total", leg="dense") == 0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(SchemaMismatch(), "misconfigured"), (asyncio.CancelledError(), "cancelled"), (KeyError(), "failed")],
)
def test_other_ends_have_their_own_names(meters: Meters, error: BaseException, outcome: str) -> None:
    with pytest.raises(type(error)), opening(meters):
        raise error
    assert operations(meters) == {("open", outcome): 1}


def test_a_fault_without_a_word_for_it_is_counted_all_the_same(meters: Meters) -> None:
    with pytest.raises(IndexUnavailable), searching(meters):
        raise IndexUnavailable
    assert counted(meters, "faults_total", backend="index", reason="failed") == 1
