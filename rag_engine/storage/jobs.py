from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NewType, Protocol

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.concurrency.uncancellable import uninterrupted
from rag_engine.storage.concurrency.worker_liveness import WorkerId, lives, working
from rag_engine.types import KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag_engine.storage.sqlite.database import Database, Row, Transaction

JobId = NewType("JobId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    id: JobId
    knowledge_base: KnowledgeBaseId
    path: Path


class JobQueue(Protocol):
    async def add(self, knowledge_base: KnowledgeBaseId, paths: Sequence[Path]) -> None: ...

    async def unfinished(self, knowledge_base: KnowledgeBaseId | None = None) -> list[Job]: ...


class SqliteJobQueue:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, knowledge_base: KnowledgeBaseId, paths: Sequence[Path]) -> None:
        now = time.time()
        rows = [(knowledge_base, os.fsencode(path.absolute()), now) for path in paths]
        try:
            async with self._database.transaction() as transaction:
                await transaction.execute_many(
                    "INSERT INTO jobs (knowledge_base, path, created_at) VALUES (?, ?, ?) "
                    "ON CONFLICT (knowledge_base, path) DO NOTHING",
                    rows,
                )
        except sqlite3.IntegrityError as error:
            raise UnknownKnowledgeBase(
                "The knowledge base no longer exists: it was removed meanwhile."
            ) from error

    async def unfinished(self, knowledge_base: KnowledgeBaseId | None = None) -> list[Job]:
        rows = await self._database.fetch(
            "SELECT id, knowledge_base, path FROM jobs WHERE ? IN ('', knowledge_base) ORDER BY id",
            (knowledge_base or "",),
        )
        return [_job(row) for row in rows]


class SqliteJobClaims:
    def __init__(self, database: Database, *, workers: Path, worker: WorkerId) -> None:
        self.worker = worker
        self._database = database
        self._workers = workers
        self._held: set[JobId] = set()

    async def claim(self, knowledge_base: KnowledgeBaseId | None = None) -> Job | None:
        async with self._database.transaction() as transaction:
            await self._free_jobs_of_the_dead(transaction)
            rows = await transaction.execute(
                "SELECT id, knowledge_base, path FROM jobs "
                "WHERE worker = '' AND ? IN ('', knowledge_base) ORDER BY id LIMIT 1",
                (knowledge_base or "",),
            )
            if not rows:
                return None
            job = _job(rows[0])
            await transaction.execute("UPDATE jobs SET worker = ? WHERE id = ?", (self.worker, job.id))
            # A cancelled commit may still have succeeded.
            self._held.add(job.id)
        return job

    async def finish(self, job: JobId) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM jobs WHERE id = ? AND worker = ?", (job, self.worker))
        self._held.discard(job)

    async def give_back(self) -> None:
        if not self._held:
            return
        async with self._database.transaction() as transaction:
            await transaction.execute("UPDATE jobs SET worker = '' WHERE worker = ?", (self.worker,))

    async def _free_jobs_of_the_dead(self, transaction: Transaction) -> None:
        rows = await transaction.execute(
            "SELECT DISTINCT worker FROM jobs WHERE worker NOT IN ('', ?)", (self.worker,)
        )
        for (worker,) in rows:
            if not await asyncio.to_thread(lives, self._workers, WorkerId(worker)):
                await transaction.execute("UPDATE jobs SET worker = '' WHERE worker = ?", (worker,))


@asynccontextmanager
async def connect(database: Database, *, workers: Path) -> AsyncGenerator[SqliteJobClaims, None]:
    """Unfinished jobs are released when the block ends, those of a killed process at the next `claim`."""
    with working(workers) as worker:
        claims = SqliteJobClaims(database, workers=workers, worker=worker)
        try:
            yield claims
        finally:
            await uninterrupted(claims.give_back())


def _job(row: Row) -> Job:
    identity, knowledge_base, path = row
    return Job(
        id=JobId(identity),
        knowledge_base=KnowledgeBaseId(knowledge_base),
        path=Path(os.fsdecode(path)),
    )
