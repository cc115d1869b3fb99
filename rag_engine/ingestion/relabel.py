from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_engine.ingestion.spool import passage_spool

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import DocumentCatalog, Index, IndexContents
    from rag_engine.types import DocumentRecord


async def relabelled(
    moved: DocumentRecord,
    contents: IndexContents | None,
    index: Index,
    catalog: DocumentCatalog,
    *,
    folder: Path | None,
) -> bool:
    """The passages keep their vectors. False if some are missing."""
    document = moved.document
    current = await catalog.find(document.knowledge_base, uri=document.uri)
    if current is None or current.document.id != document.id:
        return True
    if contents is None:
        return False
    with passage_spool(folder) as passages:
        async for chunk, vector in contents.scan(document.knowledge_base, document.id):
            renamed = replace(chunk, title=document.title, uri=document.uri)
            await asyncio.to_thread(passages.extend, [(renamed, vector)])
        if len(passages) != moved.chunks:
            return False
        await index.put(document, passages)
    await catalog.save(moved)
    return True
