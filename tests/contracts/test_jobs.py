"""What every job queue must do."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage import jobs
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.jobs import SqliteJobQueue

if TYPE_CHECKING:
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import KnowledgeBaseId


@pytest.fixture
async def base(database: Database) -> KnowledgeBaseId:
    return (await SqliteCatalog(database).open("Handbook", model="m")).id


@pytest.fixture
def queue(database: Database) -> SqliteJobQueue:
    return SqliteJobQueue(database)


@pytest.fixture
def workers(tmp_path: Path) -> Path:
    return tmp_path / "workers"


PATHS = [Path("/files/b.pdf"), Path("/files/a.pdf"), Path("/files/c.pdf")]


async def test_jobs_are_claimed_in_the_order_they_came(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    await queue.add(base, PATHS)
    async with jobs.connect(database, workers=workers) as claims:
        claimed = [await claims.claim() for _ in range(4)]
    assert [job and job.path for job in claimed] == [*PATHS, None]
    assert all(job.knowledge_base == base for job in claimed if job)


async def test_a_file_that_waits_is_not_queued_twice(queue: SqliteJobQueue, base: KnowledgeBaseId) -> None:
    await queue.add(base, [*PATHS, PATHS[0]])
    await queue.add(base, PATHS)
    assert [job.path for job in await queue.unfinished()] == PATHS


async def test_a_file_whose_name_is_not_utf8_comes_out_as_it_went_in(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    odd = Path(os.fsdecode(b"/files/caf\xe9.txt"))
    await queue.add(base, [odd, Path("/files/café.txt"), Path("/files/caf?.txt")])
    await queue.add(base, [odd])
    assert len(await queue.unfinished()) == 3
    async with jobs.connect(database, workers=workers) as claims:
        job = await claims.claim()
        assert job is not None
        assert os.fsencode(job.path) == b"/files/caf\xe9.txt"
        await claims.finish(job.id)
    assert [job.path.name for job in await queue.unfinished()] == ["café.txt", "caf?.txt"]


async def test_a_finished_job_is_gone_and_may_come_again(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    await queue.add(base, PATHS[:1])
    async with jobs.connect(database, workers=workers) as claims:
        job = await claims.claim()
        assert job is not None
        await claims.finish(job.id)
        await claims.finish(job.id)
        assert await queue.unfinished() == []
        await queue.add(base, PATHS[:1])
        again = await claims.claim()
    assert again is not None
    assert again.path == PATHS[0]


async def test_what_a_living_worker_has_nobody_else_gets(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    await queue.add(base, PATHS[:1])
    async with (
        jobs.connect(database, workers=workers) as first,
        jobs.connect(database, workers=workers) as second,
    ):
        job = await first.claim()
        assert job is not None
        assert await second.claim() is None
        await second.finish(job.id)  # it is not the second's to finish
        assert [left.id for left in await queue.unfinished()] == [job.id]


async def test_a_worker_that_stops_gives_its_jobs_back(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    await queue.add(base, PATHS[:1])
    async with jobs.connect(database, workers=workers) as first:
        await first.claim()
    async with jobs.connect(database, workers=workers) as second:
        job = await second.claim()
    assert job is not None


async def test_knowledge_bases_have_their_own_jobs(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    other = (await SqliteCatalog(database).open("Other", model="m")).id
    await queue.add(base, PATHS[:2])
    await queue.add(other, PATHS[:1])
    async with jobs.connect(database, workers=workers) as claims:
        job = await claims.claim(other)
        assert job is not None
        assert job.knowledge_base == other
        assert await claims.claim(other) is None
    assert len(await queue.unfinished(base)) == 2
    assert len(await queue.unfinished()) == 3


async def test_removing_the_knowledge_base_removes_its_jobs(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId
) -> None:
    await queue.add(base, PATHS)
    unfinished = SqliteCatalog(database).unfinished
    await unfinished.withdraw(base)
    await unfinished.remove(base)
    assert await queue.unfinished() == []
    with pytest.raises(UnknownKnowledgeBase):
        await queue.add(base, PATHS)


async def test_many_workers_share_the_queue_without_taking_a_job_twice(
    database: Database, queue: SqliteJobQueue, base: KnowledgeBaseId, workers: Path
) -> None:
    paths = [Path(f"/files/{number}.txt") for number in range(60)]
    await queue.add(base, paths)
    taken: list[Path] = []

    async def work() -> None:
        async with jobs.connect(database, workers=workers) as claims:
            while job := await claims.claim():
                taken.append(job.path)
                await claims.finish(job.id)

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(work())
    assert sorted(taken) == sorted(paths)
    assert await queue.unfinished() == []
