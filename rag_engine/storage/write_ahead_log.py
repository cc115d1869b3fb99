"""SQLite's write-ahead log, turned on by several processes at once."""

from __future__ import annotations

import sqlite3
import time

from rag_engine.storage.faults import primary_code

_BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.01


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Turn the log on; SQLite does not wait by itself when two processes do so at once."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return
