"""Chunks, rankings, and an index with given rankings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, Leg, Ranking, Search

if TYPE_CHECKING:
    from collections.abc import Sequence

KNOWLEDGE_BASE = KnowledgeBaseId("kb")


def chunk(name: str, *, text: str = "", title: str = "", language: str = "en") -> Chunk:
    return Chunk(
        id=ChunkId(name),
        document=DocumentId(f"document of {name}"),
        knowledge_base=KNOWLEDGE_BASE,
        ordinal=0,
        text=text or f"the text of {name}",
        title=title,
        language=language,
    )


def ranking(leg: Leg, scores: Sequence[tuple[Chunk | str, float]], *, complete: bool = True) -> Ranking:
    hits = tuple(
        Hit(chunk=chunk(named) if isinstance(named, str) else named, score=score, rank=rank)
        for rank, (named, score) in enumerate(scores, start=1)
    )
    return Ranking(leg=leg, hits=hits, complete=complete)


@dataclass(slots=True)
class GivenIndex:
    """Returns the given ranking per leg, `similar` for names that no chunk holds, and records the searches."""

    rankings: dict[Leg, Ranking]
    calls: list[list[Search]] = field(default_factory=list[list[Search]])
    similar: Ranking = field(default_factory=lambda: ranking("lexical", []))

    async def put(self, document: object, chunks: object) -> None:
        raise AssertionError("nothing is put here")

    async def drop(self, knowledge_base: object, document: object = None) -> None:
        raise AssertionError("nothing is dropped here")

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        self.calls.append(list(searches))
        return [self.similar if search.names else self.rankings[search.leg] for search in searches]
