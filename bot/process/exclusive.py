"""Who has the index of a data directory: any number of programs that use it, or the one that puts another in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.errors import IndexUnavailable
from rag_engine.storage import sharing

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

PATIENCE_SECONDS = 10.0
"""How long the others are waited for: most commands are done by then, and a person has not yet given up."""


def in_use(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """The index is used, as others may too. Raises `IndexUnavailable` while it is being rebuilt."""
    refusal = IndexUnavailable(
        f"The index of {data_dir} is being rebuilt; try again when `footnote kb reindex --all` is done.",
        backend="index",
        reason="rebuilding",
    )
    return sharing.held(data_dir / _FILE, alone=False, seconds=seconds, refusal=refusal)


def alone(data_dir: Path, *, seconds: float = PATIENCE_SECONDS) -> AbstractAsyncContextManager[None]:
    """Nobody else uses the index, or begins to. Raises `IndexUnavailable` while another program has it open."""
    refusal = IndexUnavailable(
        f"Another Footnote program has the index of {data_dir} open; "
        "stop it and run `footnote kb reindex --all` again.",
        backend="index",
        reason="in_use",
    )
    return sharing.held(data_dir / _FILE, alone=True, seconds=seconds, refusal=refusal)


_FILE = "index.lock"
