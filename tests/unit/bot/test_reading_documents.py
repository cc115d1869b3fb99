"""Reading a document back goes through everything that searching goes through: breakers, and what is to be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from bot.resilience.circuit_breakers import Breakers
from bot.settings import BreakerSettings
from rag_engine.errors import IndexUnavailable
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId
from rag_engine.wrappers.hidden_documents import HiddenDocumentsIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.ports import StoredIndex, Unfinished

BASE, PLAN = KnowledgeBaseId("kb"), DocumentId("plan")
CHUNK = Chunk(id=ChunkId("c"), document=PLAN, knowledge_base=BASE, ordinal=0, text="The plan.")


class Away:
    asked = 0

    async def chunks(
        self, base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        self.asked += 1
        raise IndexUnavailable("No index.", backend="elasticsearch", reason="unreachable")


class Here:
    async def chunks(
        self, base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        return [CHUNK]


class Leaving:
    def __init__(self, *documents: DocumentId) -> None:
        self.documents = dict.fromkeys(documents, BASE)

    async def leaving(self) -> Mapping[DocumentId, KnowledgeBaseId]:
        return self.documents


async def test_an_index_that_is_away_is_asked_no_more_until_it_has_rested() -> None:
    server = Away()
    made = Breakers(settings=BreakerSettings(failures=2, rest_seconds=60))
    index = made.index(cast("StoredIndex", server), is_local=False)
    for _ in range(5):
        with pytest.raises(IndexUnavailable):
            await index.chunks(BASE, PLAN, limit=9)
    assert server.asked == 2


async def test_what_is_to_be_removed_has_no_chunks() -> None:
    for leaving, expected in ((Leaving(), [CHUNK]), (Leaving(PLAN), [])):
        index = HiddenDocumentsIndex(cast("StoredIndex", Here()), cast("Unfinished", leaving))
        assert await index.chunks(BASE, PLAN, limit=9) == expected
