from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import orjson
from elasticsearch.helpers import pack_dense_vector

from rag_engine.indexes.elasticsearch.schema import EXPANSIONS, FREQUENCIES
from rag_engine.text.analyzer import tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.surrogates import encodable
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.indexes.elasticsearch.manifests.store import Generation
    from rag_engine.types import Vector


K1, B = 1.2, 0.75
"""Parameters of BM25."""

_VERSIONS = "external_gte"
_ASSUMED_AVERAGE = 100.0
"""Tokens of a chunk. The real average is known only when knowledge bases are searched."""
_DIGITS = 4


def operations(
    chunks: Iterable[tuple[Chunk, Vector]],
    generation: Generation,
    *,
    expansions: Mapping[ChunkId, Sequence[ExpansionVector]] | None = None,
    first: int = 0,
) -> Iterator[tuple[bytes, bytes]]:
    """Deletions have a higher version, so a late request cannot restore a deleted chunk."""
    for number, (chunk, vector) in enumerate(chunks, start=first):
        action = {"_id": f"{generation.name}-{number}", "version": 1, "version_type": _VERSIONS}
        yield (
            orjson.dumps({"index": action}),
            orjson.dumps(
                _source(chunk, vector, generation) | _expanded((expansions or {}).get(chunk.id, ()))
            ),
        )


def _expanded(vectors: Sequence[ExpansionVector]) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in vectors:
        if each.vector.any():
            found.setdefault(EXPANSIONS[each.kind], []).append({"vector": pack_dense_vector(each.vector)})
    return dict(found)


def deletions(ids: Iterable[str]) -> Iterator[tuple[bytes]]:
    for each in ids:
        yield (orjson.dumps({"delete": {"_id": each, "version": 2, "version_type": _VERSIONS}}),)


def saturated(count: int, length: int, average: float) -> float:
    """A term's part of BM25, from 0 to 1."""
    return count / (count + K1 * (1 - B + B * length / average))


def frequencies(tokens: Sequence[str]) -> dict[str, float]:
    return {
        term: max(round(saturated(count, len(tokens), _ASSUMED_AVERAGE), _DIGITS), 10**-_DIGITS)
        for term, count in Counter(tokens).items()
    }


def chunk_of(source: Mapping[str, Any], knowledge_base: KnowledgeBaseId) -> Chunk:
    return Chunk(
        id=ChunkId(source["chunk"]),
        document=DocumentId(source["document"]),
        knowledge_base=knowledge_base,
        ordinal=source["ordinal"],
        text=source["text"],
        title=source["title"],
        uri=source["uri"],
        headings=tuple(source["headings"]),
        anchor=source["anchor"],
        kind=cast("SectionKind", source["kind"]),
        language=source["language"],
    )


def _source(chunk: Chunk, vector: Vector, generation: Generation) -> dict[str, Any]:
    # Elasticsearch refuses zero vectors.
    found = tokens(encodable(searchable_text(chunk)), language=chunk.language)
    directed = {"vector": pack_dense_vector(vector)} if vector.any() else {}
    return {
        **directed,
        "base": generation.base,
        "generation": generation.name,
        "knowledge_base": encodable(chunk.knowledge_base),
        "document": encodable(chunk.document),
        "chunk": encodable(chunk.id),
        "ordinal": chunk.ordinal,
        "tokens": " ".join(found),
        "length": len(found),
        FREQUENCIES: frequencies(found),
        "text": encodable(chunk.text),
        "title": encodable(chunk.title),
        "uri": encodable(chunk.uri),
        "headings": [encodable(heading) for heading in chunk.headings],
        "anchor": encodable(chunk.anchor),
        "kind": chunk.kind,
        "language": chunk.language,
    }
