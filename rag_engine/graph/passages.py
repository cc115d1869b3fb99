from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.graph.types import PassagePlace
    from rag_engine.ports import IndexContents
    from rag_engine.types import Chunk, ChunkId


async def chunks_at(places: Sequence[PassagePlace], contents: IndexContents) -> dict[ChunkId, Chunk]:
    """Without those that changed since the graph was built."""
    pages = await asyncio.gather(
        *(
            contents.chunks(place.knowledge_base, place.document, limit=1, start=place.ordinal)
            for place in places
        )
    )
    return {
        chunk.id: chunk
        for place, page in zip(places, pages, strict=True)
        for chunk in page
        if chunk.id == place.chunk
    }
