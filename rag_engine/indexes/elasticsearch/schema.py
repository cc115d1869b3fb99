"""The mappings, both strict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from rag_engine.errors import Misconfigured, SchemaMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.indexes.elasticsearch.settings import Settings
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import Expansion

SCHEMA = 3
"""2: tokens are counted, for statistics of single knowledge bases. 3: saturated frequencies."""

VectorKind: TypeAlias = Literal["hnsw", "int8_hnsw", "int4_hnsw", "bbq_hnsw", "int8_flat"]

_APPLICATION = "footnote-bot"
_OVERSAMPLE: Mapping[VectorKind, float] = {
    "int8_hnsw": 2.0,
    "int4_hnsw": 3.0,
    "bbq_hnsw": 5.0,
    "int8_flat": 2.0,
}
"""Vectors examined per hit, ranked by exact values. Measured in benchmarks.elastic.vector_index_options, as the next two."""
_NEIGHBOURS, _CANDIDATES_WHILE_BUILDING = 16, 200
"""With 100 candidates even exact vectors lose 1 % of the ten nearest."""

FREQUENCIES = "frequencies"
"""The field by which Elasticsearch ranks, without statistics of its own."""
TOKENS = "whitespace"
"""For our own tokens, which contain no blanks and at most 64 characters."""


EXPANSIONS: Final[Mapping[Expansion, str]] = {"summary": "summaries", "question": "questions"}
"""Nested vectors; an index gets the fields with the first ones."""


def expansion_fields(settings: Settings, identity: IndexIdentity) -> dict[str, Any]:
    vector = _vector(settings, identity)
    return {field: {"type": "nested", "properties": {"vector": vector}} for field in EXPANSIONS.values()}


def _vector(settings: Settings, identity: IndexIdentity) -> dict[str, Any]:
    return {
        "type": "dense_vector",
        "dims": identity.dimensions,
        "index": True,
        "similarity": "cosine",
        "index_options": _index_options(settings.vectors),
    }


def chunk_index(settings: Settings, identity: IndexIdentity) -> dict[str, Any]:
    kept = {"type": "keyword", "index": False, "doc_values": False}
    keyword = {"type": "keyword"}
    return {
        "settings": {
            **_copies(settings, shards=settings.shards),
            # Writers refresh when a document is complete; later, merged segments replace small ones.
            "refresh_interval": "30s",
            # See `documents`.
            "gc_deletes": f"{math.ceil(3 * settings.write_timeout)}s",
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": _meta(identity),
            # Made of the tokens.
            "_source": {"excludes": [FREQUENCIES]},
            "properties": {
                "base": keyword,
                "generation": keyword,
                "knowledge_base": keyword,
                "document": keyword,
                "chunk": keyword,
                "ordinal": {"type": "integer"},
                "length": {"type": "integer"},
                "tokens": {"type": "text", "analyzer": TOKENS, "index_options": "docs", "norms": False},
                FREQUENCIES: {"type": "sparse_vector"},
                "vector": _vector(settings, identity),
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
    """Raises `Misconfigured` for another program's index."""
    if meta.get("application") != _APPLICATION:
        raise Misconfigured(
            f"The Elasticsearch index {index} belongs to another program; set FOOTNOTE_INDEX__ALIAS to a free name."
        )


def check_schema(index: str, meta: Mapping[str, Any]) -> None:
    if meta.get("schema") != SCHEMA:
        raise SchemaMismatch(
            f"The Elasticsearch index {index} was written by another version of Footnote (schema {meta.get('schema')},"
            f" this one knows {SCHEMA}): use that version, or run `footnote kb reindex --all`."
        )


def is_of(identity: IndexIdentity, meta: Mapping[str, Any]) -> bool:
    return dict(meta) == _meta(identity)


def mismatch(index: str, identity: IndexIdentity, meta: Mapping[str, Any]) -> SchemaMismatch:
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
    """Without the manifests nobody knows which chunks count."""
    return SchemaMismatch(
        f"The Elasticsearch index {index} was removed, without which nobody knows which chunks count; run"
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
