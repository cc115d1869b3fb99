"""Chunks found lately: searches return their keys alone, and most take one request.

What a key names never changes: a document that is put again gets a new generation.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rag_engine.indexes.elasticsearch.documents import chunk_of
from rag_engine.indexes.elasticsearch.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.elasticsearch.cluster import Cluster
    from rag_engine.types import Chunk, KnowledgeBaseId

_BITS = 2**16 - 1
_PAGE = 500
_ROOM = 2
"""For chunks of the same ids in other generations."""
_MOST_MISSED = 0.4
_PACE = 0.25
"""Weight of the newest question."""

BY_KEY = ({"chunk": "asc"}, {"generation": "asc"})


ChunkKey: TypeAlias = tuple[str, str]
"""Chunk and generation."""


class FoundChunk:
    """`vector`: of length 1; empty if there is none, None if not read."""

    __slots__ = ("_tokens", "base", "chunk", "vector")

    def __init__(self, chunk: Chunk, *, base: str, tokens: str, vector: bytes | None = None) -> None:
        self.chunk = chunk
        self.base = base
        self.vector = vector
        self._tokens: str | NDArray[np.int64] = tokens

    @property
    def words(self) -> NDArray[np.int64]:
        """The hash of each token: with 64 bits no two words meet."""
        if isinstance(self._tokens, str):
            self._tokens = np.array([*map(hash, self._tokens.split(" "))], dtype=np.int64)
        return self._tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPart:
    """`is_whole` is False if part of the index did not answer."""

    chunks: Mapping[ChunkKey, FoundChunk]
    is_whole: bool = True


class FoundChunks:
    """Keeps up to `most`; the documents found longest ago go first."""

    def __init__(self, cluster: Cluster, *, most: int) -> None:
        self._cluster = cluster
        self._most = most
        self._kept: OrderedDict[str, dict[str, FoundChunk]] = OrderedDict()
        self._count = 0
        self._missed = 1.0

    @property
    def are_keys_enough(self) -> bool:
        """Few were missing lately: reading those afterwards costs less."""
        return self._missed < _MOST_MISSED

    async def read(
        self,
        wanted: Mapping[ChunkKey, Mapping[str, Any]],
        bases: Mapping[str, KnowledgeBaseId],
        *,
        near: Collection[ChunkKey],
        target: Mapping[str, Any],
        limit: str,
    ) -> FoundPart | None:
        """`wanted`: hits, with or without source; `near`: with vectors. None if one was deleted meanwhile."""
        found = self._found(wanted)
        missing = [key for key in wanted if key not in found]
        if wanted:
            self._missed += _PACE * (len(missing) / len(wanted) - self._missed)
        given = {key: _made(wanted[key]["_source"], bases) for key in missing if "_source" in wanted[key]}
        self._keep(given)
        found |= given
        missing = [key for key in missing if key not in given]
        missing += [key for key in near if key in found and found[key].vector is None]
        is_whole = True
        for start in range(0, len(missing), _PAGE):
            part = missing[start : start + _PAGE]
            with translate_errors():
                answer = await self._cluster.reader.search(
                    **target, **_request(part, with_vectors=bool(near)), timeout=limit
                )
            hits = answer["hits"]["hits"]
            vectors = map(vector_of, hits) if near else [None] * len(hits)
            read = {
                key_of(hit): _made(hit["_source"], bases, vector)
                for hit, vector in zip(hits, vectors, strict=True)
            }
            self._keep(read)
            found |= read
            if answer["timed_out"] or answer["_shards"]["failed"]:
                is_whole = False
            elif not read.keys() >= set(part):
                return None
        return FoundPart(chunks=found, is_whole=is_whole)

    def forget(self, generations: Iterable[str]) -> None:
        for generation in generations:
            self._count -= len(self._kept.pop(generation, ()))

    def clear(self) -> None:
        self._kept.clear()
        self._count = 0

    def _found(self, wanted: Collection[ChunkKey]) -> dict[ChunkKey, FoundChunk]:
        kept = {generation: self._kept[generation] for _, generation in wanted if generation in self._kept}
        for generation in kept:
            self._kept.move_to_end(generation)
        nothing: dict[str, FoundChunk] = {}
        return {key: chunk for key in wanted if (chunk := kept.get(key[1], nothing).get(key[0])) is not None}

    def _keep(self, chunks: Mapping[ChunkKey, FoundChunk]) -> None:
        for (name, generation), chunk in chunks.items():
            kept = self._kept.setdefault(generation, {})
            self._count += name not in kept
            kept[name] = chunk
        while self._count > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._count -= len(oldest)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCounts:
    """A row for each word, a column for each chunk."""

    words: Sequence[str]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    bases: Sequence[str]


def word_counts(chunks: Sequence[FoundChunk], words: Sequence[str]) -> WordCounts:
    texts = [chunk.words for chunk in chunks]
    lengths = np.array([*map(len, texts)], dtype=np.int64)
    every = np.concatenate(texts)
    hashes = np.array([*map(hash, words)], dtype=np.int64)
    likely = np.zeros(_BITS + 1, dtype=np.bool_)
    likely[hashes & _BITS] = True
    places = np.flatnonzero(likely[every & _BITS])
    order = np.argsort(hashes)
    rows = order[np.minimum(np.searchsorted(hashes[order], every[places]), len(words) - 1)]
    are_words = hashes[rows] == every[places]
    owners = np.searchsorted(np.cumsum(lengths), places[are_words], side="right")
    counts = np.bincount(rows[are_words] * len(texts) + owners, minlength=len(words) * len(texts))
    return WordCounts(
        words=words,
        counts=counts.reshape(len(words), -1),
        lengths=lengths,
        bases=[chunk.base for chunk in chunks],
    )


def _request(keys: Sequence[ChunkKey], *, with_vectors: bool) -> dict[str, Any]:
    chunks, generations = (sorted(set(names)) for names in zip(*keys, strict=True))
    wanted = [{"terms": {"chunk": chunks}}, {"terms": {"generation": generations}}]
    return {
        "query": {"bool": {"filter": wanted}},
        "docvalue_fields": [vector_field()] if with_vectors else [],
        "sort": BY_KEY,
        "size": _ROOM * len(keys),
        "track_total_hits": False,
    }


def key_of(hit: Mapping[str, Any]) -> ChunkKey:
    chunk, generation = hit["sort"][-2:]
    return chunk, generation


def _made(
    source: Mapping[str, Any], bases: Mapping[str, KnowledgeBaseId], vector: bytes | None = None
) -> FoundChunk:
    chunk = chunk_of(source, bases[source["base"]])
    return FoundChunk(chunk, base=source["base"], tokens=source["tokens"], vector=vector)


def vector_field() -> dict[str, str]:
    return {"field": "vector", "format": "binary"}


def vector_of(hit: Mapping[str, Any]) -> bytes:
    """Servers before 9.4 send numbers."""
    values = hit.get("fields", {}).get("vector")
    if not values:
        return b""
    if isinstance(values[0], str):
        found = np.frombuffer(base64.b64decode(values[0]), dtype=">f4").astype(np.float32)
    else:
        found = np.array(values, dtype=np.float32)
    return (found / np.linalg.norm(found)).tobytes()
