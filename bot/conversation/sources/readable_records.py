from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag_engine.ingestion.ingestion import DocumentCatalog
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBaseId


async def readable_record(
    catalog: DocumentCatalog, document: DocumentId, knowledge_bases: Iterable[KnowledgeBaseId]
) -> DocumentRecord | None:
    uris = await catalog.sources(document)
    for knowledge_base in knowledge_bases if uris else ():
        record = await catalog.find(knowledge_base, uri=uris[0])
        if record is not None and record.document.id == document and record.chunks:
            return record
    return None
