"""A killed worker's job is resumed at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.storage import jobs
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.jobs import SqliteJobQueue
from tests.unit.storage import programs

if TYPE_CHECKING:
    from rag_engine.storage.sqlite.database import Database

CLAIM = """
import asyncio, sys
from pathlib import Path
from rag_engine.storage import jobs
from rag_engine.storage.sqlite.database import connect

async def main():
    async with connect(Path(sys.argv[1])) as database:
        async with jobs.connect(database, workers=Path(sys.argv[2])) as claims:
            job = await claims.claim()
            print(job.path, flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.process
async def test_a_killed_workers_job_is_taken_up(database: Database, tmp_path: Path) -> None:
    base = await SqliteCatalog(database).open("Handbook", model="m")
    await SqliteJobQueue(database).add(base.id, [Path("/files/a.pdf")])
    workers = tmp_path / "workers"
    async with jobs.connect(database, workers=workers) as claims:
        process = await programs.start(CLAIM, database.path, workers)
        assert await programs.line(process) == "/files/a.pdf"
        assert await claims.claim() is None  # the other one lives
        await programs.kill(process)
        job = await claims.claim()
        assert job is not None
        assert job.path == Path("/files/a.pdf")
    assert not any(workers.iterdir())
