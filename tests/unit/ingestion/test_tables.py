"""Tables are kept with their document and go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.splitters.structure import Settings, build
from rag_engine.tables.store import TableStore
from rag_engine.types import Section

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from rag_engine.types import Blob
    from tests.unit.ingestion.world import World


async def _parsed(blob: Blob) -> AsyncIterator[list[Section]]:
    yield [Section(text=blob.path.read_text(), kind="table")]


async def test_tables_follow_their_document(world: World, tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    embedder = world.embedder
    ingestion = Ingestion(
        parse=_parsed,
        splitter=build(Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
        embedder=embedder,
        index=world.index,
        catalog=world.catalog,
        tables=store,
    )
    path = tmp_path / "list.csv"

    async def put(text: str) -> list[int]:
        path.write_text(text)
        record = (await ingestion.ingest(await blob_from_path(path), knowledge_base=world.base)).record
        known = await store.tables({record.document.id: world.base})
        return [stored.table.row_count for stored in known]

    assert await put("A | B\n1 | 2") == [1]
    assert await put("A | B\n1 | 2\n3 | 4") == [2]
    record = await world.catalog.find(world.base, uri=path.as_uri())
    assert record is not None
    await ingestion.reindex(record)
    known = await store.tables({record.document.id: world.base})
    assert [stored.table.row_count for stored in known] == [2]
    await ingestion.forget(world.base, record.document.id)
    assert await store.tables({record.document.id: world.base}) == []
    assert not list((tmp_path / "tables").rglob("*.sqlite"))
