from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.indexes.elasticsearch.documents import chunk_of
from rag_engine.indexes.elasticsearch.errors import translate_errors
from rag_engine.indexes.elasticsearch.schema import EXPANSIONS
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.indexes.elasticsearch.manifests import Manifest
    from rag_engine.indexes.elasticsearch.manifests.store import ManifestStore
    from rag_engine.types import Chunk, DocumentId, Expansion, KnowledgeBaseId, Vector

_PAGE = 200
_LARGE_PAGE = 1_000
_VIEW_LIFETIME = "5m"
_MOST_GENERATIONS = 1_000


async def count_of(cluster: Cluster, ledger: ManifestStore, base: KnowledgeBaseId) -> int:
    answer = await _counted(cluster, ledger, base, track_total_hits=True)
    return answer["hits"]["total"]["value"] if answer else 0


async def expansions_of(
    cluster: Cluster, ledger: ManifestStore, base: KnowledgeBaseId, kind: Expansion
) -> int:
    nested = {"nested": {"nested": {"path": EXPANSIONS[kind]}}}
    answer = await _counted(cluster, ledger, base, aggs=nested)
    return answer["aggregations"]["nested"]["doc_count"] if answer else 0


async def _counted(
    cluster: Cluster, ledger: ManifestStore, base: KnowledgeBaseId, **options: Any
) -> Mapping[str, Any] | None:
    async with moment_of(cluster, ledger, [base]) as (seen, moment):
        manifest = seen[base]
        if not manifest.base:
            return None
        with translate_errors():
            answer = await cluster.writer.search(
                pit={"id": moment, "keep_alive": _VIEW_LIFETIME},
                query=counting(manifest),
                size=0,
                allow_partial_search_results=False,
                **options,
            )
        return answer.body


async def scan(
    cluster: Cluster, ledger: ManifestStore, base: KnowledgeBaseId, document: DocumentId | None = None
) -> AsyncGenerator[tuple[Chunk, Vector]]:
    async with moment_of(cluster, ledger, [base]) as (seen, opened):
        manifest = seen[base]
        if not manifest.base:
            return
        query = counting(manifest)
        if document is not None:
            query["bool"]["filter"].append({"term": {"document": encodable(document)}})
        moment = opened
        after: Sequence[object] = ()
        while True:
            options: dict[str, Any] = {"search_after": after} if after else {}
            with translate_errors():
                answer = await cluster.writer.search(
                    pit={"id": moment, "keep_alive": _VIEW_LIFETIME},
                    query=query,
                    fields=[{"field": "vector"}],
                    sort=["document", "ordinal", "chunk"],
                    size=_PAGE,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                    **options,
                )
            hits = answer["hits"]["hits"]
            for hit in hits:
                yield chunk_of(hit["_source"], base), _vector(hit, cluster.identity.dimensions)
            if len(hits) < _PAGE:
                return
            moment, after = answer["pit_id"], hits[-1]["sort"]


async def chunks_of(
    cluster: Cluster,
    ledger: ManifestStore,
    base: KnowledgeBaseId,
    document: DocumentId,
    *,
    limit: int,
    start: int = 0,
) -> list[Chunk]:
    found: list[Chunk] = []
    async with moment_of(cluster, ledger, [base]) as (seen, opened):
        manifest = seen[base]
        if not manifest.base:
            return []
        query = counting(manifest)
        query["bool"]["filter"].append({"term": {"document": encodable(document)}})
        if start:
            query["bool"]["filter"].append({"range": {"ordinal": {"gte": start}}})
        moment = opened
        after: Sequence[object] = ()
        while len(found) < limit:
            options: dict[str, Any] = {"search_after": after} if after else {}
            size = min(_LARGE_PAGE, limit - len(found))
            with translate_errors():
                answer = await cluster.writer.search(
                    pit={"id": moment, "keep_alive": _VIEW_LIFETIME},
                    query=query,
                    sort=["ordinal", "chunk"],
                    size=size,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                    **options,
                )
            hits = answer["hits"]["hits"]
            found += [chunk_of(hit["_source"], base) for hit in hits]
            if len(hits) < size:
                break
            moment, after = answer["pit_id"], hits[-1]["sort"]
    return found


async def generations_of(
    cluster: Cluster, manifest: Manifest, documents: Sequence[DocumentId]
) -> Mapping[DocumentId, Sequence[str]]:
    if not documents or not manifest.base:
        return {}
    names = await cluster.names()
    query = counting(manifest)
    query["bool"]["filter"].append({"terms": {"document": list(documents)}})
    with translate_errors():
        answer = await cluster.writer.search(
            index=names.chunks,
            query=query,
            collapse={"field": "generation"},
            source_includes=["document", "generation"],
            size=_MOST_GENERATIONS,
            track_total_hits=False,
            allow_partial_search_results=False,
        )
    found: dict[DocumentId, list[str]] = {}
    for hit in answer["hits"]["hits"]:
        found.setdefault(hit["_source"]["document"], []).append(hit["_source"]["generation"])
    return found


def counting(manifest: Manifest) -> dict[str, Any]:
    query: dict[str, Any] = {"bool": {"filter": [{"term": {"base": manifest.base}}]}}
    if manifest.hidden:
        query["bool"]["must_not"] = [{"terms": {"generation": manifest.hidden}}]
    return query


@asynccontextmanager
async def moment_of(
    cluster: Cluster, ledger: ManifestStore, bases: Sequence[KnowledgeBaseId]
) -> AsyncGenerator[tuple[Mapping[KnowledgeBaseId, Manifest], str]]:
    names = await cluster.names()
    while True:
        before = await ledger.fetch_all(bases)
        with translate_errors():
            moment = (await cluster.writer.open_point_in_time(index=names.chunks, keep_alive=_VIEW_LIFETIME))[
                "id"
            ]
        try:
            after = await ledger.fetch_all(bases)
            if all(after[base].shows_what(manifest) for base, manifest in before.items()):
                yield {base: after[base].hiding_also(before[base]) for base in bases}, moment
                return
        finally:
            with translate_errors():
                await cluster.writer.close_point_in_time(id=moment)


def _vector(hit: Mapping[str, Any], dimensions: int) -> Vector:
    vector = np.zeros(dimensions, dtype=np.float32)
    if "vector" in hit.get("fields", {}):
        vector[:] = hit["fields"]["vector"]
        vector /= np.linalg.norm(vector)
    return vector
