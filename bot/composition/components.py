from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.errors import UnknownDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bot.composition.sources import Sources
    from bot.files.originals import Originals
    from bot.observability import Observers
    from bot.resilience.circuit_breakers import Breakers
    from bot.settings import Settings
    from rag_engine.engine import Engine
    from rag_engine.generation.conversation.follow_up_questions import FollowUpQuestions
    from rag_engine.generation.conversation.tags import TagWriter
    from rag_engine.generation.conversation.title import GapNameWriter, TitleWriter
    from rag_engine.ingestion.ingestion import Ingestion, Parse
    from rag_engine.ports import Embedder, IndexIdentity, Splitter, StoredIndex
    from rag_engine.speech.audio_cache import AudioCache
    from rag_engine.speech.types import Transcriber
    from rag_engine.speech.voice import Voice
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.storage.concurrency.active_files import ActiveFiles
    from rag_engine.storage.history import SqliteHistory
    from rag_engine.storage.jobs import SqliteJobClaims, SqliteJobQueue
    from rag_engine.storage.research_findings import SqliteFindings
    from rag_engine.summaries.mind_map import MindMaps
    from rag_engine.sync.store import SqliteSources
    from rag_engine.tables.store import TableStore
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageComponents:
    catalog: SqliteCatalog
    history: SqliteHistory
    findings: SqliteFindings
    queue: SqliteJobQueue
    claims: SqliteJobClaims
    active_files: ActiveFiles
    sources: SqliteSources


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseComponents:
    storage: StorageComponents
    embedder: Embedder
    identity: IndexIdentity
    breakers: Breakers

    @property
    def catalog(self) -> SqliteCatalog:
        return self.storage.catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingComponents(BaseComponents):
    index: StoredIndex
    splitter: Splitter
    cached_embedder: Embedder
    ingestion: Ingestion
    tables: TableStore
    originals: Originals
    audio: AudioCache
    transcriber: Transcriber | None
    max_file_bytes: int
    parse: Parse

    async def forget(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """False: the index does not answer, and documents are hidden first."""
        records = await self.catalog.records(knowledge_base)
        done = await self.ingestion.forget(knowledge_base, document)
        gone = {record.document.digest for record in records if document in (None, record.document.id)}
        await self.originals.forget_unused(gone)
        await self.forget_audio()
        return done

    async def forget_audio(self) -> None:
        await asyncio.to_thread(self.audio.clear)

    async def reindex(
        self, bases: Iterable[KnowledgeBase], progress: Callable[[DocumentRecord], None] | None = None
    ) -> int:
        count = 0
        for base in bases:
            for record in await self.catalog.records(base.id):
                try:
                    await self.ingestion.reindex(record)
                except UnknownDocument:
                    continue  # never read to the end, or removed meanwhile
                count += 1
                if progress is not None:
                    progress(record)
            await self.catalog.set_model(base.id, self.embedder.model)
        return count

    async def forget_source(
        self, knowledge_base: KnowledgeBaseId, uri: str, titles: Mapping[str, str] | None = None
    ) -> None:
        record = await self.catalog.find(knowledge_base, uri=uri)
        await self.ingestion.forget_source(knowledge_base, uri, titles)
        if record is not None:
            await self.originals.forget_unused({record.document.digest})
        await self.forget_audio()


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    library: IndexingComponents
    engine: Engine
    sources: Sources
    settings: Settings
    observers: Observers
    follow_ups: FollowUpQuestions | None = None
    mind_maps: MindMaps | None = None
    """None: no model proposes them."""
    titles: TitleWriter | None = None
    voice: Voice | None = None
    tags: TagWriter | None = None
    gap_names: GapNameWriter | None = None

    @property
    def catalog(self) -> SqliteCatalog:
        return self.library.catalog
