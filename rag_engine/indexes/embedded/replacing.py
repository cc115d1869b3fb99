"""A fresh index file takes the place of the old one in one step."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.indexes.embedded.faults import translate_errors

if TYPE_CHECKING:
    from pathlib import Path


def replace(file: Path, fresh: Path) -> None:
    """Put the closed index file `fresh` where `file` is. Killed at any moment, `file` is the old one or the new one.

    Raises `IndexUnavailable` when another program has the old file open: it would go on with what is no longer there.
    """
    with translate_errors(file):
        if file.exists():
            _fold_in_log(file)
        fresh.replace(file)


def _fold_in_log(file: Path) -> None:
    """Leave the old file without a write-ahead log, which SQLite would otherwise apply to the new one."""
    with closing(sqlite3.connect(file, timeout=5, isolation_level=None)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            return
        # Leaving WAL needs the file to oneself, and removes the log; it fails as busy while another program has it open.
        connection.execute("PRAGMA journal_mode = DELETE")
