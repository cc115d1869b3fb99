"""When a document came in, and when it last changed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Document, DocumentId, DocumentRecord

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_change_keeps_the_time_of_creation(tmp_path: Path) -> None:
    async with connect(tmp_path / "footnote.sqlite") as database:
        catalog = SqliteCatalog(database)
        base = await catalog.open("Handbook", model="m")
        document = Document(
            id=DocumentId("d"),
            knowledge_base=base.id,
            title="a.md",
            uri="file:///a.md",
            media_type="text/markdown",
            digest="1",
        )

        async def times() -> tuple[float, float]:
            ((created, updated),) = await database.fetch("SELECT created_at, updated_at FROM documents")
            return float(created), float(updated)

        before = time.time()
        await catalog.save(DocumentRecord(document=document, state="ready"))
        created, updated = await times()
        assert before <= created == updated <= time.time()
        await catalog.save(DocumentRecord(document=replace(document, digest="2"), state="ready"))
        again, later = await times()
        assert again == created
        assert later > updated
