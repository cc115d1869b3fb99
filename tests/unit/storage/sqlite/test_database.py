"""Transactions are atomic under many writers, cancellation, other processes, kill -9 and a full disk."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import BadSettings, Misconfigured, StorageUnavailable
from rag_engine.storage.sqlite.database import connect
from tests.unit.storage import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag_engine.storage.sqlite.database import Database

PUT = "INSERT INTO turns (id, conversation, role, text, at) VALUES (?, 'c', 'user', ?, 0)"


async def ids(database: Database) -> list[str]:
    return [name for (name,) in await database.fetch("SELECT id FROM turns ORDER BY ordinal")]


@pytest.mark.process
async def test_opening_it_twice_keeps_the_locks_that_hold_the_log_for_other_processes(tmp_path: Path) -> None:
    """The page opens the databases of its own process once more; without locks another process removes the log."""
    path = tmp_path / "footnote.sqlite"
    reads = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM turns').fetchall(); c.close()"
    async with connect(path) as first, connect(path) as second:
        async with first.transaction() as transaction:
            await transaction.execute(PUT, ("a", "text"))
        command = [sys.executable, "-c", reads, str(path)]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=30)
        assert path.with_name("footnote.sqlite-wal").stat().st_size > 0
        async with first.transaction() as transaction:
            await transaction.execute(PUT, ("b", "text"))
        assert await ids(second) == ["a", "b"]
    with closing(sqlite3.connect(path)) as later:
        assert later.execute("SELECT count(*) FROM turns").fetchone() == (2,)


async def test_an_error_in_the_block_undoes_it(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("a", "text"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await ids(database) == []
    async with database.transaction() as transaction:
        await transaction.execute(PUT, ("b", "text"))
    assert await ids(database) == ["b"]


async def test_readers_do_not_see_what_is_not_committed(database: Database) -> None:
    async with database.transaction() as transaction:
        await transaction.execute(PUT, ("a", "text"))
        assert await ids(database) == []
        assert await transaction.execute("SELECT id FROM turns") == [("a",)]
    assert await ids(database) == ["a"]


async def test_reading_cannot_write(database: Database) -> None:
    with pytest.raises(StorageUnavailable):
        await database.fetch("DELETE FROM turns")


async def test_foreign_keys_are_on(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        async with database.transaction() as transaction:
            await transaction.execute("INSERT INTO texts VALUES ('nobody', x'00')")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each answer that a thread gives to the event loop."""
    answers: list[object] = []
    deliver = asyncio.BaseEventLoop.call_soon_threadsafe

    def counted(loop: asyncio.BaseEventLoop, callback: Any, *arguments: Any, **more: Any) -> object:
        answers.append(callback)
        return deliver(loop, callback, *arguments, **more)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", counted)
    return answers


async def test_many_rows_cost_one_answer_of_the_thread_and_no_rows_none(
    database: Database, answers: list[object]
) -> None:
    async with database.transaction() as transaction:
        answers.clear()
        await transaction.execute_many(PUT, [(str(number), "text") for number in range(9)])
        assert len(answers) == 1
        await transaction.execute_many(PUT, [])
        assert len(answers) == 1
    assert len(await ids(database)) == 9


async def test_opening_costs_one_answer_of_each_thread(tmp_path: Path, answers: list[object]) -> None:
    async with connect(tmp_path / "new.sqlite") as opened:
        assert len(answers) == len(["the migrations", "the reader", "the writer"])
        assert await opened.fetch("PRAGMA foreign_keys") == [(1,)]


async def test_fifty_writers_that_read_then_write_lose_no_step(database: Database) -> None:
    async def step() -> None:
        async with database.transaction() as transaction:
            ((count,),) = await transaction.execute("SELECT count(*) FROM turns")
            await transaction.execute(PUT, (str(count), "text"))

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(step())
    assert await ids(database) == [str(number) for number in range(50)]


async def test_cancelling_in_mid_transaction_undoes_it_and_frees_the_turn(database: Database) -> None:
    inside = asyncio.Event()

    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("a", "text"))
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    async with asyncio.timeout(5):
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("b", "text"))
    assert await ids(database) == ["b"]


@pytest.mark.parametrize("steps", range(14))
async def test_cancelling_at_any_await_leaves_both_rows_or_none(database: Database, steps: int) -> None:
    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("a", "text"))
            await transaction.execute(PUT, ("b", "text"))

    task = asyncio.create_task(write())
    for _ in range(steps):
        await asyncio.wait(
            (task, asyncio.create_task(database.fetch("SELECT 1"))), return_when="FIRST_COMPLETED"
        )
    task.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait((task,))
        assert await ids(database) in ([], ["a", "b"])
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("c", "text"))
    assert (await ids(database))[-1] == "c"


async def test_cancelling_twice_still_waits_for_the_end(database: Database) -> None:
    inside = asyncio.Event()

    async def write() -> None:
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("a", "x" * 5_000_000))
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    async with asyncio.timeout(5):
        await inside.wait()
        task.cancel()
        await asyncio.sleep(0)  # one turn of the loop: it is rolling back now
        task.cancel()
        await asyncio.wait((task,))
        async with database.transaction() as transaction:
            assert await transaction.execute("SELECT id FROM turns") == []


async def test_a_writer_of_another_process_is_waited_for_and_the_wait_can_be_cancelled(
    database: Database,
) -> None:
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def write(name: str) -> None:
            async with database.transaction() as transaction:
                await transaction.execute(PUT, (name, "text"))

        started = time.perf_counter()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await write("cancelled")
        assert time.perf_counter() - started < 10, "not cancelled, it waits for 15 seconds"
        waiting = asyncio.create_task(write("waited"))
        assert await ids(database) == []
        other.execute(PUT, ("other", "text"))
        other.execute("COMMIT")
        async with asyncio.timeout(5):
            await waiting
    assert await ids(database) == ["other", "waited"]


async def test_a_full_disk_is_reported_in_a_sentence_and_leaves_the_file_sound(database: Database) -> None:
    async with database.transaction() as transaction:
        ((pages,),) = await transaction.execute("PRAGMA page_count")
        await transaction.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageUnavailable, match="is full: make room"):
        async with database.transaction() as transaction:
            await transaction.execute(PUT, ("a", "x" * 1_000_000))
    async with database.transaction() as transaction:
        await transaction.execute("PRAGMA max_page_count = 1000000")
        await transaction.execute(PUT, ("b", "x" * 1_000_000))
    assert await ids(database) == ["b"]
    assert await database.fetch("PRAGMA integrity_check") == [("ok",)]


async def test_a_data_directory_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a directory", encoding="utf-8")
    for path in (tmp_path / "data" / "footnote.sqlite", tmp_path / "data" / "below" / "footnote.sqlite"):
        with pytest.raises(BadSettings, match="is not a directory: set FOOTNOTE_DATA_DIR"):
            async with connect(path):
                pass


async def test_a_directory_in_the_place_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "footnote.sqlite").mkdir()
    with pytest.raises(BadSettings, match="is a directory, but a database file belongs there"):
        async with connect(tmp_path / "footnote.sqlite"):
            pass


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everywhere, so become nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A directory and files that this process cannot write."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555)
    with unprivileged():
        yield


@pytest.mark.parametrize("existing", [False, True])
async def test_a_directory_that_cannot_be_written_is_reported(*, existing: bool) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        if existing:
            async with connect(folder / "footnote.sqlite"):
                pass
        with read_only(folder), pytest.raises(BadSettings, match="cannot be written: fix the permissions"):
            async with connect(folder / "footnote.sqlite"):
                pass


@pytest.mark.parametrize(
    "content", [b"this is a letter to my aunt, not a database" * 40, b"SQLite format 3\x00" + b"\xff" * 4096]
)
async def test_a_damaged_file_is_reported_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "footnote.sqlite"
    path.write_bytes(content)
    with pytest.raises(Misconfigured, match="is damaged, or is no database: put a backup"):
        async with connect(path):
            pass
    assert path.read_bytes() == content


async def test_opening_an_existing_file_is_quick(tmp_path: Path) -> None:
    async def seconds_to_open() -> float:
        started = time.perf_counter()
        async with connect(tmp_path / "footnote.sqlite") as database:
            await database.fetch("SELECT 1")
            return time.perf_counter() - started

    await seconds_to_open()
    # Other load may disturb one attempt, hardly each of a hundred.
    for _ in range(100):
        if await seconds_to_open() < 0.05:
            return
    pytest.fail("it never opened within 0.05 seconds")


FAILING = """
import asyncio, sys
from pathlib import Path
from rag_engine.storage.sqlite.database import connect

async def main(how):
    async with connect(Path(sys.argv[1])) as database:
        if how == "error":
            raise ZeroDivisionError
        if how == "exit":
            sys.exit(3)
        async with database.transaction() as transaction:
            await transaction.execute("DELETE FROM turns")
            raise KeyboardInterrupt

asyncio.run(main(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("how", "ending"), [("error", "ZeroDivisionError"), ("exit", ""), ("interrupt", "KeyboardInterrupt")]
)
@pytest.mark.process
async def test_a_program_that_fails_ends(tmp_path: Path, how: str, ending: str) -> None:
    process = await programs.start(FAILING, tmp_path / "footnote.sqlite", how)
    _, complaints = await programs.end(process)
    assert process.returncode != 0
    assert "Warning" not in complaints
    assert complaints.strip().splitlines()[-1:] == ([ending] if ending else [])


WRITER = """
import asyncio, sys
from pathlib import Path
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.history import SqliteHistory
from rag_engine.types import Trace, Turn

async def main():
    async with connect(Path(sys.argv[1])) as database:
        history = SqliteHistory(database)
        for number in range(int(sys.argv[3])):
            name = f"{sys.argv[2]}-{number}"
            turns = [Turn(id=name + side, conversation="c", role="user", text="x" * 2000, at=0.0) for side in "qa"]
            await history.write(turns, Trace(turn=name, conversation="c", at=0.0, seconds={}))
            print(name, flush=True)

asyncio.run(main())
"""


@pytest.mark.process
async def test_two_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "footnote.sqlite"
    processes = [await programs.start(WRITER, path, name, 60) for name in ("bot", "cli")]
    told = [await programs.end(process) for process in processes]
    assert [(len(out.split()), complaints) for out, complaints in told] == [(60, ""), (60, "")]
    async with connect(path) as database:
        assert await database.fetch("SELECT count(*) FROM turns") == [(240,)]
        assert await database.fetch("SELECT count(*) FROM traces") == [(120,)]


@pytest.mark.parametrize("acknowledged", [1, 7, 23])
@pytest.mark.process
async def test_a_killed_writer_loses_nothing_it_acknowledged_and_leaves_no_half(
    tmp_path: Path, acknowledged: int
) -> None:
    path = tmp_path / "footnote.sqlite"
    process = await programs.start(WRITER, path, "w", 100_000)
    told = [await programs.line(process) for _ in range(acknowledged)]
    await programs.kill(process)
    async with connect(path) as database:
        traces = [name for (name,) in await database.fetch("SELECT turn FROM traces ORDER BY ordinal")]
        assert traces[:acknowledged] == told
        assert await ids(database) == [name + side for name in traces for side in "qa"]
        assert await database.fetch("PRAGMA integrity_check") == [("ok",)]
