"""Work before an outage, removal or kill is not repeated, and pending removals complete."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace

import pytest

from rag_engine.errors import EmbedderUnavailable, IndexUnavailable
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.splitters.structure import Settings, build
from rag_engine.types import DocumentId
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from tests.doubles.vector_cache import MemoryVectorCache
from tests.unit.ingestion.world import World, long_text

LONG = "\f".join(long_text(f"Budget {number}", pages=1) for number in range(80))
"""Long enough to be worth keeping between attempts."""
DIGEST = hashlib.sha256(LONG.encode()).hexdigest()


async def read_and_not_embedded(world: World) -> None:
    """The embedder fails once the file has been read completely."""
    gate = world.embedder.gate = asyncio.Event()
    adding = asyncio.create_task(world.add("budget.txt", LONG))
    async with asyncio.timeout(10):
        await world.embedder.entered.acquire()
        world.embedder.refuse = EmbedderUnavailable()
        # Only writing the text is left of the reading; the embedder fails after that.
        document = (await world.record("budget.txt")).document
        for _ in range(10_000):
            if await world.catalog.unfinished.reading(replace(document, digest=DIGEST)):
                break
        gate.set()
        with pytest.raises(EmbedderUnavailable):
            await adding
    world.embedder.refuse = world.embedder.gate = None


@pytest.mark.slow
async def test_a_long_file_is_read_once_although_the_embedder_was_away(world: World) -> None:
    for _ in range(2):
        await read_and_not_embedded(world)
        assert (await world.record("budget.txt")).state == "queued"
    record = await world.add("budget.txt", LONG)
    assert (record.state, record.pages) == ("ready", 80)
    assert world.parser.read == ["budget.txt"]
    assert "".join(world.index.text(record.document.id).split()) == "".join(LONG.split())


@pytest.mark.slow
async def test_a_long_file_is_read_once_although_the_index_was_away(world: World) -> None:
    world.index.refuse = IndexUnavailable()
    with pytest.raises(IndexUnavailable):
        await world.add("budget.txt", LONG)
    world.index.refuse = None
    assert (await world.add("budget.txt", LONG)).state == "ready"
    assert world.parser.read == ["budget.txt"]


async def test_the_text_of_other_bytes_is_not_taken_for_it(world: World) -> None:
    await read_and_not_embedded(world)
    record = await world.add("budget.txt", long_text("Changed"))
    assert world.parser.read == ["budget.txt", "budget.txt"]
    assert "Budget" not in world.index.text(record.document.id)
    assert await world.catalog.unfinished.reading(record.document) == []


@pytest.mark.slow
async def test_a_new_version_is_read_once_and_the_old_one_stays_searchable(world: World) -> None:
    first = await world.add("budget.txt", long_text("Old"))
    world.embedder.entered = asyncio.Semaphore(0)
    await read_and_not_embedded(world)
    assert await world.record("budget.txt") == first
    second = await world.add("budget.txt", LONG)
    assert second.document.id == first.document.id
    assert world.parser.read == ["budget.txt"] * 2
    assert "Old" not in world.index.text(second.document.id)


async def test_a_short_file_is_not_worth_a_copy_of_its_text(world: World) -> None:
    world.embedder.refuse = EmbedderUnavailable()
    with pytest.raises(EmbedderUnavailable):
        await world.add("leave.txt", long_text("Leave"))
    assert await world.catalog.unfinished.reading((await world.record("leave.txt")).document) == []


async def test_a_file_that_breaks_off_leaves_no_text_behind(world: World) -> None:
    failed = await world.add("budget.txt", f"{LONG}\f!broken")
    assert failed.state == "failed"
    assert await world.catalog.unfinished.reading(failed.document) == []


@pytest.mark.slow
async def test_no_batch_that_was_embedded_is_embedded_again(world: World) -> None:
    """The embedder fails twice midway; in the end it has seen every passage once."""
    ingestion = Ingestion(
        parse=world.parser.parse,
        splitter=build(
            Settings(), count_tokens=world.embedder.count_tokens, max_tokens=world.embedder.max_tokens
        ),
        embedder=CachedEmbedder(world.embedder, MemoryVectorCache()),
        index=world.index,
        catalog=world.catalog,
    )
    blob = await world.blob("budget.txt", LONG)
    world.embedder.refuse = EmbedderUnavailable()
    for passes in (2, 3):
        world.embedder.passes = passes
        with pytest.raises(EmbedderUnavailable):
            await ingestion.ingest(blob, knowledge_base=world.base)
    world.embedder.refuse = None
    before = len(world.embedder.texts)
    record = (await ingestion.ingest(blob, knowledge_base=world.base)).record
    assert 0 < before < record.chunks == len(world.embedder.texts)
    assert len(set(world.embedder.texts)) == record.chunks


async def left(world: World) -> set[DocumentId]:
    return {DocumentId(document) for _, document in world.index.documents}


async def test_what_could_not_be_removed_is_removed_later(world: World) -> None:
    gone = await world.add("leave.txt", long_text("Leave"))
    kept = await world.add("travel.txt", long_text("Travel"))
    world.index.refuse_before = IndexUnavailable()
    assert not await world.ingestion.forget(world.base, gone.document.id)
    assert not await world.ingestion.finish_removals()
    assert await left(world) == {gone.document.id, kept.document.id}
    assert set(await world.catalog.unfinished.leaving()) == {gone.document.id}
    world.index.refuse_before = None
    assert await world.ingestion.finish_removals()
    assert await left(world) == {kept.document.id}
    assert await world.catalog.records(world.base) == [kept]
    assert not await world.catalog.unfinished.leaving()


async def test_a_source_that_could_not_be_removed_is_removed_later(world: World) -> None:
    gone = await world.add("leave.txt", long_text("Leave"))
    world.index.refuse_before = IndexUnavailable()
    await world.ingestion.forget_source(world.base, gone.document.uri)
    assert set(await world.catalog.unfinished.leaving()) == {gone.document.id}
    world.index.refuse_before = None
    assert await world.ingestion.finish_removals()
    assert await left(world) == set()


async def test_a_knowledge_base_that_could_not_be_removed_is_removed_later(world: World) -> None:
    await world.add("leave.txt", long_text("Leave"))
    world.index.refuse_before = IndexUnavailable()
    assert not await world.ingestion.forget(world.base)
    assert not await world.ingestion.finish_removals()
    world.index.refuse_before = None
    assert await world.ingestion.finish_removals()
    assert await world.catalog.knowledge_bases() == []
    assert await left(world) == set()


async def test_what_is_added_again_before_it_could_be_removed_stays(world: World) -> None:
    first = await world.add("leave.txt", long_text("Leave"))
    await world.add("travel.txt", long_text("Travel"))
    world.index.refuse_before = IndexUnavailable()
    assert not await world.ingestion.forget(world.base)
    world.index.refuse_before = None
    again = await world.add("leave.txt", long_text("Leave"))
    assert await world.ingestion.finish_removals()
    assert await world.catalog.records(world.base) == [again] == [first]
    assert await left(world) == {first.document.id}


async def test_removing_what_nobody_knows_is_not_put_off(world: World) -> None:
    world.index.refuse_before = IndexUnavailable()
    with pytest.raises(IndexUnavailable):
        await world.ingestion.forget(world.base, DocumentId("nobody"))
