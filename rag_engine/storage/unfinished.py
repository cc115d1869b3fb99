"""What ingestion began and has not ended, in SQLite: texts that wait for their vectors, documents that are to go."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.texts import pack, unpack
from rag_engine.types import DocumentId, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rag_engine.storage.sqlite import Database
    from rag_engine.types import Document, Section

_NOT_COME: Final = "The program ended before it came; send it again."
_REMOVED: Final = "It is being removed; if this stays, remove it again or add the file again."


class SqliteUnfinished:
    """The port `Unfinished`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_reading(self, document: Document, sections: Sequence[Section]) -> None:
        """Keep the whole text of a file of that digest; a document that is being parsed is being embedded from now on.

        Raises `UnknownKnowledgeBase` when the document went with its knowledge base meanwhile.
        """
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
        """The text that was kept of these very bytes; empty when there is none."""
        rows = await self._database.fetch(
            "SELECT sections FROM readings WHERE document = ? AND digest = ?", (document.id, document.digest)
        )
        return await asyncio.to_thread(unpack, rows[0][0]) if rows else []

    async def give_up_expected(self) -> None:
        """Say of files that were to come when the program ended that they did not: whoever sends them again, sends them anew."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE documents SET state = 'failed', reason = ? "
                "WHERE state = 'queued' AND digest = '' AND id NOT IN (SELECT document FROM removals)",
                (_NOT_COME,),
            )

    async def withdraw(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Say of a document, or of the knowledge base with all of them, that it is to go; whether there was anything."""
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
        """Remove a withdrawn document, or the knowledge base with its documents, their texts and its jobs.

        False where something was saved since, and stays. Removing what is not there is no error.
        """
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
        """The documents that are to go, in no order."""
        rows = await self._database.fetch("SELECT document, knowledge_base FROM removals")
        return {DocumentId(document): KnowledgeBaseId(base) for document, base in rows}

    async def closing(self) -> list[KnowledgeBaseId]:
        """The knowledge bases that are to go and have no document any more."""
        rows = await self._database.fetch(
            "SELECT id FROM knowledge_bases WHERE closing AND id NOT IN (SELECT knowledge_base FROM documents)"
        )
        return [KnowledgeBaseId(base) for (base,) in rows]


@contextmanager
def knowledge_base_expected() -> Generator[None, None, None]:
    """A broken reference is that to the knowledge base: raises `UnknownKnowledgeBase` for it."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            raise
        raise UnknownKnowledgeBase(
            "the knowledge base is not there any more: it was removed meanwhile."
        ) from error
