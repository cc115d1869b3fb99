"""Documents out of the index and the catalog: what is to go is recorded first, so that it goes in the end."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.locks import Locks
    from rag_engine.ports import Index, Shelves
    from rag_engine.types import DocumentId, KnowledgeBaseId

_log = logging.getLogger(__name__)


class Removal:
    """Removes documents with all their sources, and whole knowledge bases."""

    def __init__(self, *, index: Index, catalog: Shelves, locks: Locks) -> None:
        self._index = index
        self._catalog = catalog
        self._locks = locks

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Remove a document with all its sources, or the whole knowledge base. Removing what is not there is no error.

        False when the index does not answer: then no question finds it any more, and `finish` does the rest.
        """
        if document is None:
            return await self.discard(knowledge_base)
        async with self._sources_locked(knowledge_base, document):
            return await self.discard(knowledge_base, document)

    async def finish(self) -> bool:
        """Remove what could not be removed when it was to go; False when some of it still cannot be."""
        unfinished = self._catalog.unfinished
        for document, knowledge_base in (await unfinished.leaving()).items():
            async with self._sources_locked(knowledge_base, document):
                # Added again meanwhile, it stays.
                if document in await unfinished.leaving() and not await self._remove(
                    knowledge_base, document
                ):
                    return False
        for knowledge_base in await unfinished.closing():
            if not await self._remove(knowledge_base):
                return False
        return True

    async def discard(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """As `forget`, for a caller who holds the locks of the document's sources."""
        unfinished = self._catalog.unfinished
        while True:
            known = await unfinished.withdraw(knowledge_base, document)
            if not await self._dropped(knowledge_base, document, known=known):
                return False
            # Another program may have put passages in after ours were dropped: as soon as it has saved that, all of it goes again.
            if await unfinished.remove(knowledge_base, document):
                return True

    async def _remove(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Take out of the index and the catalog what is to go, unless it was added again; whether the index answered."""
        if not await self._dropped(knowledge_base, document, known=True):
            return False
        await self._catalog.unfinished.remove(knowledge_base, document)
        return True

    async def _dropped(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None, *, known: bool
    ) -> bool:
        """Take out of the index what is to go; whether that could be done. What is not `known` has no second try."""
        try:
            await self._index.drop(knowledge_base, document)
        except Unavailable as error:
            if not known:
                raise
            _log.info("something is removed later, when the index answers: %s", error)
            return False
        return True

    @asynccontextmanager
    async def _sources_locked(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId
    ) -> AsyncGenerator[None]:
        async with AsyncExitStack() as locks:
            for uri in sorted(await self._catalog.sources(document)):
                await locks.enter_async_context(self._locks.held("uri", knowledge_base, uri))
            yield
