"""Several files are copied as of one instant, despite concurrent writers."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import Misconfigured
from rag_engine.storage.sqlite.snapshots import snapshots
from rag_engine.storage.sqlite.write_ahead_log import use_write_ahead_log
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

WRITE = """
import sqlite3, sys
databases = [sqlite3.connect(path, isolation_level=None, timeout=30) for path in sys.argv[1:]]
for database in databases:
    database.execute("PRAGMA synchronous = OFF")
for number in range(1, 1_000_000):
    for database in databases:
        database.execute("INSERT INTO numbers VALUES (?)", (number,))
    if number == 1:
        print("writing", flush=True)
"""
"""A row is in a file only if it is in all files before it."""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number:02}.sqlite" for number in range(12)]
    for path in paths:
        with closing(connected(path)) as database:
            use_write_ahead_log(database)
            database.execute("CREATE TABLE numbers (number INTEGER)")
    return paths


def connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, timeout=0)


def wanted() -> None:
    """Does nothing."""


def numbers(path: Path) -> int:
    with closing(connected(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT count(*) FROM numbers").fetchone()[0]


@pytest.mark.process
async def test_all_copies_are_of_one_instant_however_much_is_written(
    files: list[Path], tmp_path: Path
) -> None:
    writing = await programs.start(WRITE, *files)
    try:
        assert await programs.line(writing) == "writing"
        seen: list[int] = []
        for number in range(10):
            with snapshots(files) as opened:
                copies = [tmp_path / f"{number}-{path.name}" for path in files]
                for path, copy in zip(files, copies, strict=True):
                    opened.copy(path, copy, check=wanted)
            counts = [numbers(copy) for copy in copies]
            assert counts == sorted(counts, reverse=True)
            assert counts[0] - counts[-1] <= 1
            seen.append(counts[0])
        assert seen[-1] > seen[0], "nothing was written meanwhile"
    finally:
        await programs.kill(writing)


def test_while_one_file_is_waited_for_the_others_can_be_written(files: list[Path], tmp_path: Path) -> None:
    done = threading.Event()

    def take() -> None:
        with snapshots(files):
            done.set()

    with closing(connected(files[1])) as busy, closing(connected(files[0])) as other:
        other.execute("PRAGMA busy_timeout = 2000")
        busy.execute("BEGIN IMMEDIATE")
        taking = threading.Thread(target=take)
        taking.start()
        for number in range(50):
            other.execute("INSERT INTO numbers VALUES (?)", (number,))
        assert not done.is_set()
        busy.execute("ROLLBACK")
        assert done.wait(20)
        taking.join(20)


def test_who_never_lets_go_ends_the_waiting(files: list[Path]) -> None:
    with closing(connected(files[0])) as busy:
        busy.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"), snapshots(files, seconds=0.1):
            pass
    with closing(connected(files[1])) as other:
        other.execute("INSERT INTO numbers VALUES (1)")


def test_writers_continue_while_it_is_copied(files: list[Path], tmp_path: Path) -> None:
    with snapshots(files) as opened:
        with closing(connected(files[0])) as other:
            other.execute("INSERT INTO numbers VALUES (1)")
        opened.copy(files[0], tmp_path / "copy.sqlite", check=wanted)
    assert numbers(tmp_path / "copy.sqlite") == 0
    assert numbers(files[0]) == 1


def test_a_damaged_file_gives_no_copy_to_trust(files: list[Path], tmp_path: Path) -> None:
    with closing(connected(files[0])) as database:
        database.execute("BEGIN")
        database.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in range(20_000)])
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    content = bytearray(files[0].read_bytes())
    content[4096 * 5 : 4096 * 6] = bytes(range(256)) * 16
    files[0].write_bytes(content)
    with (
        snapshots(files) as opened,
        pytest.raises(Misconfigured, match="is damaged, so no backup of it was made"),
    ):
        opened.copy(files[0], tmp_path / "copy.sqlite", check=wanted)


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with (
        pytest.raises(sqlite3.OperationalError, match="unable to open"),
        snapshots([tmp_path / "none.sqlite"]),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
