"""A source over a small library, with a record of what was read of it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine import plugins
from rag_engine.ingestion.source_sync import SourceSync, SyncLimits
from rag_engine.sources import Surroundings
from rag_engine.sync.store import SqliteSources
from rag_engine.web.page_client import page_client

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.ingestion.source_sync import SyncOutcome
    from rag_engine.sync.types import ListedSource, SourceContent, SourceEntry, SyncedSource
    from rag_engine.types import Blob, Ingested, KnowledgeBaseId
    from rag_engine.web.page_client import PageClient
    from tests.doubles.web_server import WebServer
    from tests.unit.ingestion.world import World


@dataclass(frozen=True, kw_only=True)
class Web:
    server: WebServer
    client: PageClient


@dataclass(kw_only=True)
class Watched:
    """The source itself, with a list of what was read, and faults."""

    inner: ListedSource
    read_keys: list[str] = field(default_factory=list)
    listings: int = 0
    break_after: int | None = None
    """Batches of the listing until it fails."""
    failure: Exception | None = None

    async def entries(self) -> AsyncIterator[Sequence[SourceEntry]]:
        self.listings += 1
        number = 0
        async for batch in self.inner.entries():
            if self.break_after is not None and number >= self.break_after and self.failure is not None:
                raise self.failure
            number += 1
            yield batch

    async def read(self, entry: SourceEntry, path: Path, *, since: str) -> SourceContent | None:
        self.read_keys.append(entry.key)
        return await self.inner.read(entry, path, since=since)


@dataclass(kw_only=True)
class Synced:
    world: World
    data_dir: Path
    limits: SyncLimits = field(default_factory=SyncLimits)
    seconds: float = 20
    most_download_bytes: int = 100_000_000
    last: Watched | None = None

    @property
    def store(self) -> SqliteSources:
        return SqliteSources(self.world.database)

    @property
    def sync(self) -> SourceSync:
        return SourceSync(
            store=self.store,
            ingest=self._ingest,
            forget=self.world.ingestion.forget_source,
            folder=self.data_dir / "uploads",
            limits=self.limits,
        )

    async def add(self, kind: str, address: str, options: Mapping[str, str] | None = None) -> SyncedSource:
        return await self.store.add(
            self.world.base, kind=kind, address=address, options=options or {}, every_seconds=60
        )

    async def run(
        self,
        source: SyncedSource,
        *,
        client: PageClient | None = None,
        again: bool = False,
        break_after: int | None = None,
        failure: Exception | None = None,
    ) -> SyncOutcome:
        async with self.opened(source, client=client) as inner:
            watched = Watched(inner=inner, break_after=break_after, failure=failure)
            self.last = watched
            module = plugins.load("rag_engine.sources", source.kind)
            keeps = getattr(module, "KEEPS_UNLISTED", False)
            return await self.sync.run(source, watched, keeps_unlisted=keeps, again=again)

    @property
    def read(self) -> list[str]:
        assert self.last is not None
        return sorted(self.last.read_keys)

    async def titles(self) -> list[str]:
        return sorted(record.document.title for record in await self.world.catalog.records(self.world.base))

    @asynccontextmanager
    async def opened(
        self, source: SyncedSource, *, client: PageClient | None = None
    ) -> AsyncGenerator[ListedSource]:
        module = plugins.load("rag_engine.sources", source.kind)
        folder = self.data_dir / "sources" / str(source.id)
        async with page_client() as public:
            surroundings = Surroundings(
                folder=folder,
                data_dir=self.data_dir / "data",
                client=client or public,
                most_bytes=1_000_000,
                most_download_bytes=self.most_download_bytes,
                seconds=self.seconds,
            )
            own = module.Settings.model_validate(source.options)
            async with module.connect(source.address, own, surroundings=surroundings) as opened:
                yield opened

    async def _ingest(self, blob: Blob, knowledge_base: KnowledgeBaseId) -> Ingested:
        return await self.world.ingestion.ingest(blob, knowledge_base=knowledge_base)
