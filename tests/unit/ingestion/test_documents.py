"""The catalog and the index after each file: good or bad, old or new."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from rag_engine.text.chunk_text import searchable_text

if TYPE_CHECKING:
    from rag_engine.ingestion.ingestion import IngestProgress


from tests.unit.ingestion.world import World, long_text


async def test_a_file_becomes_searchable_chunks(world: World) -> None:
    text = long_text("Leave", pages=4)
    blob = await world.blob("leave.txt", text)
    seen: list[IngestProgress] = []
    outcome = await world.ingestion.ingest(blob, knowledge_base=world.base, progress=seen.append)
    record = outcome.record
    assert outcome.changed
    assert (record.state, record.reason, record.pages) == ("ready", "", 4)
    assert record == await world.record("leave.txt")
    document, chunks = world.index.documents[world.base, record.document.id]
    assert document == record.document
    assert [chunk.ordinal for chunk, _ in chunks] == list(range(record.chunks))
    assert {chunk.anchor for chunk, _ in chunks} == {"p. 1", "p. 2", "p. 3", "p. 4"}
    expected = await world.embedder.inner.embed(
        [searchable_text(chunk) for chunk, _ in chunks], side="passage"
    )
    assert all((vector == row).all() for (_, vector), row in zip(chunks, expected, strict=True))
    assert "".join(world.index.text(record.document.id).split()) == "".join(text.split())
    assert [section.text for section in await world.catalog.sections(record.document.id)] == [
        paragraph for page in text.split("\f") for paragraph in page.split("\n\n")
    ]
    assert [seen[0].state, seen[-1].state] == ["parsing", "ready"]
    assert "embedding" in [step.state for step in seen]
    assert seen[-1].chunks == record.chunks


async def test_the_same_bytes_again_change_nothing(world: World) -> None:
    first = await world.add("leave.txt", long_text("Leave"))
    again = await world.ingestion.ingest(
        await world.blob("leave.txt", long_text("Leave")), knowledge_base=world.base
    )
    assert not again.changed
    assert again.record == first
    assert (world.parser.read, world.index.puts) == (["leave.txt"], 1)


async def test_the_same_bytes_elsewhere_are_one_more_source(world: World) -> None:
    first = await world.add("leave.txt", long_text("Leave"))
    second = await world.add("copy.txt", long_text("Leave"))
    assert second == first
    assert len(await world.catalog.sources(first.document.id)) == 2
    assert world.parser.read == ["leave.txt"]


async def test_another_knowledge_base_has_its_own(world: World) -> None:
    blob = await world.blob("leave.txt", long_text("Leave"))
    other = await world.catalog.open("other", model=world.embedder.model)
    first = await world.ingestion.ingest(blob, knowledge_base=world.base)
    second = await world.ingestion.ingest(blob, knowledge_base=other.id)
    assert second.changed
    assert first.record.document.id != second.record.document.id
    assert len(world.index.documents) == 2


async def test_a_changed_file_replaces_its_chunks_under_the_same_id(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    second = await world.add("leave.txt", long_text("New"))
    assert second.document.id == first.document.id
    assert second.document.digest != first.document.digest
    assert "Old" not in world.index.text(first.document.id)
    assert len(await world.catalog.records(world.base)) == 1


async def test_a_changed_file_leaves_the_document_to_its_other_places(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    await world.add("copy.txt", long_text("Old"))
    second = await world.add("leave.txt", long_text("New"))
    assert second.document.id != first.document.id
    old, new = await world.record("copy.txt"), await world.record("leave.txt")
    assert (old.document.id, new.document.id) == (first.document.id, second.document.id)
    assert (old.state, old.document.digest) == ("ready", first.document.digest)
    assert await world.catalog.sources(old.document.id) == [(world.folder / "copy.txt").as_uri()]
    held = world.index.documents[world.base, old.document.id]
    assert {chunk.uri for chunk, _ in held[1]} == {(world.folder / "copy.txt").as_uri()}
    assert "Old" in world.index.text(old.document.id)
    assert "New" in world.index.text(new.document.id)


async def test_a_source_that_is_forgotten_leaves_the_document_to_its_others(world: World) -> None:
    first = await world.add("leave.txt", long_text("Leave"))
    await world.add("copy.txt", long_text("Leave"))
    copy = (world.folder / "copy.txt").as_uri()
    await world.ingestion.forget_source(world.base, first.document.uri)
    record = await world.record("copy.txt")
    assert (record.document.id, record.document.uri, record.state) == (first.document.id, copy, "ready")
    assert record.document.digest == first.document.digest
    assert await world.catalog.sources(record.document.id) == [copy]
    held = world.index.documents[world.base, record.document.id]
    assert {chunk.uri for chunk, _ in held[1]} == {copy}
    await world.ingestion.forget_source(world.base, first.document.uri)
    assert await world.record("copy.txt") == record
    await world.ingestion.forget_source(world.base, copy)
    assert not world.index.documents
    assert await world.catalog.records(world.base) == []


async def test_the_name_of_a_copy_cannot_bring_characters_that_control_a_terminal(world: World) -> None:
    first = await world.add("one.txt", "The same words.")
    await world.add("\x1b[2Jcopy\u202etxt.exe", "The same words.")
    await world.ingestion.forget_source(world.base, first.document.uri)
    (record,) = await world.catalog.records(world.base)
    assert record.document.title == "[2Jcopytxt.exe"


async def test_a_copy_that_is_forgotten_writes_nothing(world: World) -> None:
    first = await world.add("leave.txt", long_text("Leave"))
    await world.add("copy.txt", long_text("Leave"))
    await world.ingestion.forget_source(world.base, (world.folder / "copy.txt").as_uri())
    assert world.index.puts == 1
    assert await world.record("leave.txt") == first
    assert await world.catalog.sources(first.document.id) == [first.document.uri]


async def test_a_changed_copy_leaves_the_document_where_it_is(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    await world.add("copy.txt", long_text("Old"))
    await world.add("copy.txt", long_text("New"))
    assert world.index.puts == 2
    assert await world.record("leave.txt") == first
    assert await world.catalog.sources(first.document.id) == [first.document.uri]
    assert "New" in world.index.text((await world.record("copy.txt")).document.id)


async def test_a_file_that_changes_into_a_known_one_joins_it(world: World) -> None:
    left = await world.add("left.txt", long_text("Left"))
    right = await world.add("right.txt", long_text("Right"))
    joined = await world.add("left.txt", long_text("Right"))
    assert joined.document.id == right.document.id
    assert [record.document.id for record in await world.catalog.records(world.base)] == [right.document.id]
    assert (world.base, left.document.id) not in world.index.documents


async def test_a_place_that_comes_back_does_not_take_a_moved_documents_id(world: World) -> None:
    first = await world.add("leave.txt", long_text("Old"))
    await world.add("copy.txt", long_text("Old"))
    second = await world.add("leave.txt", long_text("New"))
    await world.ingestion.forget(world.base, second.document.id)
    third = await world.add("leave.txt", long_text("Newer"))
    assert third.document.id != first.document.id
    assert "Old" in world.index.text(first.document.id)


async def test_two_additions_of_one_file_take_turns(world: World) -> None:
    blob = await world.blob("leave.txt", long_text("Leave"))
    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(
            *(world.ingestion.ingest(blob, knowledge_base=world.base) for _ in range(5))
        )
    assert sorted(outcome.changed for outcome in outcomes) == [False] * 4 + [True]
    assert world.index.puts == 1


async def test_copies_added_at_once_become_one_document(world: World) -> None:
    blobs = [await world.blob(f"copy{number}.txt", long_text("Leave")) for number in range(6)]
    async with asyncio.timeout(5):
        await asyncio.gather(*(world.ingestion.ingest(blob, knowledge_base=world.base) for blob in blobs))
    [record] = await world.catalog.records(world.base)
    assert len(await world.catalog.sources(record.document.id)) == 6
    assert world.index.puts == 1


async def test_copies_that_change_at_once_lose_no_source(world: World) -> None:
    names = [f"copy{number}.txt" for number in range(4)]
    for name in names:
        await world.add(name, long_text("Old"))
    async with asyncio.timeout(10):
        await asyncio.gather(*(world.add(name, long_text(f"New{name}")) for name in names))
    records = await world.catalog.records(world.base)
    assert [record.state for record in records] == ["ready"] * 4
    for name in names:
        record = await world.record(name)
        assert f"New{name}" in world.index.text(record.document.id)
        assert record.document.digest == hashlib.sha256((world.folder / name).read_bytes()).hexdigest()
        assert await world.catalog.sources(record.document.id) == [record.document.uri]
    assert len(world.index.documents) == 4


async def test_different_files_are_embedded_side_by_side(world: World) -> None:
    world.embedder.gate = asyncio.Event()
    blobs = [await world.blob(f"{number}.txt", long_text(f"Topic{number}")) for number in range(3)]
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for blob in blobs:
            group.create_task(world.ingestion.ingest(blob, knowledge_base=world.base))
        for _ in blobs:
            await world.embedder.entered.acquire()
        world.embedder.gate.set()
    assert world.embedder.most_at_once == 3


async def test_a_long_file_is_embedded_slice_by_slice_while_it_is_read(world: World) -> None:
    world.embedder.gate = asyncio.Event()
    sections: list[int] = []
    blob = await world.blob("long.txt", long_text("Long", pages=200, paragraphs=4))

    def progress(step: IngestProgress) -> None:
        sections.append(step.sections)

    async with asyncio.timeout(20):
        task = asyncio.create_task(world.ingestion.ingest(blob, knowledge_base=world.base, progress=progress))
        await world.embedder.entered.acquire()
        assert sections[-1] < 1000
        for _ in range(10_000):
            if (await world.record("long.txt")).state != "parsing":
                break
            await asyncio.sleep(0)
        assert (await world.record("long.txt")).state == "embedding"
        assert world.parser.closed == 1
        world.embedder.gate.set()
        outcome = await task
    assert outcome.record.chunks == 200
    assert world.embedder.calls > 3


async def test_reindexing_needs_no_parser(world: World) -> None:
    record = await world.add("leave.txt", long_text("Leave"))
    held = world.index.documents.pop((world.base, record.document.id))
    outcome = await world.ingestion.reindex(record)
    assert outcome.record == record
    document, chunks = world.index.documents[world.base, record.document.id]
    assert document == held[0]
    assert [chunk for chunk, _ in chunks] == [chunk for chunk, _ in held[1]]
    assert world.parser.read == ["leave.txt"]


async def test_forgetting_a_document_is_idempotent(world: World) -> None:
    record = await world.add("leave.txt", long_text("Leave"))
    kept = await world.add("travel.txt", long_text("Travel"))
    for _ in range(2):
        await world.ingestion.forget(world.base, record.document.id)
        assert [found.document.id for found in await world.catalog.records(world.base)] == [kept.document.id]
        assert list(world.index.documents) == [(world.base, kept.document.id)]


async def test_forgetting_a_knowledge_base_is_idempotent(world: World) -> None:
    await world.add("leave.txt", long_text("Leave"))
    for _ in range(2):
        await world.ingestion.forget(world.base)
        assert await world.catalog.knowledge_bases() == []
        assert world.index.documents == {}
