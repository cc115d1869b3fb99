from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine import archive

if TYPE_CHECKING:
    from pathlib import Path

    from bot.composition.components import IndexingComponents
    from rag_engine.archive import ArchiveContents
    from rag_engine.types import KnowledgeBase


async def export(indexing: IndexingComponents, base: KnowledgeBase, path: Path) -> ArchiveContents:
    return await archive.export(
        base,
        path,
        library=indexing.catalog,
        contents=indexing.index,
        identity=indexing.identity,
        synonyms=indexing.catalog.synonyms,
        metadata=indexing.catalog.metadata,
        expansions=indexing.catalog.expansions,
        tables=indexing.tables,
        verified=indexing.catalog.verified,
    )
