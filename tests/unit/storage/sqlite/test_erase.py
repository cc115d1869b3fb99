"""After an erase, no byte of the database file or its log holds deleted text."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import StorageUnavailable
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.sqlite.erase import erase

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.storage.sqlite.database import Database

WORD = "jabberwockian"


async def plant(database: Database) -> None:
    async with database.transaction() as transaction:
        await transaction.execute("CREATE TABLE notes (text TEXT)")
        rows = [
            (f"note {number} {WORD if number % 7 == 0 else ''} {'x' * (number % 900)}",)
            for number in range(2000)
        ]
        await transaction.execute_many("INSERT INTO notes VALUES (?)", rows)
    async with database.transaction() as transaction:
        await transaction.execute(f"UPDATE notes SET text = replace(text, '{WORD}', '') WHERE rowid % 2")  # noqa: S608
        await transaction.execute(f"DELETE FROM notes WHERE instr(text, '{WORD}')")  # noqa: S608


def standing(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if WORD.encode() in path.read_bytes()]


async def test_nothing_is_left_while_another_program_has_it_open(database: Database) -> None:
    await plant(database)
    folder = database.path.parent
    assert standing(folder) != []
    erase(database.path)
    assert standing(folder) == []
    async with connect(database.path) as other, other.transaction() as transaction:
        await transaction.execute("INSERT INTO notes VALUES ('one more')")
    assert await database.fetch("SELECT count(*) FROM notes WHERE text = 'one more'") == [(1,)]


async def test_who_reads_an_older_state_is_waited_for(database: Database) -> None:
    await plant(database)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM notes").fetchone()
        erased = threading.Event()
        erasing_it = threading.Thread(target=lambda: (erase(database.path), erased.set()))
        erasing_it.start()
        assert not erased.wait(0.3)
        reader.execute("ROLLBACK")
        assert erased.wait(20)
        erasing_it.join(20)
    assert standing(database.path.parent) == []


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"none\.sqlite cannot be written"):
        erase(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []
