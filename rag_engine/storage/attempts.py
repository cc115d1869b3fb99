"""Who is at which file: a file whose worker's process ended is known, by its bytes, wherever it turns up again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.storage.workers import WorkerId, bury, lives

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.storage.sqlite import Database, Transaction
    from rag_engine.types import Blob, KnowledgeBaseId

Suspicion = Literal["none", "suspected", "set aside"]
"""Of a file: nothing is known, a process ended while it was at it, it is known to end processes."""

_INTERRUPTED: Final = "The program ended before it was read to the end; add it again."


class SqliteAttempts:
    """What one living worker is at. `workers` is the directory in which living workers hold their lock files."""

    def __init__(self, database: Database, *, workers: Path, worker: WorkerId) -> None:
        self._database = database
        self._workers = workers
        self._worker = worker

    async def sweep(self) -> int:
        """Say of files whose worker's process has ended that nobody is at them; returns how many there were.

        Files of the file system wait again, as their jobs do; for others somebody has to ask again.
        """
        await asyncio.to_thread(bury, self._workers)
        if not await self._database.fetch(
            "SELECT 1 FROM attempts WHERE worker NOT IN ('', ?) LIMIT 1", (self._worker,)
        ):
            return 0
        async with self._database.transaction() as transaction:
            return await self._bury_the_dead(transaction)

    async def begin(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> Suspicion:
        """This worker is at the file from now on; what is known of its bytes."""
        async with self._database.transaction() as transaction:
            await self._bury_the_dead(transaction)
            rows = await transaction.execute(
                "SELECT max(set_aside), max(deaths) FROM attempts WHERE digest = ?", (blob.digest,)
            )
            ((set_aside, deaths),) = rows
            await transaction.execute(
                "INSERT INTO attempts (knowledge_base, uri, digest, worker) "
                "SELECT id, ?, ?, ? FROM knowledge_bases WHERE id = ? "
                "ON CONFLICT (knowledge_base, uri) DO UPDATE SET worker = excluded.worker, "
                "deaths = iif(digest = excluded.digest, deaths, 0), "
                "set_aside = iif(digest = excluded.digest, set_aside, 0), digest = excluded.digest",
                (blob.uri, blob.digest, self._worker, knowledge_base),
            )
        if set_aside:
            return "set aside"
        return "suspected" if deaths else "none"

    async def end(self, knowledge_base: KnowledgeBaseId, blob: Blob) -> None:
        """The file was read, or could not be: nothing is held against its bytes any more."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "DELETE FROM attempts WHERE (knowledge_base = ? AND uri = ?) OR (digest = ? AND worker = '')",
                (knowledge_base, blob.uri, blob.digest),
            )

    async def leave(self, knowledge_base: KnowledgeBaseId, blob: Blob, *, set_aside: bool = False) -> None:
        """This worker is not at the file any more, and lives: with `set_aside`, because the file ended another process."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE attempts SET worker = '', set_aside = set_aside OR ? WHERE knowledge_base = ? AND uri = ?",
                (set_aside, knowledge_base, blob.uri),
            )
            await transaction.execute(
                "DELETE FROM attempts WHERE worker = '' AND deaths = 0 AND NOT set_aside"
            )

    async def pardon(self, digest: str) -> None:
        """Forget what is held against these bytes."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM attempts WHERE digest = ? AND worker = ''", (digest,))

    async def _bury_the_dead(self, transaction: Transaction) -> int:
        rows = await transaction.execute(
            "SELECT DISTINCT worker FROM attempts WHERE worker NOT IN ('', ?)", (self._worker,)
        )
        count = 0
        for (worker,) in rows:
            if await asyncio.to_thread(lives, self._workers, WorkerId(worker)):
                continue
            await transaction.execute(
                "UPDATE documents SET state = iif(uri LIKE 'file:%', 'queued', 'failed'), reason = ? "
                "WHERE state IN ('queued', 'parsing', 'embedding') AND chunks = 0 AND id IN "
                "(SELECT document FROM sources JOIN attempts USING (knowledge_base, uri) WHERE worker = ?)",
                (_INTERRUPTED, worker),
            )
            buried = await transaction.execute(
                "UPDATE attempts SET worker = '', deaths = deaths + 1 WHERE worker = ? RETURNING 1", (worker,)
            )
            count += len(buried)
        return count
