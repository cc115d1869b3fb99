from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rag_engine.errors import RagError
from rag_engine.indexes.elasticsearch import manifests
from rag_engine.indexes.elasticsearch.documents import deletions
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.indexes.elasticsearch.manifests import Forget
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from rag_engine.indexes.elasticsearch.bulk_writer import Writer
    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.indexes.elasticsearch.manifests.store import ManifestStore

_log = logging.getLogger(__name__)

_PAGE = 2_000
_GATHERING_SECONDS = 2.0
"""Chunks replaced meanwhile are deleted together."""
_MOST_LEFT_OVERS = 1_000
_CLOSING_SECONDS = 10.0
_AGAIN_SECONDS = 30.0
_GIVE_UP = Forget(generations=frozenset(), bases=frozenset())


class GarbageCollector:
    def __init__(self, cluster: Cluster, ledger: ManifestStore, writer: Writer) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._writer = writer
        self._due: dict[KnowledgeBaseId, float] = {}
        """In event loop time."""
        self._sweeping: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._closing = False

    def soon(self, base: KnowledgeBaseId) -> None:
        self._sweep_in(base, _GATHERING_SECONDS)

    def _sweep_in(self, base: KnowledgeBaseId, seconds: float) -> None:
        at = asyncio.get_running_loop().time() + seconds
        self._due[base] = min(at, self._due.get(base, at))
        self._woken.set()
        if self._sweeping is None and not self._closing:
            self._sweeping = asyncio.create_task(self._sweep_due(), name="sweep")

    async def now(self, base: KnowledgeBaseId) -> None:
        manifest = await self._ledger.fetch(base)
        if manifest.has_expired(time.time()):
            await self._ledger.change(base, _GIVE_UP)
            manifest = await self._ledger.fetch(base)
        if not (manifest.condemned or manifest.dropped):
            return
        await self._delete(manifest)
        await self._ledger.change(
            base, Forget(generations=frozenset(manifest.condemned), bases=frozenset(manifest.dropped))
        )
        await self._ledger.remove_if_empty(base)
        # Late writes may still arrive.
        if until := [
            at for at in (*manifest.condemned.values(), *manifest.dropped.values()) if at > time.time()
        ]:
            self._sweep_in(base, min(until) - time.time() + _GATHERING_SECONDS)

    async def left_overs(self) -> None:
        names = await self._cluster.names()
        with translate_errors():
            answer = await self._cluster.reader.search(
                index=names.manifests,
                query={"term": {"unfinished": True}},
                source_includes=["knowledge_base", "manifest"],
                size=_MOST_LEFT_OVERS,
            )
        for hit in answer["hits"]["hits"]:
            manifest = manifests.from_source(hit["_source"])
            if manifest.condemned or manifest.dropped or manifest.has_expired(time.time()):
                self.soon(KnowledgeBaseId(hit["_source"]["knowledge_base"]))

    async def close(self) -> None:
        self._closing = True
        self._woken.set()
        if (sweeping := self._sweeping) is not None:
            await asyncio.wait([sweeping], timeout=_CLOSING_SECONDS)
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)

    async def _sweep_due(self) -> None:
        loop = asyncio.get_running_loop()
        while self._due:
            base = min(self._due, key=self._due.__getitem__)
            wait = self._due[base] - loop.time()
            if self._closing and wait > _GATHERING_SECONDS:
                break
            if wait > 0 and not self._closing:
                self._woken.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._woken.wait()
                continue
            del self._due[base]
            try:
                await self.now(base)
            except RagError as error:
                _log.info("outdated chunks could not be deleted yet: %s", error)
                self._sweep_in(base, _AGAIN_SECONDS)
        self._sweeping = None

    async def _delete(self, manifest: Manifest) -> None:
        names = await self._cluster.names()
        unwanted = [
            {"terms": {"generation": list(manifest.condemned)}},
            {"terms": {"base": list(manifest.dropped)}},
        ]
        await self._writer.refreshed()
        while True:
            with translate_errors():
                answer = await self._cluster.writer.search(
                    index=names.chunks,
                    query={"bool": {"should": unwanted}},
                    source=False,
                    size=_PAGE,
                    sort=["_doc"],
                    track_total_hits=False,
                    # Missed chunks would become visible when their generation is forgotten.
                    allow_partial_search_results=False,
                )
            ids = [hit["_id"] for hit in answer["hits"]["hits"]]
            if ids:
                await self._writer.write(deletions(ids))
                await self._writer.refreshed()
            if len(ids) < _PAGE:
                return
