"""An index file that is built beside the one in use, and takes its place in one step."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.errors import SchemaMismatch
from rag_engine.indexes.embedded import schema
from rag_engine.indexes.embedded.faults import translate_errors

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import IndexIdentity

_FOLDER = "rebuilding"
_LOGS = ("-wal", "-shm", "-journal")


def beside(data_dir: Path, name: str) -> Path:
    """Where the file called `name` is built anew while the one in use stays."""
    return data_dir / _FOLDER / name


def discard_others(fresh: Path, identity: IndexIdentity) -> None:
    """Remove an unfinished rebuild that cannot be gone on with, since it is of another identity or version."""
    if not fresh.exists():
        return
    try:
        _check(fresh, identity)
    except SchemaMismatch:
        abandon(fresh)


def replace(file: Path, fresh: Path, identity: IndexIdentity) -> None:
    """Put the closed index file `fresh` where `file` is. Killed at any moment, `file` is the old one or the new one.

    Nothing is done when there is no fresh one. Raises `IndexUnavailable` when another program has the old file open: it would
    go on with what is no longer there. Raises `SchemaMismatch` when the fresh one is of another identity.
    """
    with translate_errors(file):
        if not fresh.exists():
            return
        _check(fresh, identity)
        if file.exists():
            _fold_in_log(file)
        fresh.replace(file)
    abandon(fresh)


def abandon(fresh: Path) -> None:
    """Remove what is being built, and the folder it is in; no error when there is none."""
    if fresh.parent.exists():
        with translate_errors(fresh):
            shutil.rmtree(fresh.parent)


def remove(file: Path) -> None:
    """Remove a closed index file with what belongs to it; no error when there is none."""
    with translate_errors(file):
        for name in (file.name, *(file.name + log for log in _LOGS)):
            file.with_name(name).unlink(missing_ok=True)


def _check(fresh: Path, identity: IndexIdentity) -> None:
    """Raise `SchemaMismatch` unless it is of this identity. Closing it folds in what a killed program left in its log."""
    with translate_errors(fresh), closing(schema.opened(fresh)) as connection:
        schema.prepare(connection, fresh, identity)


def _fold_in_log(file: Path) -> None:
    """Leave the old file without a write-ahead log, which SQLite would otherwise apply to the new one."""
    with closing(sqlite3.connect(file, timeout=5, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            return
        # Leaving WAL needs the file to oneself, and removes the log; it fails as busy while another program has it open.
        connection.execute("PRAGMA journal_mode = DELETE")
