"""The parts put together: what is kept, what files need to become searchable, and what a question needs. `bot.compose` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.files.intake import Intake
    from bot.files.originals import Originals
    from bot.guarding import Breakers
    from bot.observing import Observers
    from bot.settings import Settings
    from rag_engine.engine import Engine
    from rag_engine.ingestion import Ingestion
    from rag_engine.ports import Embedder, IndexIdentity, Splitter, StoredIndex
    from rag_engine.storage.attempts import SqliteAttempts
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.storage.history import SqliteHistory
    from rag_engine.storage.jobs import SqliteJobClaims, SqliteJobQueue
    from rag_engine.types import DocumentId, KnowledgeBaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What is kept in SQLite."""

    catalog: SqliteCatalog
    history: SqliteHistory
    queue: SqliteJobQueue
    claims: SqliteJobClaims
    attempts: SqliteAttempts


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """What stands before there is an index: enough to queue files, and to know which index they need."""

    storage: Storage
    embedder: Embedder
    identity: IndexIdentity
    breakers: Breakers
    """Of everything that is reached over a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What files need to become searchable."""

    storage: Storage
    embedder: Embedder
    identity: IndexIdentity
    breakers: Breakers
    index: StoredIndex
    splitter: Splitter
    cached_embedder: Embedder
    """Embeds no passage twice."""
    ingestion: Ingestion
    intake: Intake
    """For files that come in; `ingestion` for what is in already."""
    originals: Originals
    max_file_bytes: int

    @property
    def catalog(self) -> SqliteCatalog:
        """The catalog of the storage."""
        return self.storage.catalog

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Remove a document, or the whole knowledge base, from the index and the catalog, with what is kept of its files.

        False when the index does not answer: no question finds it any more, and it goes when the index is back.
        """
        records = await self.catalog.records(knowledge_base)
        done = await self.ingestion.forget(knowledge_base, document)
        gone = {record.document.digest for record in records if document in (None, record.document.id)}
        await self.originals.forget_unused(gone)
        return done

    async def forget_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        """Remove one source of a document, and with the last one the document and what is kept of its file."""
        record = await self.catalog.find(knowledge_base, uri=uri)
        await self.ingestion.forget_source(knowledge_base, uri)
        if record is not None:
            await self.originals.forget_unused({record.document.digest})


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything a question needs."""

    library: Library
    engine: Engine
    settings: Settings
    observers: Observers

    @property
    def catalog(self) -> SqliteCatalog:
        """The catalog of the library."""
        return self.library.catalog
