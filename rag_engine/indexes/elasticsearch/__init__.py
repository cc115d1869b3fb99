"""Elasticsearch 9.3 or later. `manifests` explains how documents are replaced atomically."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rag_engine.errors import IndexUnavailable, SchemaMismatch
from rag_engine.indexes.elasticsearch import documents, lifecycle, scan
from rag_engine.indexes.elasticsearch.bulk_writer import Writer
from rag_engine.indexes.elasticsearch.client import connected, hosts
from rag_engine.indexes.elasticsearch.cluster import Cluster
from rag_engine.indexes.elasticsearch.dense import MeanVector
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.indexes.elasticsearch.found_chunks import FoundChunks
from rag_engine.indexes.elasticsearch.manifests import Empty, Publish, Withdraw
from rag_engine.indexes.elasticsearch.manifests.garbage_collection import GarbageCollector
from rag_engine.indexes.elasticsearch.manifests.store import ManifestStore
from rag_engine.indexes.elasticsearch.retry import limited, pause
from rag_engine.indexes.elasticsearch.search import (
    fault_of,
    is_settled,
    leg_hits,
    manifest_hits,
    manifests_of,
    rankings,
    search_request,
    server_timeout,
    shared_words,
    target,
    wanted_hits,
    words_of,
)
from rag_engine.indexes.elasticsearch.settings import Settings
from rag_engine.indexes.elasticsearch.statistics import WordStatistics
from rag_engine.retrieval.queries.similar_names import misspelt, with_similar

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Generator,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.indexes.elasticsearch.lifecycle import IndexNames
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.indexes.elasticsearch.manifests.store import Generation
    from rag_engine.indexes.elasticsearch.search import LegHits, SearchRequest
    from rag_engine.indexes.elasticsearch.statistics import LexicalWeights
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import (
        Chunk,
        ChunkId,
        Document,
        DocumentId,
        Expansion,
        KnowledgeBaseId,
        Ranking,
        Search,
        Vector,
    )
    from rag_engine.wrappers.retry import Attempts

__all__ = ["ElasticsearchIndex", "Settings", "abandon", "connect", "remove", "replace"]

_log = logging.getLogger(__name__)

_WRITTEN_AGAIN = 1_000
"""Chunks in memory."""
_MAY_PASS = frozenset({"unreachable", "timeout", "rejected", "read_only", "red"})


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
) -> AsyncGenerator[ElasticsearchIndex]:
    """Raises `SchemaMismatch` for another identity, `Misconfigured` if only the operator can act."""
    async with connected(settings) as client:
        cluster = Cluster(client, settings=settings, identity=identity, rebuilding=rebuilding)
        index = ElasticsearchIndex(cluster)
        try:
            await index.start()
        except IndexUnavailable as error:
            if error.reason not in _MAY_PASS:
                raise
            _log.info("index_unavailable_at_start url=%s reason=%s", hosts(settings.url), error.reason)
        try:
            yield index
        finally:
            await index.close()


async def replace(
    settings: Settings,
    *,
    data_dir: Path,
    identity: IndexIdentity,
    knowledge_bases: Collection[KnowledgeBaseId] | None = None,
) -> None:
    """Raises `Misconfigured` if the old index holds other knowledge bases, probably another installation's."""
    async with connected(settings) as client:
        await lifecycle.replace(client, settings, knowledge_bases=knowledge_bases)


async def abandon(settings: Settings, *, data_dir: Path) -> None:
    async with connected(settings) as client:
        await lifecycle.abandon(client, settings)


async def remove(settings: Settings, *, data_dir: Path) -> None:
    async with connected(settings) as client:
        await lifecycle.remove(client, settings)


def files(settings: Settings) -> dict[str, int]:
    return {}


async def erase(settings: Settings, *, data_dir: Path) -> bool:
    return False


class ElasticsearchIndex:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._writer = Writer(cluster)
        self._statistics = WordStatistics(cluster)
        self._found_chunks = FoundChunks(cluster, most=cluster.settings.kept_chunks)
        self._mean = MeanVector(cluster)
        self._ledger = ManifestStore(
            cluster,
            counting=lambda manifest, ids: scan.generations_of(cluster, manifest, ids),
            grace=2 * cluster.settings.write_timeout,
        )
        self._sweeper = GarbageCollector(cluster, self._ledger, self._writer)

    async def start(self) -> None:
        await self._cluster.names()
        await self._sweeper.left_overs()

    async def close(self) -> None:
        await self._ledger.written()
        await self._sweeper.close()
        await self._ledger.close()
        await self._writer.refreshed.close()

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        last, fits = await asyncio.to_thread(_positions, chunks, self._cluster.identity.dimensions)
        if not fits:
            raise SchemaMismatch(
                f"The index holds vectors of {self._cluster.identity.dimensions} dimensions, the embedder made others;"
                " run `footnote kb reindex --all`."
            )
        try:
            with self._noticing_removal():
                if not last:
                    await self._ledger.change(document.knowledge_base, Withdraw(document=document.id))
                else:
                    while not await self._put(document, chunks, last):
                        _log.info(
                            "a knowledge base was emptied while a document was added, so the document is added again"
                        )
        finally:
            self._sweeper.soon(document.knowledge_base)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        with self._noticing_removal():
            self._found_chunks.clear()
            change = Withdraw(document=document) if document is not None else Empty()
            await self._ledger.change(knowledge_base, change)
            await self._sweeper.now(knowledge_base)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        if not searches:
            return []
        with self._noticing_removal(), translate_errors():
            if any(search.expansion for search in searches):
                await self._cluster.make_expandable()
            async with limited(self._cluster.settings.timeout) as attempts:
                return await self._search(searches, attempts)

    async def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        with self._noticing_removal():
            async for pair in scan.scan(self._cluster, self._ledger, knowledge_base, document):
                yield pair

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        with self._noticing_removal():
            return await scan.count_of(self._cluster, self._ledger, knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        with self._noticing_removal():
            return await scan.chunks_of(
                self._cluster, self._ledger, knowledge_base, document, limit=limit, start=start
            )

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        """Its chunks are written again."""
        base = document.knowledge_base
        of: dict[ChunkId, list[ExpansionVector]] = {}
        for each in vectors:
            of.setdefault(each.chunk, []).append(each)

        async def write(generation: Generation) -> None:
            left, written = dict(of), 0
            part: list[tuple[Chunk, Vector]] = []
            async for pair in scan.scan(self._cluster, self._ledger, base, document.id):
                part.append(pair)
                left.pop(pair[0].id, None)
                if len(part) == _WRITTEN_AGAIN:
                    await self._writer.write(
                        documents.operations(part, generation, expansions=of, first=written)
                    )
                    part, written = [], written + len(part)
            await self._writer.write(documents.operations(part, generation, expansions=of, first=written))
            if left:
                _log.warning("expansions_without_passage dropped=%d", sum(map(len, left.values())))

        try:
            with self._noticing_removal():
                await self._cluster.make_expandable()
                there = await self.chunks(base, document.id, limit=1)
                return bool(there) and await self._publish(document, write)
        finally:
            self._sweeper.soon(base)

    async def expansions(self, knowledge_base: KnowledgeBaseId, kind: Expansion) -> int:
        with self._noticing_removal():
            await self._cluster.make_expandable()
            return await scan.expansions_of(self._cluster, self._ledger, knowledge_base, kind)

    async def _put(
        self, document: Document, chunks: Sequence[tuple[Chunk, Vector]], last: Mapping[ChunkId, int]
    ) -> bool:
        async def write(generation: Generation) -> None:
            distinct = (pair for place, pair in enumerate(chunks) if last[pair[0].id] == place)
            await self._writer.write(documents.operations(distinct, generation))

        return await self._publish(document, write)

    async def _publish(self, document: Document, write: Callable[[Generation], Awaitable[None]]) -> bool:
        base = document.knowledge_base
        generation = await self._ledger.generation(base)
        published = False
        try:
            await write(generation)
            await self._writer.refreshed()
            publish = Publish(document=document.id, generation=generation.name, base=generation.base)
            published = await self._ledger.change(base, publish)
        finally:
            if not published:
                self._ledger.abandon(base, generation)
        return published

    async def _search(self, searches: Sequence[Search], attempts: Attempts) -> list[Ranking]:
        bases = sorted({base for search in searches for base in search.knowledge_bases})
        unsettled = 0
        while True:
            try:
                found = await self._found(searches, bases, in_a_moment=unsettled > 1)
            except IndexUnavailable as fault:
                await pause(attempts, fault)
                continue
            if found is not None:
                return found
            unsettled += 1

    async def _found(
        self, searches: Sequence[Search], bases: Sequence[KnowledgeBaseId], *, in_a_moment: bool
    ) -> list[Ranking] | None:
        """None if a change was published meanwhile. `in_a_moment`: in a frozen view."""
        names = await self._cluster.names()
        seconds, keys_only = self._cluster.settings.timeout, self._found_chunks.are_keys_enough
        mean = await self._mean.of(searches, names) if keys_only else None
        request = partial(search_request, searches, seconds=seconds, keys_only=keys_only, mean=mean)
        if in_a_moment:
            async with scan.moment_of(self._cluster, self._ledger, bases) as (known, moment):
                weights = await self._weights(searches, known, names, moment=moment)
                asked = request(known, names, weights=weights, moment=moment)
                responses = await self._ask(asked) if asked.lines else ()
                return await self._read(searches, leg_hits(responses, asked), known, weights, moment=moment)
        known = await self._ledger.known(bases)
        weights = await self._weights(searches, known, names)
        asked = request(known, names, weights=weights)
        responses = await self._ask(asked)
        now = self._ledger.learn(bases, manifest_hits(responses, asked))
        self._forget_hidden(known, now)
        legs = leg_hits(responses, asked)
        if not is_settled(legs, known, now):
            return None
        return await self._read(searches, legs, known, weights)

    async def _read(
        self,
        searches: Sequence[Search],
        legs: Mapping[int, LegHits],
        known: Mapping[KnowledgeBaseId, Manifest],
        weights: Mapping[int, LexicalWeights],
        *,
        moment: str = "",
    ) -> list[Ranking] | None:
        names = await self._cluster.names()
        found = await self._found_chunks.read(
            wanted_hits(legs),
            {manifest.base: base for base, manifest in known.items()},
            near={key for leg in legs.values() if leg.is_near for key in leg.keys},
            target=target(searches, names, moment),
            limit=server_timeout(self._cluster.settings.timeout),
        )
        return found and rankings(searches, legs, found, weights)

    def _forget_hidden(
        self, before: Mapping[KnowledgeBaseId, Manifest], now: Mapping[KnowledgeBaseId, Manifest]
    ) -> None:
        if any(now[base].base != manifest.base for base, manifest in before.items()):
            self._found_chunks.clear()
        for manifest in now.values():
            self._found_chunks.forget(manifest.hidden)

    async def _weights(
        self,
        searches: Sequence[Search],
        known: Mapping[KnowledgeBaseId, Manifest],
        names: IndexNames,
        *,
        moment: str = "",
    ) -> dict[int, LexicalWeights]:
        asked = target(searches, names, moment)
        lexical = {number: search for number, search in enumerate(searches) if search.leg == "lexical"}
        for words, queries, manifests in shared_words(lexical.values(), known):
            await self._statistics.learn(words, queries, manifests, asked)
        found = {number: await self._weights_of(search, known, asked) for number, search in lexical.items()}
        return {number: weights for number, weights in found.items() if weights is not None}

    async def _weights_of(
        self, search: Search, known: Mapping[KnowledgeBaseId, Manifest], asked: Mapping[str, Any]
    ) -> LexicalWeights | None:
        manifests = manifests_of(search, known)
        similar = await self._statistics.similar(search.names, manifests, asked)
        search = with_similar(search, similar)
        words = words_of(search)
        if not manifests or not (words or similar):
            return None
        weights = await self._statistics.weights(
            words,
            manifests,
            asked,
            literal=search.literal,
            synonyms={
                known[base].base: tokens
                for base, tokens in search.synonyms.items()
                if base in search.knowledge_bases and known[base].base
            },
        )
        return dataclasses.replace(weights, corrections=misspelt(similar)) if weights and similar else weights

    async def _ask(self, asked: SearchRequest) -> Sequence[Mapping[str, Any]]:
        with translate_errors():
            answer = await self._cluster.reader.msearch(
                searches=cast("Any", asked.lines), max_concurrent_searches=1
            )
        if (fault := fault_of(answer["responses"])) is not None:
            raise fault
        return answer["responses"]

    @contextmanager
    def _noticing_removal(self) -> Generator[None]:
        try:
            yield
        except IndexUnavailable as error:
            if error.reason == "missing":
                self._cluster.forget_names()
                self._ledger.forget()
            raise


def _positions(chunks: Sequence[tuple[Chunk, Vector]], dimensions: int) -> tuple[dict[ChunkId, int], bool]:
    """The last of each chunk; True if all vectors have these dimensions."""
    last: dict[ChunkId, int] = {}
    fits = True
    for position, (chunk, vector) in enumerate(chunks):
        last[chunk.id] = position
        fits = fits and vector.shape == (dimensions,)
    return last, fits
