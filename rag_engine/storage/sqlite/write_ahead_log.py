from __future__ import annotations

import sqlite3
import time

from rag_engine.storage.sqlite.errors import primary_code

_BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.01


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """SQLite does not wait for another process doing the same."""
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
