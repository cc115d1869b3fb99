from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import ChunkId, Hit


@dataclass(slots=True)
class PassagePool:
    """The model knows them by numbers, from 1."""

    _known: dict[ChunkId, int] = field(default_factory=dict["ChunkId", int])
    _hits: list[Hit] = field(default_factory=list["Hit"])
    _results: list[list[ChunkId]] = field(default_factory=list["list[ChunkId]"])

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(self._hits)

    def add(self, hits: Sequence[Hit]) -> list[tuple[int, Hit, bool]]:
        added: list[tuple[int, Hit, bool]] = []
        for hit in hits:
            is_new = hit.chunk.id not in self._known
            if is_new:
                self._hits.append(hit)
                self._known[hit.chunk.id] = len(self._hits)
            added.append((self._known[hit.chunk.id], hit, is_new))
        self._results.append([hit.chunk.id for hit in hits])
        return added

    def best(self, most: int) -> tuple[Hit, ...]:
        """Of each result in turn; the first search comes last."""
        results = [*self._results[1:], *self._results[:1]]
        ranked = dict.fromkeys(one for row in zip_longest(*results) for one in row if one is not None)
        chosen = [self._hits[self._known[one] - 1] for one in ranked][:most]
        return tuple(replace(hit, rank=rank) for rank, hit in enumerate(chosen, 1))
