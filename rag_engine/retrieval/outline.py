from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from rag_engine.types import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Chunk, ChunkId, DocumentId

_MOST_ENTRIES = 200
_MOST_WORDS = 22
_BEST_SCORE = 5.0
_LEAST_SHARE = 0.3
_CONSTANT = 60


class SectionScore(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: int
    score: float


class OutlineReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    sections: tuple[SectionScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """Down to the next heading; without chunks, those of the headings below."""

    title: str
    path: tuple[str, ...]
    chunks: tuple[Chunk, ...]


def top_documents(hits: Sequence[Hit], most: int) -> list[tuple[DocumentId, Chunk]]:
    sums: dict[DocumentId, float] = defaultdict(float)
    for hit in hits:
        sums[hit.chunk.document] += hit.score
    first = {hit.chunk.document: hit.chunk for hit in reversed(hits)}
    return [(name, first[name]) for name in sorted(sums, key=lambda name: -sums[name])[:most]]


def outline(chunks: Sequence[Chunk]) -> tuple[OutlineEntry, ...]:
    """The deepest of too many headings are left out."""
    paths = dict.fromkeys(
        chunk.headings[:depth]
        for chunk in chunks
        for depth in range(1, len(chunk.headings) + 1)
        if _is_heading(chunk.headings[depth - 1])
    )
    deepest = max(map(len, paths), default=0)
    while len(paths) > _MOST_ENTRIES and deepest > 1:
        deepest -= 1
        paths = {path: None for path in paths if len(path) <= deepest}
    owned: dict[tuple[str, ...], list[Chunk]] = {path: [] for path in list(paths)[:_MOST_ENTRIES]}
    for chunk in chunks:
        above = (chunk.headings[:depth] for depth in range(len(chunk.headings), 0, -1))
        if (owner := next((path for path in above if path in owned), None)) is not None:
            owned[owner].append(chunk)
    return tuple(
        OutlineEntry(
            title=chunks[0].title,
            path=path,
            chunks=tuple(found or [chunk for chunk in chunks if chunk.headings[: len(path)] == path]),
        )
        for path, found in owned.items()
    )


def _is_heading(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS and any(sign.isalpha() for sign in text)


def chosen(entries: Sequence[OutlineEntry], reply: OutlineReply, *, most: int) -> dict[ChunkId, Chunk]:
    scores = {one.id: min(one.score, _BEST_SCORE) / _BEST_SCORE for one in reply.sections}
    likely = [
        (score, number)
        for number, score in scores.items()
        if score >= _LEAST_SHARE and 1 <= number <= len(entries)
    ]
    ordered = sorted(likely, key=lambda pair: (-pair[0], pair[1]))
    chunks = [chunk for _, number in ordered for chunk in entries[number - 1].chunks]
    return {chunk.id: chunk for chunk in chunks[:most]}


def with_sections(hits: Sequence[Hit], sections: Mapping[ChunkId, Chunk]) -> tuple[Hit, ...]:
    """Fused by reciprocal ranks; scores stay."""
    known = {hit.chunk.id: hit for hit in hits}
    ranks: dict[ChunkId, float] = defaultdict(float)
    for ranked in (list(known), list(sections)):
        for rank, chunk in enumerate(ranked, 1):
            ranks[chunk] += 1 / (_CONSTANT + rank)
    ordered = sorted(ranks, key=lambda chunk: -ranks[chunk])
    scale = hits[0].score / ranks[ordered[0]]
    return tuple(
        replace(
            known.get(chunk) or Hit(chunk=sections[chunk], score=0.0, rank=0),
            score=ranks[chunk] * scale,
            rank=rank,
        )
        for rank, chunk in enumerate(ordered, 1)
    )
