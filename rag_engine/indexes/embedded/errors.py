from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import IndexUnavailable, Misconfigured
from rag_engine.storage.sqlite.errors import is_disk_full

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

BACKEND = "embedded"

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FORBIDDEN = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
)


@contextmanager
def translate_errors(path: Path, *, starting: bool = False) -> Generator[None]:
    """Raises `IndexUnavailable`, or `Misconfigured` if only the operator can act."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, path, starting=starting) from error
    except (PermissionError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        reason = error.strerror or "not possible"
        raise Misconfigured(
            f"The search index {path} cannot be written: {reason}; check its permissions."
        ) from error
    except OSError as error:
        reason = error.strerror or "not possible"
        raise IndexUnavailable(
            f"The search index {path} cannot be used: {reason}.", backend=BACKEND, reason="failed"
        ) from error


def _translated(error: sqlite3.Error, path: Path, *, starting: bool) -> IndexUnavailable | Misconfigured:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _DAMAGED:
        sentence = f"The search index {path} is damaged; delete it and run `footnote kb reindex --all`."
        return (
            Misconfigured(sentence)
            if starting
            else IndexUnavailable(sentence, backend=BACKEND, reason="damaged")
        )
    if is_disk_full(error, path):
        return IndexUnavailable(
            f"The disk with the search index {path} is full; make room.", backend=BACKEND, reason="full"
        )
    if code in _BUSY:
        return IndexUnavailable(
            f"Another program keeps the search index {path} locked; try again in a moment.",
            backend=BACKEND,
            retry_after=1.0,
            reason="locked",
        )
    if code in _FORBIDDEN and starting:
        return Misconfigured(
            f"The search index {path} cannot be written; check the permissions of its directory."
        )
    return IndexUnavailable(
        f"The search index {path} cannot be used: {error}.", backend=BACKEND, reason="failed"
    )
