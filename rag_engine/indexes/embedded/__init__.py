"""The index that needs no service: one SQLite file with FTS5 and vectors.

Words are found by FTS5 and scored by Lucene's BM25, meanings by a scan of one bit per dimension and exact cosines of the
nearest. Several processes may open the file; each sees what the others wrote at its next search.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from rag_engine.errors import SchemaMismatch
from rag_engine.indexes.embedded import connections, erasing, replacing, searching, writer
from rag_engine.indexes.embedded.contents import chunks_of, count_of, page_after
from rag_engine.indexes.embedded.dense import words_of
from rag_engine.indexes.embedded.memory import Memory
from rag_engine.indexes.embedded.rows import row_of
from rag_engine.indexes.embedded.schema import SCHEMA

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
    from pathlib import Path

    from rag_engine.indexes.embedded.connections import Connections
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Ranking, Search, Vector

_TIDIED_AFTER = 500
"""Chunks or documents changed before the file is tidied."""


class Settings(BaseModel):
    """Where the index is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = "index.sqlite"
    """The file in the data directory."""


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
) -> AsyncGenerator[EmbeddedIndex]:
    """Open the index, made now if there is none; `rebuilding` opens the one that is built beside the one in use.

    What an interrupted rebuild left is kept; what one of another identity left is discarded. Raises `SchemaMismatch` when the
    file in use is of another identity or a newer version, `Misconfigured` when it cannot be used, `IndexUnavailable` when
    that may pass.
    """
    path = data_dir / settings.file
    if rebuilding:
        path = replacing.beside(data_dir, settings.file)
        await asyncio.to_thread(replacing.discard_others, path, identity)
    async with connections.opened(path, identity) as opened:
        yield EmbeddedIndex(opened, dimensions=identity.dimensions)


async def replace(
    settings: Settings,
    *,
    data_dir: Path,
    identity: IndexIdentity,
    knowledge_bases: Collection[KnowledgeBaseId] | None = None,
) -> None:
    """Put the rebuilt index, which must be closed, in the place of the one in use, in one step, and remove the old one.

    Nothing is done when none was rebuilt, so that doing it twice is harmless. Raises `IndexUnavailable` when another program has
    the old one open, `SchemaMismatch` when the rebuilt one is of another identity; then the one in use stays.
    """
    fresh = replacing.beside(data_dir, settings.file)
    await asyncio.to_thread(replacing.replace, data_dir / settings.file, fresh, identity)


async def abandon(settings: Settings, *, data_dir: Path) -> None:
    """Remove an unfinished rebuild; no error when there is none."""
    await asyncio.to_thread(replacing.abandon, replacing.beside(data_dir, settings.file))


async def remove(settings: Settings, *, data_dir: Path) -> None:
    """Remove the whole index, which must be closed, with everything in it and an unfinished rebuild; no error when there is none."""
    await abandon(settings, data_dir=data_dir)
    await asyncio.to_thread(replacing.remove, data_dir / settings.file)


def files(settings: Settings) -> dict[str, int]:
    """The files in the data directory that are the index, each with the newest schema that is known."""
    return {settings.file: SCHEMA}


async def erase(settings: Settings, *, data_dir: Path) -> bool:
    """Leave nothing in the bytes of the file of what was removed; others may use it meanwhile, and wait where they write.

    Raises `IndexUnavailable` or `StorageUnavailable` when they never let go of it.
    """
    await asyncio.to_thread(erasing.erase, data_dir / settings.file)
    return True


class EmbeddedIndex:
    """`Index` and `IndexContents` over one SQLite file."""

    def __init__(self, file: Connections, *, dimensions: int) -> None:
        self._file = file
        self._dimensions = dimensions
        self._memory = Memory(words=words_of(dimensions))
        self._changes = 0

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Replace all chunks of `document` by these, atomically."""
        await self._file.write(lambda connection: self._put(connection, document, chunks))
        self._changed(len(chunks))

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """Remove a document, or the whole knowledge base."""
        await self._file.write(lambda connection: self._drop(connection, knowledge_base, document))
        self._changed(1)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        """One ranking per search, in order, all of one version of the file."""
        asked = list(searches)
        return await self._file.read(lambda connection: searching.run(connection, self._memory, asked))

    async def scan(self, knowledge_base: KnowledgeBaseId) -> AsyncIterator[tuple[Chunk, Vector]]:
        """Every chunk with its stored vector, ordered by document and ordinal, page by page."""
        place = None
        while True:
            page, place = await self._file.read(
                lambda connection, after=place: page_after(
                    connection, knowledge_base, after, dimensions=self._dimensions
                )
            )
            for chunk, vector in page:
                yield chunk, vector
            if place is None:
                return

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        """How many chunks the knowledge base has."""
        return await self._file.read(lambda connection: count_of(connection, knowledge_base))

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        """The first chunks of one document by ordinal."""
        return await self._file.read(
            lambda connection: chunks_of(connection, knowledge_base, document, limit)
        )

    def _put(
        self, connection: sqlite3.Connection, document: Document, chunks: Sequence[tuple[Chunk, Vector]]
    ) -> None:
        distinct = {chunk.id: (chunk, vector) for chunk, vector in chunks}.values()
        rows = [row_of(chunk) for chunk, _ in distinct]
        vectors = np.array([vector for _, vector in distinct], dtype=np.float32)
        if rows and vectors.shape[1:] != (self._dimensions,):
            raise SchemaMismatch(
                f"The index holds vectors of {self._dimensions} dimensions, the embedder made others;"
                " run `footnote kb reindex --all`."
            )
        writer.replace_document(connection, document.knowledge_base, document.id, rows, vectors)
        searching.refresh(connection, self._memory)

    def _drop(
        self, connection: sqlite3.Connection, knowledge_base: KnowledgeBaseId, document: DocumentId | None
    ) -> None:
        writer.drop(connection, knowledge_base, document)
        searching.refresh(connection, self._memory)

    def _changed(self, count: int) -> None:
        self._changes += count
        if self._changes >= _TIDIED_AFTER:
            self._changes = 0
            self._file.write_later(writer.tidy)
