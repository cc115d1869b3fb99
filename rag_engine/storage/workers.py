"""Which workers live: each holds a lock on a file of its own, which the operating system lets go when the process ends."""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NewType

from rag_engine.storage.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

WorkerId = NewType("WorkerId", str)

_NEWBORN_SECONDS = 60.0

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # flock and not lockf: a second descriptor of the same process must not count as the holder.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def working(directory: Path) -> Generator[WorkerId, None, None]:
    """A worker that `lives` in every process's eyes until the block is left or this process ends, however it ends."""
    worker = WorkerId(f"{os.getpid()}-{secrets.token_hex(8)}")
    path = _path(directory, worker)
    with translate_errors(path, starting=True):
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with translate_errors(path, starting=True):
            _lock(descriptor)
        yield worker
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def lives(directory: Path, worker: WorkerId) -> bool:
    """Whether the process of a worker still runs. The file of one that does not is removed."""
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


def others(directory: Path, worker: WorkerId, *, newborn_seconds: float = _NEWBORN_SECONDS) -> bool:
    """Whether any other worker lives; the files of those that do not are removed."""
    bury(directory, newborn_seconds=newborn_seconds)
    return any(path.stem != worker for path in directory.glob("*.lock"))


def bury(directory: Path, *, newborn_seconds: float = _NEWBORN_SECONDS) -> None:
    """Remove the files of workers whose process has ended and of whom nothing is told anywhere."""
    for path in directory.glob("*.lock"):
        # A worker that has just made its file may not have locked it yet.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - newborn_seconds:
                lives(directory, WorkerId(path.stem))


def _path(directory: Path, worker: WorkerId) -> Path:
    return directory / f"{worker}.lock"
