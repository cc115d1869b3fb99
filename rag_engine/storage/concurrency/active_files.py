"""Which process ingests which file: a dead one leaves no document "being read"."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError
from rag_engine.storage.concurrency.uncancellable import uninterrupted
from rag_engine.storage.concurrency.worker_liveness import WorkerId, lives, remove_dead

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Blob, KnowledgeBaseId

_log = logging.getLogger(__name__)
_INTERRUPTED: Final = "The program ended before it was read to the end; add it again."

_DEAD_DOCUMENTS: Final = """
    UPDATE documents SET state = iif(uri LIKE 'file:%', 'queued', 'failed'), reason = ?
    WHERE state IN ('queued', 'parsing', 'embedding') AND chunks = 0
        AND id IN (SELECT document FROM sources JOIN attempts USING (knowledge_base, uri) WHERE worker = ?)
"""
_BEGIN: Final = """
    INSERT INTO attempts (knowledge_base, uri, digest, worker) SELECT id, ?, ?, ? FROM knowledge_bases WHERE id = ?
    ON CONFLICT (knowledge_base, uri) DO UPDATE SET worker = excluded.worker, digest = excluded.digest
"""


class ActiveFiles:
    """`workers` has the lock files."""

    def __init__(self, database: Database, *, workers: Path, worker: WorkerId) -> None:
        self._database = database
        self._workers = workers
        self._worker = worker

    async def sweep(self) -> int:
        """Local files of dead workers are queued again; others fail: somebody must send them again."""
        await asyncio.to_thread(remove_dead, self._workers)
        rows = await self._database.fetch(
            "SELECT DISTINCT worker FROM attempts WHERE worker NOT IN ('', ?)", (self._worker,)
        )
        count = 0
        for (worker,) in rows:
            if await asyncio.to_thread(lives, self._workers, WorkerId(worker)):
                continue
            async with self._database.transaction() as transaction:
                await transaction.execute(_DEAD_DOCUMENTS, (_INTERRUPTED, worker))
                count += len(
                    await transaction.execute("DELETE FROM attempts WHERE worker = ? RETURNING 1", (worker,))
                )
        return count

    @asynccontextmanager
    async def reading(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> AsyncGenerator[None]:
        await self.begin(knowledge_base, blob)
        try:
            yield
        finally:
            await uninterrupted(self.end(knowledge_base, blob))

    async def begin(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(_BEGIN, (blob.uri, blob.digest, self._worker, knowledge_base))

    async def end(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> None:
        """A failure is only logged: a later sweep removes the row."""
        try:
            async with self._database.transaction() as transaction:
                await transaction.execute(
                    "DELETE FROM attempts WHERE knowledge_base = ? AND uri = ? AND worker = ?",
                    (knowledge_base, blob.uri, self._worker),
                )
        except RagError as error:
            _log.info("the end of reading a file could not be recorded: %s", error)
