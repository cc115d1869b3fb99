"""Who uses a data directory: any number of programs, or the one that puts another content in its place."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.keeping import switching
from rag_engine.errors import StorageUnavailable
from rag_engine.storage import sharing
from rag_engine.storage.waiting import uninterrupted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

PATIENCE_SECONDS: Final = 10.0
_FILE: Final = "directory.lock"
_BACKUP_FILE: Final = "backup.lock"
_FORGET_FILE: Final = "forget.lock"


@asynccontextmanager
async def in_use(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AsyncGenerator[None]:
    """The directory is used, as others may too; a restore that was killed while it put files in place is finished before.

    Raises `StorageUnavailable` while a backup is being restored into it.
    """
    refusal = StorageUnavailable(
        f"A backup is being restored into {data_dir}; try again when that is done.", backend="storage"
    )
    while True:
        async with sharing.held(data_dir / _FILE, alone=False, seconds=seconds, refusal=refusal):
            if not switching.is_interrupted(data_dir):
                yield
                return
        async with sharing.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal):
            await uninterrupted(asyncio.to_thread(switching.finish, data_dir))


def finish(data_dir: Path) -> None:
    """Finish a restore that was killed while it put files in place, if there is one; for who has the directory `alone`."""
    if switching.is_interrupted(data_dir):
        switching.finish(data_dir)


def backing_up(data_dir: Path) -> AbstractAsyncContextManager[None]:
    """One backup at a time. Raises `StorageUnavailable` while another is made."""
    refusal = StorageUnavailable(
        f"Another backup of {data_dir} is being made; try again when that is done.", backend="storage"
    )
    return sharing.held(data_dir / _BACKUP_FILE, alone=True, seconds=PATIENCE_SECONDS, refusal=refusal)


def forgetting(data_dir: Path) -> AbstractAsyncContextManager[None]:
    """One `footnote forget` at a time. Raises `StorageUnavailable` while another is at work."""
    refusal = StorageUnavailable(
        f"Another `footnote forget` is at work in {data_dir}; try again when that is done.", backend="storage"
    )
    return sharing.held(data_dir / _FORGET_FILE, alone=True, seconds=PATIENCE_SECONDS, refusal=refusal)


def alone(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """Nobody else uses the directory, or begins to. Raises `StorageUnavailable` while another program does."""
    refusal = StorageUnavailable(
        f"Another Footnote program uses {data_dir}; stop it and run `footnote restore` again.",
        backend="storage",
    )
    return sharing.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal)
