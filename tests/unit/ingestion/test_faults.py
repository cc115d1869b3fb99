"""The state after reading, embedding, writing or removing fails or is stopped."""

from __future__ import annotations

import asyncio

import pytest

from rag_engine.errors import (
    EmbedderUnavailable,
    IndexUnavailable,
    UnknownDocument,
    UserError,
)
from tests.unit.ingestion.world import World, long_text


async def test_a_file_that_cannot_be_read_is_recorded_with_the_reason(world: World) -> None:
    outcome = await world.ingestion.ingest(
        await world.blob("bad.txt", f"{long_text('Good')}\f!broken"), knowledge_base=world.base
    )
    assert not outcome.changed
    assert (outcome.record.state, outcome.record.reason) == ("failed", "bad.txt is damaged.")
    assert outcome.record == await world.record("bad.txt")
    assert world.index.documents == {}
    mended = await world.add("bad.txt", "All is well now.")
    assert (mended.state, mended.reason, mended.document.id) == ("ready", "", outcome.record.document.id)


async def test_a_file_without_text_is_reported(world: World) -> None:
    record = await world.add("blank.txt", " \n\n \f ")
    assert record.state == "failed"
    assert "no text" in record.reason


async def test_a_new_version_that_cannot_be_read_leaves_the_old_one(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    failed = await world.add("leave.txt", "!broken")
    assert failed.state == "failed"
    kept = await world.record("leave.txt")
    assert (kept.state, kept.document, kept.chunks) == ("ready", first.document, first.chunks)
    assert "earlier one stays searchable" in kept.reason
    assert "leave.txt is damaged." in kept.reason
    assert "Old" in world.index.text(first.document.id)
    restored = await world.add("leave.txt", long_text("Old"))
    assert restored == first
    assert (await world.record("leave.txt")).reason == ""


async def test_an_embedder_that_does_not_answer_leaves_the_file_to_be_taken_up_again(world: World) -> None:
    world.embedder.refuse = EmbedderUnavailable("the model server is down.")
    with pytest.raises(EmbedderUnavailable):
        await world.add("leave.txt", long_text("Leave"))
    waiting = await world.record("leave.txt")
    assert (waiting.state, waiting.reason) == ("queued", "the model server is down.")
    assert world.index.documents == {}
    world.embedder.refuse = None
    assert (await world.add("leave.txt", long_text("Leave"))).state == "ready"


async def test_an_embedder_that_fails_on_a_new_version_leaves_the_old_one_ready(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    world.embedder.refuse = EmbedderUnavailable()
    with pytest.raises(EmbedderUnavailable):
        await world.add("leave.txt", long_text("New"))
    assert await world.record("leave.txt") == first


async def test_an_index_that_fails_on_a_new_version_does_not_vouch_for_either(world: World) -> None:
    """A failed `put` may leave either version, so neither counts as present."""
    await world.add("leave.txt", long_text("Old"))
    world.index.refuse = IndexUnavailable()
    with pytest.raises(IndexUnavailable):
        await world.add("leave.txt", long_text("New"))
    world.index.refuse = None
    back = await world.ingestion.ingest(
        await world.blob("leave.txt", long_text("Old")), knowledge_base=world.base
    )
    assert back.changed
    assert "New" not in world.index.text(back.record.document.id)


@pytest.mark.parametrize("waiting_for", ["parser", "embedder"])
async def test_cancelling_leaves_nothing_behind(world: World, waiting_for: str) -> None:
    part = world.parser if waiting_for == "parser" else world.embedder
    part.gate = asyncio.Event()
    blob = await world.blob("leave.txt", long_text("Leave", pages=50))
    async with asyncio.timeout(5):
        task = asyncio.create_task(world.ingestion.ingest(blob, knowledge_base=world.base))
        await part.entered.acquire()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert world.parser.closed == 1
    assert [other for other in asyncio.all_tasks() if other is not asyncio.current_task()] == []
    assert world.index.documents == {}
    part.gate = None
    assert (await world.add("leave.txt", long_text("Leave", pages=50))).state == "ready"


async def test_a_document_without_text_cannot_be_reindexed(world: World) -> None:
    failed = await world.add("bad.txt", "!broken")
    with pytest.raises(UnknownDocument, match=r"bad\.txt"):
        await world.ingestion.reindex(failed)


@pytest.mark.parametrize("whole", [False, True])
async def test_a_removal_that_stops_halfway_does_not_pass_for_a_document(world: World, whole: bool) -> None:
    """The index's reply is lost and its chunks are gone, so the same bytes must be added again."""
    record = await world.add("leave.txt", long_text("Leave"))
    world.index.refuse = IndexUnavailable()
    assert not await world.ingestion.forget(world.base, None if whole else record.document.id)
    world.index.refuse = None
    assert await world.add("leave.txt", long_text("Leave")) == record
    assert "Leave" in world.index.text(record.document.id)


async def test_a_knowledge_base_removed_meanwhile_keeps_no_chunks(world: World) -> None:
    world.embedder.gate = asyncio.Event()
    blob = await world.blob("leave.txt", long_text("Leave"))
    async with asyncio.timeout(5):
        task = asyncio.create_task(world.ingestion.ingest(blob, knowledge_base=world.base))
        await world.embedder.entered.acquire()
        await world.ingestion.forget(world.base)
        world.embedder.gate.set()
        with pytest.raises(UserError, match="removed"):
            await task
    assert world.index.documents == {}


@pytest.mark.parametrize("whole", [True, False])
async def test_what_another_program_puts_in_while_it_is_removed_goes_as_well(
    world: World, *, whole: bool
) -> None:
    record = await world.add("leave.txt", long_text("Leave"))
    document, chunks = world.index.documents[world.base, record.document.id]

    async def meanwhile() -> None:
        """Another program's ingestion ends after ours dropped the passages and before it updated the catalog."""
        world.index.after_drop = None
        await world.index.put(document, chunks)
        await world.catalog.save(record)

    world.index.after_drop = meanwhile
    assert await world.ingestion.forget(world.base, None if whole else record.document.id)
    assert world.index.documents == {}
    assert await world.catalog.records(world.base) == []
