from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.errors import first_error
from rag_engine.wrappers.delegation import DelegatingEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rag_engine.ports import VectorCache
    from rag_engine.types import Matrix, Side, Vector

_BATCH: Final = 64
"""An interruption loses at most two batches."""

_LANES: Final = 2

_READ_AT_ONCE: Final = 500
_CACHED_QUERIES: Final = 256


@dataclass(frozen=True, slots=True)
class CachedEmbedder(DelegatingEmbedder):
    """Queries stay in memory. Raises `StorageUnavailable`."""

    cache: VectorCache
    _queries: OrderedDict[str, Vector] = field(default_factory=OrderedDict[str, "Vector"], init=False)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        if side == "query":
            return await self._embed_queries(texts)
        return await self._embed_passages(texts)

    async def _embed_queries(self, texts: Sequence[str]) -> Matrix:
        known = {text: self._queries[text] for text in texts if text in self._queries}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            rows = await self.embedder.embed(missing, side="query")
            known.update(zip(missing, rows, strict=True))
        for text in texts:
            self._queries[text] = known[text]
            self._queries.move_to_end(text)
        while len(self._queries) > _CACHED_QUERIES:
            self._queries.popitem(last=False)
        return self._stacked([known[text] for text in texts])

    async def _embed_passages(self, texts: Sequence[str]) -> Matrix:
        hashes = {text: hash_of(text) for text in texts}
        known = await self._read(list(hashes.values()))
        missing = [text for text, key in hashes.items() if key not in known]
        if missing:
            known |= await self._embed_missing(missing, hashes)
        return self._stacked([known[hashes[text]] for text in texts])

    async def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        known: dict[bytes, Vector] = {}
        for start in range(0, len(keys), _READ_AT_ONCE):
            known |= await self.cache.read(self.model, keys[start : start + _READ_AT_ONCE])
        return known

    async def _embed_missing(
        self, missing: Sequence[str], hashes: Mapping[str, bytes]
    ) -> dict[bytes, Vector]:
        made: dict[bytes, Vector] = {}
        batches = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))
        with first_error():
            async with asyncio.TaskGroup() as group:
                for number in range(_LANES):
                    group.create_task(self._work_through(batches, hashes, made), name=f"embed-{number}")
        return made

    async def _work_through(
        self, batches: Iterator[Sequence[str]], hashes: Mapping[str, bytes], made: dict[bytes, Vector]
    ) -> None:
        for batch in batches:
            rows = await self.embedder.embed(batch, side="passage")
            vectors = {hashes[text]: row for text, row in zip(batch, rows, strict=True)}
            await self.cache.write(self.model, vectors)
            made |= vectors

    def _stacked(self, rows: Sequence[Vector]) -> Matrix:
        """The caller cannot change cached vectors."""
        if not rows:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack(rows).astype(np.float32, copy=False)


def hash_of(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
