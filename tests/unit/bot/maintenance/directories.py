"""Data directories to back up and to restore into, with something in each file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bot import settings
from bot.maintenance import data_files
from rag_engine.storage.sqlite.migrations import migrate

if TYPE_CHECKING:
    from pathlib import Path

    from bot.maintenance.data_files import DataFiles

PDF = "a" * 64
SCRIPTS = {
    data_files.CATALOG: files("rag_engine.storage") / "sql",
    data_files.CHAT: files("bot.store") / "sql",
    data_files.VECTORS: files("rag_engine.storage") / "sql" / "vectors",
}
INDEX = "index.sqlite"


@cache
def read() -> settings.Settings:
    return settings.read({})


def of(data_dir: Path) -> DataFiles:
    return data_files.of(read().model_copy(update={"data_dir": data_dir}))


def make(data_dir: Path, *, label: str, chat: bool = True) -> DataFiles:
    """A directory in which every database says `label`, with logs that were not folded in, a PDF and a lock."""
    data_dir.mkdir(exist_ok=True)
    for name, scripts in SCRIPTS.items():
        if chat or name != data_files.CHAT:
            migrate(data_dir / name, scripts)
    with closing(sqlite3.connect(data_dir / INDEX)) as index:
        index.execute("PRAGMA user_version = 1")
        index.execute("PRAGMA journal_mode = WAL")
    for name in (*SCRIPTS, INDEX):
        if (data_dir / name).exists():
            with closing(sqlite3.connect(data_dir / name)) as database, database:
                database.execute("CREATE TABLE label (text TEXT)")
                database.execute("INSERT INTO label VALUES (?)", (label,))
    (data_dir / data_files.ORIGINALS).mkdir()
    (data_dir / data_files.ORIGINALS / f"{PDF}.pdf").write_bytes(f"%PDF of {label}".encode())
    (data_dir / "workers").mkdir()
    return of(data_dir)


def labels(data_dir: Path) -> dict[str, str]:
    """What each file of the directory says, by name."""
    found: dict[str, str] = {}
    for name in (*SCRIPTS, INDEX):
        if (data_dir / name).exists():
            with closing(sqlite3.connect(data_dir / name)) as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                found[name] = database.execute("SELECT text FROM label").fetchone()[0]
    for path in (data_dir / data_files.ORIGINALS).glob("*.pdf"):
        found[path.name] = path.read_bytes().decode().removeprefix("%PDF of ")
    return found


def files_of(data_dir: Path) -> dict[str, bytes]:
    """Every file with its bytes."""
    return {
        path.relative_to(data_dir).as_posix(): path.read_bytes()
        for path in sorted(data_dir.rglob("*"))
        if path.is_file()
    }


def wanted() -> None:
    """Somebody waits for it."""
