"""A small installation: a catalog in SQLite, and an index of the ports' shape that keeps its chunks in memory."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.errors import IndexUnavailable
from rag_engine.ports import IndexIdentity
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import (
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    DocumentRecord,
    KnowledgeBase,
    KnowledgeBaseId,
    Section,
)
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.types import Ranking, Search, Vector

IDENTITY = IndexIdentity(model="all-MiniLM-L6-v2@fp32", dimensions=384, analyzer="3")


class MemoryIndex:
    """The ports `Index` and `IndexContents`; `fail_after` puts it fails."""

    def __init__(self, *, fail_after: int = 1_000_000) -> None:
        self.documents: dict[tuple[KnowledgeBaseId, DocumentId], list[tuple[Chunk, Vector]]] = {}
        self._left = fail_after

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        if self._left == 0:
            raise IndexUnavailable
        self._left -= 1
        self.documents[document.knowledge_base, document.id] = list(chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        for key in list(self.documents):
            if key[0] == knowledge_base and document in (None, key[1]):
                del self.documents[key]

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        return []

    async def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncGenerator[tuple[Chunk, Vector], None]:
        for key in sorted(self.documents):
            if key[0] == knowledge_base:
                for row in self.documents[key]:
                    yield row

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return sum(len(rows) for key, rows in self.documents.items() if key[0] == knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        rows = self.documents.get((knowledge_base, document), [])
        known = (chunk for chunk, _ in rows if chunk.ordinal >= start)
        return sorted(known, key=lambda chunk: chunk.ordinal)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What an export reads and an import writes."""

    catalog: SqliteCatalog
    index: MemoryIndex

    async def fill(self, name: str = "Handbook", *, documents: int = 3, chunks: int = 4) -> KnowledgeBase:
        """A knowledge base with as many documents of as many chunks."""
        base = await self.catalog.open(name, model=IDENTITY.model)
        for number in range(documents):
            await self.add(base, f"doc-{number}", chunks=chunks)
        return base

    async def add(self, base: KnowledgeBase, name: str, *, chunks: int, source: str = "") -> DocumentRecord:
        """One document, ready."""
        document = Document(
            id=DocumentId(f"{base.id}-{name}"),
            knowledge_base=base.id,
            title=f"{name}.pdf",
            uri=f"file:///{name}.pdf",
            media_type="application/pdf",
            digest=f"digest of {name}",
            size=1_000,
        )
        record = DocumentRecord(document=document, state="ready", reason="", chunks=chunks, pages=2)
        rows = [row(document, ordinal) for ordinal in range(chunks)]
        sections = [
            Section(text=chunk.text, anchor=chunk.anchor, headings=chunk.headings) for chunk, _ in rows
        ]
        await self.index.put(document, rows)
        await self.catalog.save(record, source=source or f"https://chat/{name}", sections=sections)
        return record

    async def fail(self, base: KnowledgeBase, name: str, state: str = "failed") -> DocumentRecord:
        """One document that could not be read, or is being read."""
        ready = await self.add(base, name, chunks=0)
        record = replace(ready, state=state, reason="it is a picture of a cat")
        await self.catalog.save(record)
        return record


def row(document: Document, ordinal: int) -> tuple[Chunk, Vector]:
    vector = (
        np.random.default_rng([ordinal, len(document.id)])
        .standard_normal(IDENTITY.dimensions)
        .astype(np.float32)
    )
    chunk = Chunk(
        id=ChunkId(f"{document.id}:{ordinal}"),
        document=document.id,
        knowledge_base=document.knowledge_base,
        ordinal=ordinal,
        text=f'Absatz {ordinal} – 第{ordinal}段 \u2028 "quoted"\nnext line 🙂',
        title=document.title,
        uri=document.uri,
        headings=("Leave", f"Part {ordinal}"),
        anchor=f"p. {ordinal}",
        kind="table" if ordinal % 2 else "prose",
        language="de",
    )
    return chunk, (vector / np.linalg.norm(vector)).astype(np.float32)


@asynccontextmanager
async def shelf(folder: Path, *, fail_after: int = 1_000_000) -> AsyncGenerator[Shelf, None]:
    """An installation in the folder."""
    async with connect(new_database(folder / "footnote.sqlite")) as database:
        yield Shelf(catalog=SqliteCatalog(database), index=MemoryIndex(fail_after=fail_after))
