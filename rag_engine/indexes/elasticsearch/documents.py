"""Chunks as documents of Elasticsearch, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson
from elasticsearch.helpers import pack_dense_vector

from rag_engine.analysis import tokens
from rag_engine.searchable import searchable_text
from rag_engine.surrogates import encodable
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId, SectionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rag_engine.indexes.elasticsearch.ledger import Generation
    from rag_engine.types import Vector


_VERSIONS = "external_gte"


def operations(
    chunks: Sequence[tuple[Chunk, Vector]], generation: Generation
) -> Iterator[tuple[bytes, bytes]]:
    """One bulk operation a chunk: its action line and its document, as JSON. Writing it again writes the same.

    Not after it was deleted, which has the higher version: a request that was given up and sent again may be done much later.
    """
    for number, (chunk, vector) in enumerate(chunks):
        action = {"_id": f"{generation.name}-{number}", "version": 1, "version_type": _VERSIONS}
        yield (
            orjson.dumps({"index": action}),
            orjson.dumps(_source(chunk, vector, generation)),
        )


def deletions(ids: Iterable[str]) -> Iterator[tuple[bytes]]:
    """One bulk operation an id."""
    for each in ids:
        yield (orjson.dumps({"delete": {"_id": each, "version": 2, "version_type": _VERSIONS}}),)


def chunk_of(source: Mapping[str, Any], knowledge_base: KnowledgeBaseId) -> Chunk:
    """The chunk in a stored document."""
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
    # A vector without length points nowhere: Elasticsearch refuses it, and no question is near it.
    directed = {"vector": pack_dense_vector(vector)} if vector.any() else {}
    return {
        **directed,
        "base": generation.base,
        "generation": generation.name,
        "knowledge_base": encodable(chunk.knowledge_base),
        "document": encodable(chunk.document),
        "chunk": encodable(chunk.id),
        "ordinal": chunk.ordinal,
        "tokens": " ".join(tokens(encodable(searchable_text(chunk)), language=chunk.language)),
        "text": encodable(chunk.text),
        "title": encodable(chunk.title),
        "uri": encodable(chunk.uri),
        "headings": [encodable(heading) for heading in chunk.headings],
        "anchor": encodable(chunk.anchor),
        "kind": chunk.kind,
        "language": chunk.language,
    }
