"""What is to be removed is found by no question, however long the index takes to do it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.around import AroundIndex

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.ports import Unfinished
    from rag_engine.types import Chunk, DocumentId, KnowledgeBaseId, Ranking, Search


@dataclass(frozen=True, slots=True)
class HidingIndex(AroundIndex):
    """The same port round `index`, whose rankings leave out what is to go."""

    unfinished: Unfinished

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        async with asyncio.TaskGroup() as group:
            searching = group.create_task(self.index.search(searches))
            leaving = group.create_task(self.unfinished.leaving())
        return [_without(ranking, leaving.result()) for ranking in searching.result()]

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        found = await self.index.chunks(knowledge_base, document, limit=limit)
        # Asked afterwards: what was to go before it was read is in the answer.
        return [] if document in await self.unfinished.leaving() else found


def _without(ranking: Ranking, leaving: Collection[DocumentId]) -> Ranking:
    hits = tuple(hit for hit in ranking.hits if hit.chunk.document not in leaving)
    return ranking if len(hits) == len(ranking.hits) else replace(ranking, hits=hits)
