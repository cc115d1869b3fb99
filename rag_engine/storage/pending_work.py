from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.document_text import pack, unpack
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Document, Section

_NOT_COME: Final = "The program ended before it came; send it again."
_REMOVED: Final = "It is being removed; if this stays, remove it again or add the file again."


class SqlitePendingWork:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_reading(self, document: Document, sections: Iterable[Section]) -> None:
        """Makes it `embedding`. Raises `UnknownKnowledgeBase`."""
        packed = await asyncio.to_thread(pack, sections)
        with knowledge_base_expected():
            async with self._database.transaction() as transaction:
                await transaction.execute(
                    "INSERT OR REPLACE INTO readings (document, digest, sections) VALUES (?, ?, ?)",
                    (document.id, document.digest, packed),
                )
                await transaction.execute(
                    "UPDATE documents SET state = 'embedding' WHERE id = ? AND state = 'parsing'",
                    (document.id,),
                )

    async def reading(self, document: Document) -> list[Section]:
        """Empty if these bytes have no stored text."""
        rows = await self._database.fetch(
            "SELECT sections FROM readings WHERE document = ? AND digest = ?", (document.id, document.digest)
        )
        return await asyncio.to_thread(unpack, rows[0][0]) if rows else []

    async def give_up_expected(self) -> None:
        """From an ended program: they must be sent again."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE documents SET state = 'failed', reason = ? "
                "WHERE state = 'queued' AND digest = '' AND id NOT IN (SELECT document FROM removals)",
                (_NOT_COME,),
            )

    async def withdraw(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        chosen = (knowledge_base, document or "")
        async with self._database.transaction() as transaction:
            rows = await transaction.execute(
                "UPDATE documents SET digest = '', state = 'queued', chunks = 0, reason = ?, updated_at = ? "
                "WHERE knowledge_base = ? AND ? IN ('', id) RETURNING id",
                (_REMOVED, time.time(), *chosen),
            )
            await transaction.execute(
                "INSERT OR IGNORE INTO removals (document, knowledge_base) "
                "SELECT id, knowledge_base FROM documents WHERE knowledge_base = ? AND ? IN ('', id)",
                chosen,
            )
            if document is None:
                rows += await transaction.execute(
                    "UPDATE knowledge_bases SET closing = 1 WHERE id = ? RETURNING id", (knowledge_base,)
                )
        return bool(rows)

    async def remove(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """False if something was saved since."""
        async with self._database.transaction() as transaction:
            if document is not None:
                await transaction.execute(
                    "DELETE FROM documents WHERE id = ? AND id IN (SELECT document FROM removals)",
                    (document,),
                )
                left = await transaction.execute("SELECT 1 FROM documents WHERE id = ?", (document,))
            else:
                await transaction.execute(
                    "DELETE FROM knowledge_bases WHERE id = ? AND closing", (knowledge_base,)
                )
                left = await transaction.execute(
                    "SELECT 1 FROM knowledge_bases WHERE id = ?", (knowledge_base,)
                )
        return not left

    async def leaving(self) -> dict[DocumentId, KnowledgeBaseId]:
        rows = await self._database.fetch("SELECT document, knowledge_base FROM removals")
        return {DocumentId(document): KnowledgeBaseId(base) for document, base in rows}

    async def closing(self) -> list[KnowledgeBaseId]:
        rows = await self._database.fetch(
            "SELECT id FROM knowledge_bases WHERE closing AND id NOT IN (SELECT knowledge_base FROM documents)"
        )
        return [KnowledgeBaseId(base) for (base,) in rows]


@contextmanager
def knowledge_base_expected() -> Generator[None, None, None]:
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            raise
        raise UnknownKnowledgeBase(
            "The knowledge base no longer exists: it was removed meanwhile."
        ) from error
