"""Which workers live: each holds a lock on a file of its own, which the operating system lets go when the process ends."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NewType

from rag_engine.storage.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

WorkerId = NewType("WorkerId", str)

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


def _path(directory: Path, worker: WorkerId) -> Path:
    return directory / f"{worker}.lock"
