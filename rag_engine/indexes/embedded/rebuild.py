from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.errors import SchemaMismatch
from rag_engine.indexes.embedded.database import schema
from rag_engine.indexes.embedded.errors import translate_errors

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import IndexIdentity

_FOLDER = "rebuilding"
_LOGS = ("-wal", "-shm", "-journal")


def beside(data_dir: Path, name: str) -> Path:
    return data_dir / _FOLDER / name


def discard_others(fresh: Path, identity: IndexIdentity) -> None:
    if not fresh.exists():
        return
    try:
        _check(fresh, identity)
    except SchemaMismatch:
        abandon(fresh)


def replace(file: Path, fresh: Path, identity: IndexIdentity) -> None:
    """In one step. Raises `IndexUnavailable` if another program has the old file open, `SchemaMismatch` for another identity."""
    with translate_errors(file):
        if not fresh.exists():
            return
        _check(fresh, identity)
        if file.exists():
            _fold_in_log(file)
        fresh.replace(file)
    abandon(fresh)


def abandon(fresh: Path) -> None:
    if fresh.parent.exists():
        with translate_errors(fresh):
            shutil.rmtree(fresh.parent)


def remove(file: Path) -> None:
    with translate_errors(file):
        for name in (file.name, *(file.name + log for log in _LOGS)):
            file.with_name(name).unlink(missing_ok=True)


def _check(fresh: Path, identity: IndexIdentity) -> None:
    with translate_errors(fresh), closing(schema.opened(fresh)) as connection:
        schema.prepare(connection, fresh, identity)


def _fold_in_log(file: Path) -> None:
    """SQLite would apply the old write-ahead log to the new file."""
    with closing(sqlite3.connect(file, timeout=5, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            return
        # Busy if another program has the file open.
        connection.execute("PRAGMA journal_mode = DELETE")
