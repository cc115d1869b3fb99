"""Blocking: run it in a thread."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from rag_engine.errors import StorageUnavailable
from rag_engine.storage.sqlite.errors import BACKEND, translate_errors

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.05


def erase(path: Path) -> None:
    """SQLite leaves deleted data in free pages. Blocks others' writes, about a second per 100 MB. Raises
    `StorageUnavailable`, with nothing changed.
    """
    with translate_errors(path), closing(_opened(path)) as connection:
        folder = str(path.absolute().parent).replace("'", "''")
        connection.execute(f"PRAGMA temp_store_directory = '{folder}'")
        connection.execute("VACUUM")
        _empty_log(connection, path)


def _opened(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_SECONDS)


def _empty_log(connection: sqlite3.Connection, path: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            return
        if time.monotonic() > deadline:
            raise StorageUnavailable(
                f"another program reads {path} without a pause; do it again in a moment.", backend=BACKEND
            )
        time.sleep(_POLL_SECONDS)
