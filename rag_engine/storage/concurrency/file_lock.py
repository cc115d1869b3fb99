from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.storage.private_files import make_folder
from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.errors import RagError

_POLL_SECONDS = 0.05

if sys.platform == "win32":

    def _lock(descriptor: int, *, alone: bool) -> None:
        """Windows has no shared locks in Python."""
else:
    import fcntl

    def _lock(descriptor: int, *, alone: bool) -> None:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)


@asynccontextmanager
async def held(path: Path, *, alone: bool, seconds: float, refusal: RagError) -> AsyncGenerator[None]:
    """Creates the file if missing. Raises `refusal` after `seconds`."""
    with translate_errors(path, starting=True):
        make_folder(path.parent)
        # Never removed, or two programs could lock two files of one name.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not await _locked(descriptor, path, alone=alone, seconds=seconds):
            raise refusal
        yield
    finally:
        os.close(descriptor)


async def _locked(descriptor: int, path: Path, *, alone: bool, seconds: float) -> bool:
    """Polls, because a blocking call cannot be cancelled."""
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
