"""A vector cache in memory that records its calls, and fails on request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine.errors import StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Vector


@dataclass(slots=True)
class MemoryVectorCache:
    vectors: dict[tuple[str, bytes], Vector] = field(default_factory=dict)
    writes: list[int] = field(default_factory=list[int])
    broken: bool = False
    awaited: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once `awaited` vectors are stored."""

    async def read(self, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]:
        if self.broken:
            raise StorageUnavailable
        return {key: self.vectors[model, key] for key in hashes if (model, key) in self.vectors}

    async def write(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        if self.broken:
            raise StorageUnavailable
        self.writes.append(len(vectors))
        self.vectors.update({(model, key): vector.copy() for key, vector in vectors.items()})
        if len(self.vectors) >= self.awaited:
            self.reached.set()
