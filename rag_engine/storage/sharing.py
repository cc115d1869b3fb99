"""What many programs may use at once and one may have to itself: a lock on a file, which the operating system lets go with the process."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.storage.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.errors import RagError

_POLL_SECONDS = 0.05

if sys.platform == "win32":

    def _lock(descriptor: int, *, alone: bool) -> None:
        """Python reaches no shared locks on Windows, so nothing is locked there; the system itself replaces no file that is open."""
else:
    import fcntl

    def _lock(descriptor: int, *, alone: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)


@asynccontextmanager
async def held(path: Path, *, alone: bool, seconds: float, refusal: RagError) -> AsyncGenerator[None]:
    """Hold the file at `path`, made now if there is none, with others or alone until the block ends or this process does.

    Raises `refusal` when those who hold it have not let it go after `seconds`. Each use counts for itself: one process that
    holds it with others does not get it alone beside that.
    """
    with translate_errors(path, starting=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        # The file stays: were it removed, two programs could hold two files of the same name.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not await _locked(descriptor, path, alone=alone, seconds=seconds):
            raise refusal
        yield
    finally:
        os.close(descriptor)


async def _locked(descriptor: int, path: Path, *, alone: bool, seconds: float) -> bool:
    """Ask until the lock is had or the time is over: asking can be cancelled, waiting in the system could not."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not _lock_at_once(descriptor, path, alone=alone):
        if loop.time() >= end:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


def _lock_at_once(descriptor: int, path: Path, *, alone: bool) -> bool:
    with translate_errors(path, starting=True):
        try:
            _lock(descriptor, alone=alone)
        except BlockingIOError:
            return False
        return True
