"""Old files are migrated with a backup and newer ones rejected, also by concurrent processes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import SchemaMismatch
from rag_engine.storage.sqlite.database import connect
from rag_engine.storage.sqlite.migrations import backup_path, migrate
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);  -- one; only\nINSERT INTO notes (text) VALUES ('a;b');\n"
SECOND = "ALTER TABLE notes ADD COLUMN at REAL;\nCREATE TABLE tags (note INTEGER REFERENCES notes (id));\n"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "sql"
    folder.mkdir()
    (folder / "0001_initial.sql").write_text(FIRST, encoding="utf-8")
    return folder


def add(scripts: Path, *statements: str) -> None:
    (scripts / "0002_tags.sql").write_text("\n".join(statements), encoding="utf-8")


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.is_file())


def columns(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(notes)")]


def test_a_new_file_gets_every_script_and_no_backup(scripts: Path, tmp_path: Path) -> None:
    add(scripts, SECOND)
    path = tmp_path / "new.sqlite"
    migrate(path, scripts)
    assert version(path) == 2
    assert columns(path) == ["id", "text", "at"]
    assert not backup_path(path, 1).exists()


def test_an_old_file_is_copied_then_brought_forward(scripts: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    migrate(path, scripts)
    add(scripts, SECOND)
    migrate(path, scripts)
    assert version(path) == 2
    backup = backup_path(path, 1)
    assert backup.name == "old.sqlite.schema-1.backup"
    assert (version(backup), columns(backup)) == (1, ["id", "text"])
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT text FROM notes").fetchall() == [("a;b",)]


def test_a_script_that_fails_changes_nothing(scripts: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    migrate(path, scripts)
    add(scripts, SECOND, "INSERT INTO nowhere VALUES (1);")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(path, scripts)
    assert (version(path), columns(path)) == (1, ["id", "text"])


def test_a_script_that_leaves_orphans_is_refused(scripts: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    migrate(path, scripts)
    add(scripts, SECOND, "INSERT INTO tags VALUES (99);")
    with pytest.raises(SchemaMismatch, match="tags has rows that belong to nothing"):
        migrate(path, scripts)
    assert version(path) == 1


async def test_a_newer_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "footnote.sqlite"
    async with connect(path):
        known = version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7000")
    with pytest.raises(SchemaMismatch) as refused:
        async with connect(path):
            pass
    assert str(refused.value) == (
        f"{path} belongs to a newer Footnote (schema 7000, this one knows {known}): "
        "update Footnote or use another FOOTNOTE_DATA_DIR."
    )


async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "footnote.sqlite"
    for _ in range(2):
        async with connect(path) as database:
            assert await database.fetch("PRAGMA journal_mode") == [("wal",)]
    assert names(tmp_path) == ["footnote.sqlite"]


OPEN = """
import sys
from pathlib import Path
from rag_engine.storage.sqlite.migrations import migrate
sys.stdin.readline()
migrate(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.process
async def test_processes_that_migrate_at_once_do_it_once(scripts: Path, tmp_path: Path, *, old: bool) -> None:
    path = tmp_path / "shared.sqlite"
    if old:
        migrate(path, scripts)
    add(scripts, SECOND)
    processes = [await programs.start(OPEN, path, scripts) for _ in range(6)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
    assert [await programs.end(process) for process in processes] == [("", "")] * 6
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    assert version(path) == 2
    assert backup_path(path, 1).exists() == old
