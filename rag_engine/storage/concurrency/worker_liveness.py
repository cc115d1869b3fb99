"""Each worker locks a file, which the system unlocks when the process ends."""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NewType

from rag_engine.storage.private_files import make_folder
from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

WorkerId = NewType("WorkerId", str)

_NEW_SECONDS = 60.0

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # Not lockf: a second descriptor of this process must not count as the holder.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def working(directory: Path) -> Generator[WorkerId, None, None]:
    """`lives` until the block or the process ends."""
    worker = WorkerId(f"{os.getpid()}-{secrets.token_hex(8)}")
    path = _path(directory, worker)
    with translate_errors(path, starting=True):
        make_folder(directory)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with translate_errors(path, starting=True):
            _lock(descriptor)
        yield worker
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def lives(directory: Path, worker: WorkerId) -> bool:
    """Removes a dead worker's lock file."""
    path = _path(directory, worker)
    with translate_errors(path):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            _lock(descriptor)
        except BlockingIOError:
            return True
        else:
            path.unlink(missing_ok=True)
            return False
        finally:
            os.close(descriptor)


def others(directory: Path, worker: WorkerId, *, new_seconds: float = _NEW_SECONDS) -> bool:
    remove_dead(directory, new_seconds=new_seconds)
    return any(path.stem != worker for path in directory.glob("*.lock"))


def remove_dead(directory: Path, *, new_seconds: float = _NEW_SECONDS) -> None:
    for path in directory.glob("*.lock"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - new_seconds:
                lives(directory, WorkerId(path.stem))


def _path(directory: Path, worker: WorkerId) -> Path:
    return directory / f"{worker}.lock"
