"""The index on an Elasticsearch cluster, 9.3 or later: the same answers as the embedded one, shared and copied over nodes.

Words and meanings are asked for in one request, and fused by the engine. `manifests` says how a document that is many of
theirs is replaced in one step.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, cast

from rag_engine.errors import IndexUnavailable, SchemaMismatch
from rag_engine.indexes.elasticsearch import contents, documents, lifecycle, searching, typing_errors
from rag_engine.indexes.elasticsearch.client import connected, hosts
from rag_engine.indexes.elasticsearch.cluster import Cluster
from rag_engine.indexes.elasticsearch.faults import translate_errors
from rag_engine.indexes.elasticsearch.ledger import Ledger
from rag_engine.indexes.elasticsearch.manifests import Empty, Publish, Withdraw
from rag_engine.indexes.elasticsearch.repeating import limited
from rag_engine.indexes.elasticsearch.settings import Settings
from rag_engine.indexes.elasticsearch.sweeping import Sweeper
from rag_engine.indexes.elasticsearch.writing import Writer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Collection, Generator, Mapping, Sequence
    from pathlib import Path

    from rag_engine.indexes.elasticsearch.repeating import Pauses
    from rag_engine.indexes.elasticsearch.searching import Asked
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Ranking, Search, Vector

__all__ = ["ElasticsearchIndex", "Settings", "abandon", "connect", "remove", "replace"]

_log = logging.getLogger(__name__)

_MAY_PASS = frozenset({"unreachable", "timeout", "rejected", "read_only", "red"})
"""Reasons to start nevertheless."""


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
) -> AsyncGenerator[ElasticsearchIndex]:
    """Open the index, made now if there is none; `rebuilding`: the one that is built beside the one in use.

    A cluster that cannot be reached now is logged and asked again at each use, which raises `IndexUnavailable` until it is
    back. Raises `SchemaMismatch` for an index of another identity, `Misconfigured` for what only the operator can mend.
    """
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
    """Put the rebuilt index in the place of the one in use, in one step, and remove the old.

    Raises `Misconfigured` when the old one holds others than the `knowledge_bases` there are: another installation's, probably.
    """
    async with connected(settings) as client:
        await lifecycle.replace(client, settings, knowledge_bases=knowledge_bases)


async def abandon(settings: Settings, *, data_dir: Path) -> None:
    """Remove what an unfinished rebuild left, if anything."""
    async with connected(settings) as client:
        await lifecycle.abandon(client, settings)


async def remove(settings: Settings, *, data_dir: Path) -> None:
    """Remove the whole index with everything in it."""
    async with connected(settings) as client:
        await lifecycle.remove(client, settings)


def files(settings: Settings) -> dict[str, int]:
    """The files in the data directory that are the index: none, it is in the cluster."""
    return {}


async def erase(settings: Settings, *, data_dir: Path) -> bool:
    """Nothing: the servers erase what was removed when they next merge their files, which is theirs to decide."""
    return False


class ElasticsearchIndex:
    """`Index` and `IndexContents` over one alias of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._writer = Writer(cluster)
        self._ledger = Ledger(
            cluster,
            counting=lambda manifest, wanted: contents.generations_of(cluster, manifest, wanted),
            grace=2 * cluster.settings.write_timeout,
        )
        self._sweeper = Sweeper(cluster, self._ledger, self._writer)

    async def start(self) -> None:
        """Open what is behind the alias, and see to what a program that is gone left undone."""
        await self._cluster.names()
        await self._sweeper.left_overs()

    async def close(self) -> None:
        """Finish what is under way in the background."""
        await self._ledger.written()
        await self._sweeper.close()
        await self._ledger.close()
        await self._writer.refreshed.close()

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Replace all chunks of `document` by these, atomically; found by the next search of any program."""
        distinct = list({chunk.id: (chunk, vector) for chunk, vector in chunks}.values())
        if any(vector.shape != (self._cluster.identity.dimensions,) for _, vector in distinct):
            raise SchemaMismatch(
                f"The index holds vectors of {self._cluster.identity.dimensions} dimensions, the embedder made others;"
                " run `footnote kb reindex --all`."
            )
        try:
            with self._noticing_removal():
                if not distinct:
                    await self._ledger.change(document.knowledge_base, Withdraw(document=document.id))
                else:
                    while not await self._put(document, distinct):
                        _log.info(
                            "a knowledge base was emptied while a document was put into it, so it is put again"
                        )
        finally:
            self._sweeper.soon(document.knowledge_base)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """Remove a document, or the whole knowledge base: out of sight in one step, and then deleted."""
        with self._noticing_removal():
            change = Withdraw(document=document) if document is not None else Empty()
            await self._ledger.change(knowledge_base, change)
            await self._sweeper.now(knowledge_base)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        """One ranking per search, in order, all of one version of each knowledge base."""
        if not searches:
            return []
        with self._noticing_removal(), translate_errors():
            async with limited(self._cluster.settings.timeout) as pauses:
                return await self._search(searches, pauses)

    async def scan(self, knowledge_base: KnowledgeBaseId) -> AsyncIterator[tuple[Chunk, Vector]]:
        """Every chunk with its stored vector, ordered by document and ordinal, page by page."""
        with self._noticing_removal():
            async for pair in contents.scan(self._cluster, self._ledger, knowledge_base):
                yield pair

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        """How many chunks the knowledge base has."""
        with self._noticing_removal():
            return await contents.count_of(self._cluster, self._ledger, knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        """The first chunks of one document by ordinal, all of one version of it."""
        with self._noticing_removal():
            return await contents.chunks_of(
                self._cluster, self._ledger, knowledge_base, document, limit=limit
            )

    async def _put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> bool:
        """Write the chunks under a generation of their own and publish it; False when the knowledge base was emptied meanwhile."""
        base = document.knowledge_base
        generation = await self._ledger.generation(base)
        published = False
        try:
            await self._writer.write(documents.operations(chunks, generation))
            await self._writer.refreshed()
            publish = Publish(document=document.id, generation=generation.name, base=generation.base)
            published = await self._ledger.change(base, publish)
        finally:
            if not published:
                self._ledger.abandon(base, generation)
        return published

    async def _search(self, searches: Sequence[Search], pauses: Pauses) -> list[Ranking]:
        bases = sorted({base for search in searches for base in search.knowledge_bases})
        words = [token for search in searches for token in search.tokens]
        corrected: Mapping[str, Sequence[str]] | None = None
        unsettled = 0
        while True:
            try:
                found = await self._found(searches, bases, corrected or {}, in_a_moment=unsettled > 1)
            except IndexUnavailable as fault:
                await pauses.after(fault)
                continue
            if found is None:
                unsettled += 1
            elif corrected is not None or not (corrected := await self._corrections(words, found)):
                return found

    async def _found(
        self,
        searches: Sequence[Search],
        bases: Sequence[KnowledgeBaseId],
        corrected: Mapping[str, Sequence[str]],
        *,
        in_a_moment: bool,
    ) -> list[Ranking] | None:
        """Ask once; None when something was published or withdrawn meanwhile.

        `in_a_moment`: ask a view of the index that stays as it is, which takes some requests more and succeeds however much is
        written.
        """
        names = await self._cluster.names()
        seconds = self._cluster.settings.timeout
        if in_a_moment:
            async with contents.moment_of(self._cluster, self._ledger, bases) as (known, moment):
                asked = searching.request(
                    searches, known, names, corrected=corrected, seconds=seconds, moment=moment
                )
                responses = await self._ask(asked) if asked.lines else ()
                return searching.rankings(searches, responses, asked, known)
        known = await self._ledger.known(bases)
        asked = searching.request(searches, known, names, corrected=corrected, seconds=seconds)
        responses = await self._ask(asked)
        now = self._ledger.learn(bases, searching.manifest_hits(responses, asked))
        if not searching.is_settled(responses, asked, known, now):
            return None
        return searching.rankings(searches, responses, asked, known)

    async def _corrections(
        self, words: Sequence[str], found: Sequence[Ranking]
    ) -> Mapping[str, Sequence[str]]:
        """What words that no chunk has were meant to be. The cluster is asked only when the best hits do not show a word."""
        unseen = typing_errors.unseen(words, found)
        if not unseen:
            return {}
        names = await self._cluster.names()
        try:
            with translate_errors():
                answer = await self._cluster.reader.search(
                    index=names.chunks,
                    suggest=typing_errors.suggestion(unseen),
                    aggs=typing_errors.occurrences(unseen),
                    size=0,
                    track_total_hits=False,
                )
        except IndexUnavailable as error:
            _log.info("a question is answered without correcting its words: %s", error)
            return {}
        missing = typing_errors.not_occurring(answer["aggregations"])
        return typing_errors.corrections(words, answer["suggest"], missing=missing)

    async def _ask(self, asked: Asked) -> Sequence[Mapping[str, Any]]:
        with translate_errors():
            answer = await self._cluster.reader.msearch(
                searches=cast("Any", asked.lines), max_concurrent_searches=1
            )
        if (fault := searching.fault_of(answer["responses"])) is not None:
            raise fault
        return answer["responses"]

    @contextmanager
    def _noticing_removal(self) -> Generator[None]:
        """Look behind the alias again when the index has been replaced or removed by another program."""
        try:
            yield
        except IndexUnavailable as error:
            if error.reason == "missing":
                self._cluster.forget_names()
                self._ledger.forget()
            raise
