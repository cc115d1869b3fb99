"""An index that can be read back, and inquiries whose hits are in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rag_engine.pipeline import Inquiry
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, Query

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from rag_engine.types import Vector

BASE = KnowledgeBaseId("kb")
SENTENCE = "The committee of the council met and spoke at length about the matter at hand. "


class Shelf:
    """Documents by name, each of so many chunks."""

    def __init__(self, headings: Mapping[int, tuple[str, ...]] | None = None, **documents: int) -> None:
        self.documents = {
            name: [
                Chunk(
                    id=ChunkId(f"{name}-{ordinal}"),
                    document=DocumentId(name),
                    knowledge_base=BASE,
                    ordinal=ordinal,
                    text=f"{name} {ordinal}. {SENTENCE * 3}",
                    title=f"{name}.md",
                    anchor=f"p. {ordinal + 1}",
                    headings=(headings or {}).get(ordinal, ()),
                )
                for ordinal in range(count)
            ]
            for name, count in documents.items()
        }
        self.read = 0
        self.fault: Exception | None = None
        self.seconds = 0.0

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        await asyncio.sleep(self.seconds)
        if self.fault is not None:
            raise self.fault
        found = [chunk for chunk in self.documents[document] if chunk.ordinal >= start][:limit]
        self.read += len(found)
        return found

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return sum(map(len, self.documents.values()))

    def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        raise AssertionError("the whole index is never read")

    def inquiry(self, *places: tuple[str, int], limit: int = 8, question: str = "What was said?") -> Inquiry:
        hits = tuple(
            Hit(chunk=self.documents[name][ordinal], score=1 / rank, rank=rank)
            for rank, (name, ordinal) in enumerate(places, 1)
        )
        query = Query(text=question, knowledge_bases=frozenset([BASE]), limit=limit)
        return Inquiry(query=query, question=query.text, hits=hits[:limit], further=hits[limit:])
