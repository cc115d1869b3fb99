"""What is known of files whose worker's process ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.ingestion import blob_from_path
from rag_engine.storage import sqlite
from rag_engine.storage.attempts import SqliteAttempts
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.workers import WorkerId, working
from rag_engine.types import Document, DocumentId, DocumentRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from rag_engine.storage.sqlite import Database
    from rag_engine.types import Blob, DocumentState, KnowledgeBaseId


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with sqlite.connect(tmp_path / "footnote.sqlite") as opened:
        yield opened


@pytest.fixture
async def base(database: Database) -> KnowledgeBaseId:
    return (await SqliteCatalog(database).open("Handbook", model="m")).id


@pytest.fixture
def attempts(database: Database, tmp_path: Path) -> Iterator[SqliteAttempts]:
    with working(tmp_path / "workers") as worker:
        yield SqliteAttempts(database, workers=tmp_path / "workers", worker=worker)


async def blob(folder: Path, name: str = "a.txt", text: str = "Hello") -> Blob:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return await blob_from_path(path)


def dead(database: Database, folder: Path) -> SqliteAttempts:
    """Those of a worker that does not live any more."""
    return SqliteAttempts(database, workers=folder / "workers", worker=WorkerId("1-dead"))


async def test_a_file_whose_worker_died_is_suspected_by_its_bytes(
    attempts: SqliteAttempts, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    one, copy, other = [
        await blob(tmp_path, *given) for given in (("a.txt", "x"), ("b.txt", "x"), ("c.txt", "y"))
    ]
    assert await attempts.begin(base, one) == "none"
    await attempts.end(base, one)
    assert await dead(database, tmp_path).begin(base, one) == "none"
    assert await attempts.begin(base, other) == "none"
    assert await attempts.begin(base, copy) == "suspected"
    await attempts.end(base, copy)
    assert await attempts.begin(base, one) == "none", "it was read: nothing is held against it"


async def test_what_a_living_worker_is_at_is_not_suspected(
    attempts: SqliteAttempts, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    given = await blob(tmp_path)
    with working(tmp_path / "workers") as other:
        living = SqliteAttempts(database, workers=tmp_path / "workers", worker=other)
        await living.begin(base, given)
        assert await attempts.sweep() == 0
        assert await attempts.begin(base, await blob(tmp_path, "b.txt")) == "none"


async def test_who_leaves_in_good_order_leaves_no_suspicion(
    attempts: SqliteAttempts, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    given = await blob(tmp_path)
    await attempts.begin(base, given)
    await attempts.leave(base, given)
    assert await attempts.begin(base, given) == "none"


async def test_what_is_set_aside_stays_so_until_it_is_pardoned(
    attempts: SqliteAttempts, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    given = await blob(tmp_path)
    await attempts.begin(base, given)
    await attempts.leave(base, given, set_aside=True)
    for _ in range(2):
        assert await attempts.begin(base, await blob(tmp_path, "b.txt")) == "set aside"
        await attempts.leave(base, await blob(tmp_path, "b.txt"))
    await attempts.pardon(given.digest)
    assert await attempts.begin(base, given) == "none"


@pytest.mark.parametrize("state", ["queued", "parsing", "embedding"])
@pytest.mark.parametrize(("uri", "becomes"), [("file:///a.txt", "queued"), ("chat://1", "failed")])
async def test_nothing_is_said_to_be_read_for_ever(
    attempts: SqliteAttempts,
    database: Database,
    base: KnowledgeBaseId,
    tmp_path: Path,
    state: DocumentState,
    uri: str,
    becomes: DocumentState,
) -> None:
    catalog = SqliteCatalog(database)
    given = await blob(tmp_path)
    document = Document(
        id=DocumentId("d"),
        knowledge_base=base,
        title="a.txt",
        uri=uri,
        media_type="text/plain",
        digest=given.digest,
    )
    given = replace(given, uri=uri)
    await catalog.save(DocumentRecord(document=document, state=state))
    await dead(database, tmp_path).begin(base, given)
    assert await attempts.sweep() == 1
    (record,) = await catalog.records(base)
    assert record.state == becomes
    assert record.reason.startswith("The program ended before it was read to the end")
    assert await attempts.sweep() == 0


async def test_a_version_that_can_be_searched_stays_ready(
    attempts: SqliteAttempts, database: Database, base: KnowledgeBaseId, tmp_path: Path
) -> None:
    catalog = SqliteCatalog(database)
    given = await blob(tmp_path)
    document = Document(
        id=DocumentId("d"), knowledge_base=base, title="a", uri=given.uri, media_type="", digest="old"
    )
    ready = DocumentRecord(document=document, state="ready", chunks=3)
    await catalog.save(ready)
    await dead(database, tmp_path).begin(base, given)
    assert await attempts.sweep() == 1
    assert await catalog.records(base) == [ready]
