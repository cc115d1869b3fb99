from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.data_directory import atomic_swap
from rag_engine.errors import StorageUnavailable
from rag_engine.storage.concurrency import file_lock
from rag_engine.storage.concurrency.uncancellable import uninterrupted

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
    """Shared; finishes a killed restore. Raises `StorageUnavailable`."""
    refusal = StorageUnavailable(
        f"A backup is being restored into {data_dir}; try again when it is done.", backend="storage"
    )
    while True:
        async with file_lock.held(data_dir / _FILE, alone=False, seconds=seconds, refusal=refusal):
            if not atomic_swap.is_interrupted(data_dir):
                yield
                return
        async with file_lock.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal):
            await uninterrupted(asyncio.to_thread(atomic_swap.finish, data_dir))


def finish(data_dir: Path) -> None:
    if atomic_swap.is_interrupted(data_dir):
        atomic_swap.finish(data_dir)


def backing_up(data_dir: Path) -> AbstractAsyncContextManager[None]:
    """One at a time, else raises `StorageUnavailable`."""
    refusal = StorageUnavailable(
        f"Another backup of {data_dir} is being made; try again when it is done.", backend="storage"
    )
    return file_lock.held(data_dir / _BACKUP_FILE, alone=True, seconds=PATIENCE_SECONDS, refusal=refusal)


def forgetting(data_dir: Path) -> AbstractAsyncContextManager[None]:
    refusal = StorageUnavailable(
        f"Another `footnote forget` is running in {data_dir}; try again when it is done.", backend="storage"
    )
    return file_lock.held(data_dir / _FORGET_FILE, alone=True, seconds=PATIENCE_SECONDS, refusal=refusal)


def alone(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """Raises `StorageUnavailable` while there are others."""
    refusal = StorageUnavailable(
        f"Another Footnote program uses {data_dir}; stop it and run `footnote restore` again.",
        backend="storage",
    )
    return file_lock.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal)
