from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rag_engine.errors import DISK_FULL, BadSettings, Misconfigured, RagError, StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

BACKEND = "storage"
_FULL_BYTES = 1 << 20

_FULL = "the disk that holds {path} is full: make room, then try again."
_NOT_WRITABLE = (
    "{path} cannot be written: fix the permissions of its directory, or set FOOTNOTE_DATA_DIR to another."
)
_NOT_A_DIRECTORY = "{directory} is not a directory: set FOOTNOTE_DATA_DIR to a directory that can be written."
_NOT_A_FILE = "{path} is a directory, but a database file belongs there: move it away."
_DAMAGED = (
    "{path} is damaged, or is no database: put a backup of it in its place, or move it away to start afresh "
    "(with its -wal and -shm files, if there are any)."
)
_BUSY = "another program is using {path}; try again in a moment."
_BROKEN_DISK = "{path} could not be read or written ({reason}): check the disk, then try again."

_SENTENCES = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: _NOT_WRITABLE,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_IOERR: _BROKEN_DISK,
}
_FILE_SENTENCES = {
    **dict.fromkeys(DISK_FULL, _FULL),
    errno.EACCES: _NOT_WRITABLE,
    errno.EPERM: _NOT_WRITABLE,
    errno.EROFS: _NOT_WRITABLE,
    errno.ENOTDIR: _NOT_A_DIRECTORY,
    errno.EEXIST: _NOT_A_DIRECTORY,
    errno.EISDIR: _NOT_A_FILE,
}
_SETTINGS = (_NOT_WRITABLE, _NOT_A_DIRECTORY, _NOT_A_FILE)


@contextmanager
def translate_errors(path: Path, *, starting: bool = False) -> Generator[None, None, None]:
    """An unwritable path is `BadSettings` while `starting`, later `StorageUnavailable`."""
    try:
        yield
    except sqlite3.Error as error:
        sentence = _FULL if is_disk_full(error, path) else _SENTENCES.get(primary_code(error))
        if sentence is None:
            raise
        raise _error(sentence, path, str(error), starting=starting) from error
    except TimeoutError as error:
        raise _error(_BUSY, path, "", starting=starting) from error
    except OSError as error:
        sentence = _FILE_SENTENCES.get(error.errno or 0, _BROKEN_DISK)
        raise _error(sentence, path, error.strerror or str(error), starting=starting) from error


def is_disk_full(error: sqlite3.Error, path: Path) -> bool:
    """An index of the log that cannot grow is an I/O error to SQLite."""
    code = primary_code(error)
    if code != sqlite3.SQLITE_IOERR:
        return code == sqlite3.SQLITE_FULL
    try:
        return shutil.disk_usage(path if path.is_dir() else path.parent).free < _FULL_BYTES
    except OSError:
        return False


def primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _error(sentence: str, path: Path, reason: str, *, starting: bool) -> RagError:
    text = sentence.format(path=path, directory=path.parent, reason=reason)
    if sentence is _DAMAGED:
        return Misconfigured(text)
    if starting and sentence in _SETTINGS:
        return BadSettings(text)
    return StorageUnavailable(text, backend=BACKEND, retry_after=1.0 if sentence is _BUSY else None)
