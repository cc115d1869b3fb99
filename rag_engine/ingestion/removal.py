"""Removals are recorded first: they can be finished later."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ingestion.keyed_locks import Locks
    from rag_engine.ports import DocumentCatalog, Index
    from rag_engine.tables.store import TableStore
    from rag_engine.types import DocumentId, KnowledgeBaseId

_log = logging.getLogger(__name__)


class Removal:
    def __init__(
        self, *, index: Index, catalog: DocumentCatalog, locks: Locks, tables: TableStore | None = None
    ) -> None:
        self._index = index
        self._tables = tables
        self._catalog = catalog
        self._locks = locks

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        if document is None:
            return await self.discard(knowledge_base)
        async with self._sources_locked(knowledge_base, document):
            return await self.discard(knowledge_base, document)

    async def finish(self) -> bool:
        unfinished = self._catalog.unfinished
        for document, knowledge_base in (await unfinished.leaving()).items():
            async with self._sources_locked(knowledge_base, document):
                # It stays if it was added again meanwhile.
                if document in await unfinished.leaving() and not await self._remove(
                    knowledge_base, document
                ):
                    return False
        for knowledge_base in await unfinished.closing():
            if not await self._remove(knowledge_base):
                return False
        return True

    async def discard(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        unfinished = self._catalog.unfinished
        while True:
            known = await unfinished.withdraw(knowledge_base, document)
            if not await self._dropped(knowledge_base, document, known=known):
                return False
            if await unfinished.remove(knowledge_base, document):
                return True

    async def _remove(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        if not await self._dropped(knowledge_base, document, known=True):
            return False
        await self._catalog.unfinished.remove(knowledge_base, document)
        return True

    async def _dropped(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None, *, known: bool
    ) -> bool:
        try:
            await self.drop(knowledge_base, document)
        except Unavailable as error:
            if not known:
                raise
            _log.info("a removal waits until the index answers: %s", error)
            return False
        return True

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """From the index, its tables first."""
        if self._tables is not None:
            await self._tables.drop(knowledge_base, document)
        await self._index.drop(knowledge_base, document)

    @asynccontextmanager
    async def _sources_locked(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId
    ) -> AsyncGenerator[None]:
        async with AsyncExitStack() as locks:
            for uri in sorted(await self._catalog.sources(document)):
                await locks.enter_async_context(self._locks.held("uri", knowledge_base, uri))
            yield
