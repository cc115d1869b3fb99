"""Ingestion: what a person finds in the catalog and in the index after each file, good or bad, old or new."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import hashing
from rag_engine.errors import (
    CorruptFile,
    EmbedderUnavailable,
    EmptyDocument,
    FileTooLarge,
    IndexUnavailable,
    UnknownDocument,
    UnsupportedFile,
    UserError,
)
from rag_engine.ingestion import Ingestion, IngestProgress, blob_from_path
from rag_engine.searchable import searchable_text
from rag_engine.splitters.structure import Settings, build
from rag_engine.storage import sqlite
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.types import (
    Blob,
    Chunk,
    Document,
    DocumentId,
    DocumentRecord,
    KnowledgeBaseId,
    Ranking,
    Search,
    Section,
    Side,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.embedders.hashing import HashingEmbedder
    from rag_engine.types import Matrix, Vector


class ListedIndex:
    """An index that only keeps what it is given; `refuse` is raised by the next `put`."""

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], tuple[Document, list[tuple[Chunk, Vector]]]] = {}
        self.puts = 0
        self.refuse: Exception | None = None

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await asyncio.sleep(0)
        if self.refuse is not None:
            raise self.refuse
        self.puts += 1
        self.documents[document.knowledge_base, document.id] = (document, list(chunks))

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        for key in list(self.documents):
            if key[0] == knowledge_base and document in {None, key[1]}:
                del self.documents[key]

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        return [Ranking(leg=search.leg, hits=()) for search in searches]

    def text(self, document: DocumentId) -> str:
        return " ".join(
            chunk.text
            for (_, held), (_, chunks) in self.documents.items()
            if held == document
            for chunk, _ in chunks
        )


@dataclass
class GatedEmbedder:
    """The hashing embedder behind a gate, counting what passes."""

    inner: HashingEmbedder
    texts: list[str] = field(default_factory=list[str])
    refuse: Exception | None = None
    gate: asyncio.Event | None = None
    entered: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    calls: int = 0
    most_at_once: int = 0
    at_once: int = 0

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        self.calls += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.entered.release()
            if self.gate is not None:
                await self.gate.wait()
            if self.refuse is not None:
                raise self.refuse
            self.texts.extend(texts)
            return await self.inner.embed(texts, side=side)
        finally:
            self.at_once -= 1


@dataclass
class LineParser:
    """Reads text files, a section a paragraph and a batch a page (form feed); `!broken` in a page cannot be read."""

    read: list[str] = field(default_factory=list[str])
    closed: int = 0
    gate: asyncio.Event | None = None
    entered: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def parse(self, blob: Blob) -> AsyncIterator[list[Section]]:
        self.read.append(blob.name)
        self.entered.release()
        try:
            for number, page in enumerate(blob.path.read_text(encoding="utf-8").split("\f"), start=1):
                if self.gate is not None:
                    await self.gate.wait()
                if "!broken" in page:
                    raise CorruptFile(f"{blob.name} is damaged.")
                yield [
                    Section(text=text, anchor=f"p. {number}") for text in page.split("\n\n") if text.strip()
                ]
        finally:
            self.closed += 1


@dataclass
class World:
    ingestion: Ingestion
    catalog: SqliteCatalog
    index: ListedIndex
    embedder: GatedEmbedder
    parser: LineParser
    base: KnowledgeBaseId
    folder: Path

    async def blob(self, name: str, text: str) -> Blob:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return await blob_from_path(path)

    async def add(self, name: str, text: str) -> DocumentRecord:
        return (await self.ingestion.ingest(await self.blob(name, text), knowledge_base=self.base)).record

    async def record(self, name: str) -> DocumentRecord:
        found = await self.catalog.find(self.base, uri=(self.folder / name).as_uri())
        assert found is not None
        return found


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    folder = tmp_path / "files"
    folder.mkdir()
    async with (
        sqlite.connect(tmp_path / "footnote.sqlite") as database,
        hashing.connect(hashing.Settings(max_tokens=64), data_dir=tmp_path) as inner,
    ):
        embedder, index, parser = GatedEmbedder(inner), ListedIndex(), LineParser()
        catalog = SqliteCatalog(database)
        base = await catalog.open("docs", model=embedder.model)
        ingestion = Ingestion(
            parse=parser.parse,
            splitter=build(Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
            embedder=embedder,
            index=index,
            catalog=catalog,
        )
        yield World(ingestion, catalog, index, embedder, parser, base.id, folder)


def long_text(label: str, pages: int = 3, paragraphs: int = 30) -> str:
    page = "\n\n".join(
        f"{label} paragraph {number} tells of budget item {number * 7}. It has two sentences."
        for number in range(paragraphs)
    )
    return "\f".join(f"{label} page {number}.\n\n{page}" for number in range(pages))


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


async def test_a_file_without_text_is_told_so(world: World) -> None:
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
    """Nobody knows which version a failed `put` left, so neither's bytes may count as being there already."""
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
        world.embedder.gate.set()
        outcome = await task
    assert outcome.record.chunks == 200
    assert world.embedder.calls > 3


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


async def test_reindexing_needs_no_parser(world: World) -> None:
    record = await world.add("leave.txt", long_text("Leave"))
    held = world.index.documents.pop((world.base, record.document.id))
    outcome = await world.ingestion.reindex(record)
    assert outcome.record == record
    document, chunks = world.index.documents[world.base, record.document.id]
    assert document == held[0]
    assert [chunk for chunk, _ in chunks] == [chunk for chunk, _ in held[1]]
    assert world.parser.read == ["leave.txt"]


async def test_a_document_without_text_cannot_be_reindexed(world: World) -> None:
    failed = await world.add("bad.txt", "!broken")
    with pytest.raises(UnknownDocument, match=r"bad\.txt"):
        await world.ingestion.reindex(failed)


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


async def test_a_blob_says_where_and_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "Größe 1.md"
    path.write_bytes(b"# Hello\n")
    blob = await blob_from_path(path)
    assert blob == Blob(
        name="Größe 1.md",
        media_type="text/markdown",
        path=path,
        digest=hashlib.sha256(b"# Hello\n").hexdigest(),
        size=8,
        uri=path.as_uri(),
    )
    assert (await blob_from_path(path, uri="https://chat.example/1")).uri == "https://chat.example/1"


async def test_files_that_cannot_be_taken_are_refused_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "large.txt").write_bytes(b"x" * 2_000_000)
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    expected: list[tuple[str, type[UserError], str]] = [
        ("missing.txt", UserError, "There is no file missing.txt"),
        ("empty.txt", EmptyDocument, "empty.txt is empty"),
        ("large.txt", FileTooLarge, "large.txt has 2 MB, and at most 1 MB"),
        (".", UnsupportedFile, "is a folder"),
        ("empty.txt/inside.txt", UserError, "There is no file inside.txt"),
        ("loop.txt", UserError, "loop.txt cannot be read"),
        ("n" * 300, UserError, "cannot be read"),
    ]
    for name, kind, words in expected:
        with pytest.raises(kind, match=words):
            await blob_from_path(tmp_path / name, max_bytes=1_000_000)
