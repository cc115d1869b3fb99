"""Blocking: run it in a thread."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, *, busy_seconds: float = 5.0) -> None:
    """Only a write that needs space detects a full disk. Raises `StorageUnavailable` or `Misconfigured`."""
    with translate_errors(path), closing(_opened(path, busy_seconds)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {int(number)}")
        connection.execute("COMMIT")


def _opened(path: Path, busy_seconds: float) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=busy_seconds)
