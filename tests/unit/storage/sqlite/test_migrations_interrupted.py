"""A killed migration, or one without space, leaves the old database or the new one; the next start completes it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from rag_engine.storage.sqlite.migrations import backup_path, latest, migrate
from tests.unit.storage import programs

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = files("bot.store") / "sql"
ROWS = 2_000

MIGRATE = """
import os, shutil, signal, sys
from importlib.resources import files
from pathlib import Path
from rag_engine.storage.sqlite.migrations import migrate

template, folder = map(Path, sys.argv[1:])
calls, at = 0, 0

def killing(frame, event, function):
    global calls
    if event == "c_call" and function.__name__ in {"execute", "backup", "close", "rename", "replace", "unlink"}:
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)

for at in range(1, 1000):
    path = folder / f"{at}.sqlite"
    shutil.copyfile(template, path)
    child = os.fork()
    if child == 0:
        sys.setprofile(killing)
        migrate(path, files("bot.store") / "sql")
        os._exit(0)
    ended = os.WTERMSIG(os.waitpid(child, 0)[1])
    print(ended, flush=True)
    if not ended:
        break
"""
"""Migrates copies of a database, each killed one step later: before every statement and file change."""

OPEN = """
import asyncio, resource, sys
from importlib.resources import files
from pathlib import Path
from rag_engine.errors import RagError
from rag_engine.storage.sqlite.database import connect

async def main():
    path, limit = Path(sys.argv[1]), int(sys.argv[2])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    print("go", flush=True)
    try:
        async with connect(path, scripts=files("bot.store") / "sql"):
            print("done", flush=True)
    except RagError as error:
        print(error)

asyncio.run(main())
"""


def old(folder: Path) -> Path:
    """A large chat database of the second schema; the third copies one of its tables."""
    scripts = folder / "sql"
    scripts.mkdir()
    for script in SCRIPTS.iterdir():
        if script.name.startswith(("0001", "0002")):
            (scripts / script.name).write_bytes(script.read_bytes())
    path = folder / "old.sqlite"
    migrate(path, scripts)
    with closing(sqlite3.connect(path)) as database, database:
        rows = [
            ("slack", "T", "C", "", f"F{number}", "", "plan.md" * 9, "u", "k", "d", 1)
            for number in range(ROWS)
        ]
        database.executemany("INSERT INTO taken_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return path


def state(path: Path) -> tuple[int, int]:
    """The schema and the number of files; the database must be sound."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        count = database.execute("SELECT count(*) FROM taken_files").fetchone()[0]
        return database.execute("PRAGMA user_version").fetchone()[0], count


def parts(folder: Path) -> list[Path]:
    """Unfinished copies."""
    return list(folder.glob("*.part"))


@pytest.mark.process
async def test_killed_at_any_step_it_is_the_old_schema_or_a_newer_one(tmp_path: Path) -> None:
    template, newest = old(tmp_path), latest(SCRIPTS)
    printed, complaints = await programs.end(await programs.start(MIGRATE, template, tmp_path))
    assert complaints == ""
    *kills, last = printed.split()
    assert (set(kills), last) == ({"9"}, "0")
    assert len(kills) > 20
    seen: set[int] = set()
    for number in range(1, len(kills) + 1):
        path = tmp_path / f"{number}.sqlite"
        schema, count = state(path)
        seen.add(schema)
        assert (2 <= schema <= newest, count) == (True, ROWS)
        if schema > 2:
            assert state(backup_path(path, 2)) == (2, ROWS), "there was a copy before anything was changed"
        migrate(path, SCRIPTS)
        assert state(path) == (newest, ROWS)
    assert parts(tmp_path) == []
    numbers = {int(each.name[:4]) for each in SCRIPTS.iterdir() if each.name.endswith(".sql")}
    assert seen == {each for each in numbers if each >= 2}


@pytest.mark.process
async def test_without_room_it_stays_what_it_was_and_one_sentence_says_so(tmp_path: Path) -> None:
    path, newest = old(tmp_path), latest(SCRIPTS)
    # Less than the copy takes, and enough for the copy but not for the log.
    for limit in (100_000, path.stat().st_size + 30_000):
        process = await programs.start(OPEN, path, limit)
        printed, complaints = await programs.end(process)
        assert complaints == ""
        go, sentence, rest = printed.split("\n")
        assert (go, rest) == ("go", "")
        assert "old.sqlite" in sentence
        assert "disk" in sentence
        assert state(path) == (2, ROWS)
        assert parts(tmp_path) == []
    migrate(path, SCRIPTS)
    assert state(path) == (newest, ROWS)


def test_one_copy_is_kept_of_what_it_was_last(tmp_path: Path) -> None:
    path, newest = old(tmp_path), latest(SCRIPTS)
    backup_path(path, 1).write_bytes(b"of an earlier upgrade")
    migrate(path, SCRIPTS)
    assert state(path) == (newest, ROWS)
    assert [backup.name for backup in tmp_path.glob("*.backup*")] == [backup_path(path, 2).name]
    assert state(backup_path(path, 2)) == (2, ROWS)
