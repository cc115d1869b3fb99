from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.data_directory import atomic_swap
from bot.maintenance import backup_archive
from bot.maintenance.data_files import CHAT, originals_of
from rag_engine.errors import UserError
from rag_engine.storage.sqlite import errors as sqlite_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.maintenance.data_files import DataFiles

_SETTLEMENTS: Final = {
    # Probably finished soon after the backup: no second answer.
    "answers": "UPDATE answers SET state = 'stopped' WHERE state IN ('received', 'placeholder', 'streaming')",
    "inbox": "DELETE FROM inbox",
    "heard": "UPDATE heard SET at = max(at, :now)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """`made_at`: seconds since the epoch, UTC."""

    databases: int
    originals: int
    made_at: float


def restore(
    contents: DataFiles, file: Path, *, index: str, replace: bool, check: Callable[[], None]
) -> Restored:
    """Alone in the directory, in a thread. `check` may raise to stop before the last step. A killed process leaves the
    old content or the backup's. Raises `UserError` if there is content and `replace` is false.
    """
    if not replace and next(contents.replaceable(), None) is not None:
        raise UserError(
            f"{contents.data_dir} already holds data: `--replace` deletes it and restores the backup."
        )
    with (
        backup_archive.opened(file, contents, index=index) as (archive, manifest),
        atomic_swap.prepared(contents.data_dir) as folder,
    ):
        backup_archive.unpack(file, archive, manifest, contents, folder, check=check)
        _settle(folder / CHAT)
        check()
        atomic_swap.decide(contents.data_dir, removed=list(contents.replaceable()))
        atomic_swap.finish(contents.data_dir)
    return Restored(
        databases=len(manifest.schemas),
        originals=originals_of(manifest.members),
        made_at=manifest.made_at,
    )


def _settle(chat: Path) -> None:
    if not chat.exists():
        return
    with sqlite_errors.translate_errors(chat), closing(sqlite3.connect(chat)) as connection, connection:
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        for table, statement in _SETTLEMENTS.items():
            if table in tables:
                connection.execute(statement, {"now": time.time()} if ":now" in statement else {})
