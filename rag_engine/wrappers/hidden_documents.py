from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.errors import first_error
from rag_engine.wrappers.delegation import DelegatingIndex

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.ports import Unfinished
    from rag_engine.types import Chunk, DocumentId, KnowledgeBaseId, Ranking, Search


@dataclass(frozen=True, slots=True)
class HiddenDocumentsIndex(DelegatingIndex):
    unfinished: Unfinished

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        with first_error():
            async with asyncio.TaskGroup() as group:
                searching = group.create_task(self.index.search(searches))
                leaving = group.create_task(self.unfinished.leaving())
        return [_without(ranking, leaving.result()) for ranking in searching.result()]

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        found = await self.index.chunks(knowledge_base, document, limit=limit, start=start)
        # Includes marks set during the search.
        return [] if document in await self.unfinished.leaving() else found


def _without(ranking: Ranking, leaving: Collection[DocumentId]) -> Ranking:
    hits = tuple(hit for hit in ranking.hits if hit.chunk.document not in leaving)
    return ranking if len(hits) == len(ranking.hits) else replace(ranking, hits=hits)
