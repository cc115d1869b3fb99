"""Tables of files in a store, without an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine import plugins
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from rag_engine.tables.store import TableStore
from rag_engine.types import Document, DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rag_engine.tables.table_file import StoredTable

BASE = KnowledgeBaseId("base")


async def stored_tables(folder: Path, files: Sequence[Path]) -> tuple[TableStore, list[StoredTable]]:
    """The tables of these files, as one question over all of them would find them."""
    store = TableStore(folder)
    documents: dict[DocumentId, KnowledgeBaseId] = {}
    for number, path in enumerate(files):
        document = Document(
            id=DocumentId(f"document-{number}"),
            knowledge_base=BASE,
            title=path.name,
            uri=path.as_uri(),
            media_type="",
            digest=str(number),
        )
        with store.collection() as collection:
            collection.extend(plugins.load(FAMILY, parser_name(path, path.name)).parse(path))
            await store.keep(document, collection)
        await store.publish(document)
        documents[document.id] = BASE
    return store, await store.tables(documents)
