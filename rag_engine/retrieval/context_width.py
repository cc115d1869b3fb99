from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine.types import ChunkId, Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.types import Chunk, DocumentId

MOST_PASSAGES = 200
_FURTHER_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """By ordinal: all, or those around the best hits."""

    chunks: tuple[Chunk, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    hits: tuple[Hit, ...]
    whole: tuple[DocumentId, ...] = ()
    left_out: int = 0


@dataclass(slots=True, kw_only=True)
class _Draft:
    weigh: Callable[[Chunk], int]
    room: int
    taken: dict[ChunkId, Hit] = field(default_factory=dict[ChunkId, Hit])
    weights: dict[ChunkId, int] = field(default_factory=dict[ChunkId, int])

    def weight(self, chunk: Chunk) -> int:
        if chunk.id not in self.weights:
            self.weights[chunk.id] = self.weigh(chunk)
        return self.weights[chunk.id]

    def take(self, hit: Hit) -> bool:
        if hit.chunk.id in self.taken:
            return True
        weight = self.weight(hit.chunk)
        if weight > self.room or len(self.taken) >= MOST_PASSAGES:
            return False
        self.taken[hit.chunk.id] = hit
        self.room -= weight
        return True

    def take_all(self, chunks: Sequence[Chunk]) -> bool:
        new = [chunk for chunk in chunks if chunk.id not in self.taken]
        if len(self.taken) + len(new) > MOST_PASSAGES:
            return False
        room = self.room
        for chunk in new:
            room -= self.weight(chunk)
            if room < 0:
                return False
        return all(self.take(_beside(chunk)) for chunk in new)


def current(hits: Sequence[Hit], documents: Mapping[DocumentId, LoadedDocument]) -> tuple[Hit, ...]:
    """What is at the same place of a replaced document; nothing of a removed one."""
    found: list[Hit] = []
    for hit in hits:
        chunks = documents[hit.chunk.document].chunks
        ids = {chunk.id for chunk in chunks}
        same = (chunk for chunk in chunks if chunk.ordinal == hit.chunk.ordinal)
        if hit.chunk.id in ids:
            found.append(hit)
        elif (chunk := next(same, None)) is not None:
            found.append(replace(hit, chunk=chunk))
    return tuple(found)


def widened(
    best: Sequence[Hit],
    further: Sequence[Hit],
    documents: Mapping[DocumentId, LoadedDocument],
    *,
    room: int,
    weigh: Callable[[Chunk], int],
    weak: float,
    weights: Mapping[ChunkId, int] | None = None,
) -> Context | None:
    """Whole documents if all fit; else neighbours, further hits, single documents. None if nothing is added."""
    draft = _Draft(weigh=weigh, room=room, weights=dict(weights or {}))
    if not best or not all(draft.take(hit) for hit in best):
        return None
    if (whole := _whole(best, documents, draft)) is not None:
        return whole
    strong = [hit for hit in further if hit.score >= weak * best[0].score]
    for hit in best:
        for chunk in _neighbours(hit.chunk, documents):
            draft.take(_beside(chunk))
    reserve = int(draft.room * _FURTHER_SHARE)
    draft.room -= reserve
    for hit in strong:
        draft.take(hit)
    draft.room += reserve
    complete: list[DocumentId] = []
    for name in dict.fromkeys(hit.chunk.document for hit in best):
        loaded = documents.get(name)
        if loaded is not None and loaded.is_whole and draft.take_all(loaded.chunks):
            complete.append(name)
    for hit in strong:
        draft.take(hit)
    if len(draft.taken) == len(best):
        return None
    return Context(
        hits=tuple(draft.taken.values()), whole=tuple(complete), left_out=len(further) - len(strong)
    )


def _whole(
    best: Sequence[Hit], documents: Mapping[DocumentId, LoadedDocument], draft: _Draft
) -> Context | None:
    names = {hit.chunk.document for hit in best}
    if not all(name in documents and documents[name].is_whole for name in names):
        return None
    ordered = sorted(names, key=lambda name: (documents[name].chunks[0].title, name))
    chunks = [chunk for name in ordered for chunk in documents[name].chunks]
    found = {hit.chunk.id for hit in best}
    if not found <= {chunk.id for chunk in chunks} or not draft.take_all(chunks):
        return None
    return Context(hits=tuple(draft.taken[chunk.id] for chunk in chunks), whole=tuple(ordered))


def _neighbours(chunk: Chunk, documents: Mapping[DocumentId, LoadedDocument]) -> list[Chunk]:
    loaded = documents.get(chunk.document)
    if loaded is None:
        return []
    return [
        other
        for other in loaded.chunks
        if abs(other.ordinal - chunk.ordinal) == 1 and other.headings == chunk.headings
    ]


def _beside(chunk: Chunk) -> Hit:
    return Hit(chunk=chunk, score=0.0, rank=0)
