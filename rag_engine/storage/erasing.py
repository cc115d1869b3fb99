"""Nothing of what was removed is left in the bytes of a SQLite file, or of its log. Synchronous: run it in a thread."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from rag_engine.errors import StorageUnavailable
from rag_engine.storage.faults import BACKEND, translate_errors

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.05


def erase(path: Path) -> None:
    """Write the file anew from what is in it: SQLite leaves what was deleted in free pages, and in the gaps of used ones.

    Others can read meanwhile and not write: about a second for each 100 MB. Raises `StorageUnavailable` when others never let
    go of the file, or the disk has no room for a second copy; nothing is changed then.
    """
    with translate_errors(path), closing(_opened(path)) as connection:
        # Where the file is there must be room for it; the folder for temporary files may be small. One day SQLite may know no
        # such pragma, and then ignores it.
        folder = str(path.absolute().parent).replace("'", "''")
        connection.execute(f"PRAGMA temp_store_directory = '{folder}'")
        connection.execute("VACUUM")
        _empty_log(connection, path)


def _opened(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_SECONDS)


def _empty_log(connection: sqlite3.Connection, path: Path) -> None:
    """Fold the log in and cut it off; who still reads an older state of the file is waited for."""
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
