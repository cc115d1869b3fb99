"""A backup put into a data directory: checked to its last byte first, then in place of what was there in one step."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.keeping import contents as kept
from bot.keeping import switching, unpacking
from rag_engine.errors import UserError
from rag_engine.storage import faults

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bot.keeping.contents import Contents

_SETTLED: Final = {
    # What the backup caught halfway was most likely finished a moment later: nobody is to be answered twice.
    "answers": "UPDATE answers SET state = 'stopped' WHERE state IN ('received', 'placeholder', 'streaming')",
    "inbox": "DELETE FROM inbox",
    "heard": "UPDATE heard SET at = max(at, :now)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was put into the directory, and when it was made (seconds since the epoch, UTC)."""

    databases: int
    originals: int
    made_at: float


def restore(
    contents: Contents, file: Path, *, index: str, replace: bool, check: Callable[[], None]
) -> Restored:
    """Put the backup into the directory, which nobody else uses meanwhile. Synchronous: run it in a thread.

    `check` is called now and then until the last step, and may raise to end it. Killed at any moment, the directory is what
    it was or what the backup holds. Raises `UserError` when the directory has content and `replace` is false.
    """
    if not replace and next(contents.replaceable(), None) is not None:
        raise UserError(
            f"There is something in {contents.data_dir} already: `--replace` puts the backup in its place, and removes it."
        )
    with (
        unpacking.opened(file, contents, index=index) as (archive, manifest),
        switching.prepared(contents.data_dir) as folder,
    ):
        unpacking.unpack(file, archive, manifest, contents, folder, check=check)
        _settle(folder / kept.CHAT)
        check()
        switching.decide(contents.data_dir, removed=list(contents.replaceable()))
        switching.finish(contents.data_dir)
    return Restored(
        databases=len(manifest.schemas),
        originals=len(manifest.members) - len(manifest.schemas),
        made_at=manifest.made_at,
    )


def _settle(chat: Path) -> None:
    """Leave nothing in the chats that would be taken up again: it belongs to the time before the backup."""
    if not chat.exists():
        return
    with faults.translate_errors(chat), closing(sqlite3.connect(chat)) as connection, connection:
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        for table, statement in _SETTLED.items():
            if table in tables:
                connection.execute(statement, {"now": time.time()} if ":now" in statement else {})
