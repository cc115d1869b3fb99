"""The mappings of the two indexes, and what is checked when they are opened.

The chunks' index holds every chunk with its vector; the manifests' index says of each knowledge base which of them count
(see `manifests`). Both are strict: a field nobody planned is refused, not guessed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rag_engine.errors import Misconfigured, SchemaMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.indexes.elasticsearch.settings import Settings
    from rag_engine.ports import IndexIdentity

SCHEMA = 1
K1, B = 1.2, 0.75
"""Of BM25."""

VectorKind: TypeAlias = Literal["hnsw", "int8_hnsw", "int4_hnsw", "bbq_hnsw", "int8_flat"]

_APPLICATION = "footnote-bot"
_OVERSAMPLE: Mapping[VectorKind, float] = {
    "int8_hnsw": 2.0,
    "int4_hnsw": 3.0,
    "bbq_hnsw": 5.0,
    "int8_flat": 2.0,
}
"""Vectors looked up for each that is asked for. They are found by rounded numbers and ranked by exact ones, so that scores are
cosines; measured in benchmarks.vector_index_options, as are the two that follow."""
_NEIGHBOURS, _CANDIDATES_WHILE_BUILDING = 16, 200
"""Of the graph. With 100 candidates, the default, even exact vectors lose a hundredth of the ten nearest; more neighbours bring
nothing that these do not."""

TOKENS = "whitespace"
"""The analyzer of what our own analyzer made, which has no blanks in it and no token of more than 64 characters."""


def chunk_index(settings: Settings, identity: IndexIdentity) -> dict[str, Any]:
    """Settings and mappings of the index of chunks."""
    kept = {"type": "keyword", "index": False, "doc_values": False}
    keyword = {"type": "keyword"}
    return {
        "settings": {
            **_copies(settings, shards=settings.shards),
            # What becomes visible is refreshed by those who write it, and only when it is whole.
            "refresh_interval": "-1",
            # How long a deleted chunk cannot be written again by a request that comes late (see `documents`).
            "gc_deletes": f"{math.ceil(3 * settings.write_timeout)}s",
            "similarity": {"bm25": {"type": "BM25", "k1": K1, "b": B}},
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": _meta(identity),
            # What is only searched is not kept a second time.
            "_source": {"excludes": ["tokens"]},
            "properties": {
                "base": keyword,
                "generation": keyword,
                "knowledge_base": keyword,
                "document": keyword,
                "chunk": keyword,
                "ordinal": {"type": "integer"},
                "tokens": {
                    "type": "text",
                    "analyzer": TOKENS,
                    "similarity": "bm25",
                    "index_options": "freqs",
                },
                "vector": {
                    "type": "dense_vector",
                    "dims": identity.dimensions,
                    "index": True,
                    "similarity": "cosine",
                    "index_options": _index_options(settings.vectors),
                },
                "text": kept,
                "title": kept,
                "uri": kept,
                "headings": kept,
                "anchor": kept,
                "kind": kept,
                "language": kept,
            },
        },
    }


def manifest_index(settings: Settings, identity: IndexIdentity) -> dict[str, Any]:
    """Settings and mappings of the index of manifests."""
    return {
        "settings": {**_copies(settings, shards=1), "refresh_interval": "-1"},
        "mappings": {
            "dynamic": "strict",
            "_meta": _meta(identity),
            "properties": {
                "knowledge_base": {"type": "keyword"},
                "unfinished": {"type": "boolean"},
                "manifest": {"type": "object", "enabled": False},
            },
        },
    }


def check_owner(index: str, meta: Mapping[str, Any]) -> None:
    """Raise when an index is not ours, or of a schema this version does not know."""
    if meta.get("application") != _APPLICATION:
        raise Misconfigured(
            f"The Elasticsearch index {index} belongs to another program; set FOOTNOTE_INDEX__ALIAS to a free name."
        )
    if meta.get("schema") != SCHEMA:
        raise SchemaMismatch(
            f"The Elasticsearch index {index} was written by another version of Footnote (schema {meta.get('schema')},"
            f" this one knows {SCHEMA}): use that version, or run `footnote kb reindex --all`."
        )


def is_of(identity: IndexIdentity, meta: Mapping[str, Any]) -> bool:
    """Whether an index holds the vectors and tokens of this identity."""
    return dict(meta) == _meta(identity)


def mismatch(index: str, identity: IndexIdentity, meta: Mapping[str, Any]) -> SchemaMismatch:
    """What to say of an index of another identity."""
    if meta.get("model") != identity.model or meta.get("dimensions") != identity.dimensions:
        return SchemaMismatch(
            f"The Elasticsearch index {index} holds vectors of {meta.get('model')} ({meta.get('dimensions')} dimensions), the"
            f" settings name {identity.model} ({identity.dimensions}); run `footnote kb reindex --all`, or set the"
            " FOOTNOTE_EMBEDDER__… settings back."
        )
    return SchemaMismatch(
        f"The Elasticsearch index {index} was made with another text analyzer ({meta.get('analyzer')}, now"
        f" {identity.analyzer}); run `footnote kb reindex --all`."
    )


def halved(index: str) -> SchemaMismatch:
    """What to say when the manifests were removed, so that nobody knows which chunks count."""
    return SchemaMismatch(
        f"The Elasticsearch index {index} was removed, without which the chunks cannot be told apart; run"
        " `footnote kb reindex --all`."
    )


def _meta(identity: IndexIdentity) -> dict[str, Any]:
    return {
        "application": _APPLICATION,
        "schema": SCHEMA,
        "model": identity.model,
        "dimensions": identity.dimensions,
        "analyzer": identity.analyzer,
    }


def _copies(settings: Settings, *, shards: int) -> dict[str, Any]:
    replicas = (
        {"auto_expand_replicas": "0-1"}
        if settings.replicas is None
        else {"number_of_replicas": settings.replicas}
    )
    return {"number_of_shards": shards, **replicas}


def _index_options(kind: VectorKind) -> dict[str, Any]:
    options: dict[str, Any] = {"type": kind}
    if kind.endswith("hnsw"):
        options |= {"m": _NEIGHBOURS, "ef_construction": _CANDIDATES_WHILE_BUILDING}
    if kind in _OVERSAMPLE:
        options["rescore_vector"] = {"oversample": _OVERSAMPLE[kind]}
    return options
