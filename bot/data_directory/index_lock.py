from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.errors import IndexUnavailable
from rag_engine.storage.concurrency import file_lock

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

PATIENCE_SECONDS = 10.0
"""Most commands end sooner, and a person still waits."""


def in_use(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """Shared. Raises `IndexUnavailable` during a rebuild."""
    refusal = IndexUnavailable(
        f"The index of {data_dir} is being rebuilt; try again when `footnote kb reindex --all` is done.",
        backend="index",
        reason="rebuilding",
    )
    return file_lock.held(data_dir / _FILE, alone=False, seconds=seconds, refusal=refusal)


def alone(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """Raises `IndexUnavailable` while others have it open."""
    refusal = IndexUnavailable(
        f"Another Footnote program has the index of {data_dir} open; "
        "stop it and run `footnote kb reindex --all` again.",
        backend="index",
        reason="in_use",
    )
    return file_lock.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal)


_FILE = "index.lock"
