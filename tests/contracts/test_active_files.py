"""No document stays "being read" when the process that read it has died."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.ingestion.ingestion import blob_from_path
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.concurrency.active_files import ActiveFiles
from rag_engine.storage.concurrency.worker_liveness import WorkerId, working
from rag_engine.types import Document, DocumentId, DocumentRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Blob, DocumentState, KnowledgeBaseId


@pytest.fixture
async def base(database: Database) -> KnowledgeBaseId:
    return (await SqliteCatalog(database).open("Handbook", model="m")).id


@pytest.fixture
def active(database: Database, tmp_path: Path) -> Iterator[ActiveFiles]:
    with working(tmp_path / "workers") as worker:
        yield ActiveFiles(database, workers=tmp_path / "workers", worker=worker)


async def blob(folder: Path, name: str = "a.txt", text: str = "Hello") -> Blob:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return await blob_from_path(path)


async def begin_and_die(database: Database, folder: Path, base: KnowledgeBaseId, file: Blob) -> None:
    """What a worker leaves that dies while it reads the file."""
    dead = ActiveFiles(database, workers=folder / "workers", worker=WorkerId("1-dead"))
    await dead.begin(base, file)


async def test_the_files_of_a_living_worker_are_left_alone(
    active: ActiveFiles, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    with working(tmp_path / "workers") as other:
        living = ActiveFiles(database, workers=tmp_path / "workers", worker=other)
        async with living.reading(base, await blob(tmp_path)):
            assert await active.sweep() == 0
            async with active.reading(base, await blob(tmp_path, "b.txt")):
                assert await database.fetch("SELECT count(*) FROM attempts") == [(2,)]
    assert await database.fetch("SELECT * FROM attempts") == []


async def test_nothing_is_left_of_a_file_whose_reading_failed(
    active: ActiveFiles, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with active.reading(base, await blob(tmp_path)):
            raise ZeroDivisionError
    assert await database.fetch("SELECT * FROM attempts") == []


async def test_a_file_that_an_earlier_version_set_aside_is_read(
    active: ActiveFiles, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    file = await blob(tmp_path)
    async with database.transaction() as transaction:
        await transaction.execute(
            "INSERT INTO attempts (knowledge_base, uri, digest, deaths, set_aside) VALUES (?, ?, ?, 2, 1)",
            (base, file.uri, file.digest),
        )
    assert await active.sweep() == 0
    async with active.reading(base, file):
        pass
    assert await database.fetch("SELECT * FROM attempts") == []


@pytest.mark.parametrize("state", ["queued", "parsing", "embedding"])
@pytest.mark.parametrize(("uri", "becomes"), [("file:///a.txt", "queued"), ("chat://1", "failed")])
async def test_a_document_of_a_dead_worker_is_queued_again_or_fails(
    active: ActiveFiles,
    database: Database,
    base: KnowledgeBaseId,
    tmp_path: Path,
    state: DocumentState,
    uri: str,
    becomes: DocumentState,
) -> None:
    catalog = SqliteCatalog(database)
    file = replace(await blob(tmp_path), uri=uri)
    document = Document(
        id=DocumentId("d"),
        knowledge_base=base,
        title="a.txt",
        uri=uri,
        media_type="text/plain",
        digest=file.digest,
    )
    await catalog.save(DocumentRecord(document=document, state=state))
    await begin_and_die(database, tmp_path, base, file)
    assert await active.sweep() == 1
    (record,) = await catalog.records(base)
    assert record.state == becomes
    assert record.reason.startswith("The program ended before it was read to the end")
    assert await active.sweep() == 0


async def test_a_version_that_can_be_searched_stays_ready(
    active: ActiveFiles, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    catalog = SqliteCatalog(database)
    file = await blob(tmp_path)
    document = Document(
        id=DocumentId("d"), knowledge_base=base, title="a", uri=file.uri, media_type="", digest="old"
    )
    ready = DocumentRecord(document=document, state="ready", chunks=3)
    await catalog.save(ready)
    await begin_and_die(database, tmp_path, base, file)
    assert await active.sweep() == 1
    assert await catalog.records(base) == [ready]
