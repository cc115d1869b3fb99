"""One SQLite file with postings and vectors, shared by several processes."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from rag_engine.indexes.embedded import rebuild, search
from rag_engine.indexes.embedded.database import connections, writer
from rag_engine.indexes.embedded.database.group_commit import GroupCommit
from rag_engine.indexes.embedded.database.schema import SCHEMA
from rag_engine.indexes.embedded.erase import erase_index
from rag_engine.indexes.embedded.memory import Memory
from rag_engine.indexes.embedded.postings.spelling_words import add_codes, remove_unused
from rag_engine.indexes.embedded.scan import chunks_of, count_of, expansions_of, page_after
from rag_engine.indexes.embedded.vectors.dense import words_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
    from pathlib import Path

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.indexes.embedded.database.connections import Connections
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import (
        Chunk,
        Document,
        DocumentId,
        Expansion,
        KnowledgeBaseId,
        Ranking,
        Search,
        Vector,
    )

_TIDIED_AFTER = 500
"""Changed chunks or documents."""
_WORDS_REMOVED_AFTER = 60.0
"""Seconds between removals of a knowledge base's words, which read all postings."""
_FILLED_AT = 4
"""After so many searches vectors are read into memory."""


IS_LOCAL = True


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = "index.sqlite"
    """In the data directory."""


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
) -> AsyncGenerator[EmbeddedIndex]:
    """`rebuilding` opens the one being built. Raises `SchemaMismatch` for another identity or newer version,
    `Misconfigured` if the file is unusable, `IndexUnavailable` if that may pass.
    """
    path = data_dir / settings.file
    if rebuilding:
        path = rebuild.beside(data_dir, settings.file)
        await asyncio.to_thread(rebuild.discard_others, path, identity)
    async with connections.opened(path, identity) as opened:
        index = EmbeddedIndex(opened, dimensions=identity.dimensions)
        opened.write_later(index.list_codes)
        try:
            yield index
        finally:
            index.close()


async def replace(
    settings: Settings,
    *,
    data_dir: Path,
    identity: IndexIdentity,
    knowledge_bases: Collection[KnowledgeBaseId] | None = None,
) -> None:
    """In one step; idempotent. Raises `IndexUnavailable` if another program has the old one open, `SchemaMismatch` for
    another identity.
    """
    fresh = rebuild.beside(data_dir, settings.file)
    await asyncio.to_thread(rebuild.replace, data_dir / settings.file, fresh, identity)


async def abandon(settings: Settings, *, data_dir: Path) -> None:
    await asyncio.to_thread(rebuild.abandon, rebuild.beside(data_dir, settings.file))


async def remove(settings: Settings, *, data_dir: Path) -> None:
    await abandon(settings, data_dir=data_dir)
    await asyncio.to_thread(rebuild.remove, data_dir / settings.file)


def files(settings: Settings) -> dict[str, int]:
    return {settings.file: SCHEMA}


async def erase(settings: Settings, *, data_dir: Path) -> bool:
    """Overwrite the bytes of everything removed. Raises `IndexUnavailable` or `StorageUnavailable` if others never
    release the file.
    """
    await asyncio.to_thread(erase_index, data_dir / settings.file)
    return True


class EmbeddedIndex:
    def __init__(self, file: Connections, *, dimensions: int) -> None:
        self._file = file
        self._dimensions = dimensions
        self._memory = Memory(words=words_of(dimensions), dimensions=dimensions)
        self._changes = 0
        self._searches = 0
        self._drops = 0
        self._is_closed = False
        self._words_removed = -math.inf
        self._group = GroupCommit(file, dimensions=dimensions, on_written=self._changed)

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await self._group.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        await self._file.write(lambda connection: writer.drop(connection, knowledge_base, document))
        self._drops += 1
        self._changed(1)
        if document is None and time.monotonic() > self._words_removed + _WORDS_REMOVED_AFTER:
            self._remove_words()

    def close(self) -> None:
        """Before the file is closed."""
        self._is_closed = True
        if self._drops:
            self._remove_words()

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        asked = list(searches)
        self._searches += 1
        if self._searches == _FILLED_AT:
            self._file.write_later(self._memory.fill)
        return await self._file.read(lambda connection: search.run(connection, self._memory, asked))

    async def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        place = None
        while True:
            page, place = await self._file.read(
                lambda connection, after=place: page_after(
                    connection, knowledge_base, after, dimensions=self._dimensions, document=document
                )
            )
            for chunk, vector in page:
                yield chunk, vector
            if place is None:
                return

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return await self._file.read(lambda connection: count_of(connection, knowledge_base))

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        return await self._file.read(
            lambda connection: chunks_of(connection, knowledge_base, document, limit, start)
        )

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        base, of = document.knowledge_base, document.id
        return await self._file.write(lambda connection: writer.expand(connection, base, of, vectors))

    async def expansions(self, knowledge_base: KnowledgeBaseId, kind: Expansion) -> int:
        return await self._file.read(lambda connection: expansions_of(connection, knowledge_base, kind))

    def list_codes(self, connection: sqlite3.Connection) -> None:
        if add_codes(connection) and not self._is_closed:
            self._file.write_later(self.list_codes)

    def _changed(self, count: int) -> None:
        self._changes += count
        if self._changes >= _TIDIED_AFTER:
            self._changes = 0
            self._file.write_later(self._tidy)

    def _remove_words(self) -> None:
        self._drops = 0
        self._words_removed = time.monotonic()
        self._file.write_later(remove_unused)

    def _tidy(self, connection: sqlite3.Connection) -> None:
        if writer.tidy(connection):
            remove_unused(connection)
        search.refresh(connection, self._memory)
