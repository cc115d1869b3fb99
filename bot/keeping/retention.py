"""What people said is kept for so many days: the running bot forgets what is older, a little at a time, copies included."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.files.removing import removing
from rag_engine.storage.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from bot.settings import RetentionSettings
    from rag_engine.storage.history import SqliteHistory
    from rag_engine.storage.sqlite import Database

_EVERY_SECONDS: Final = 3600.0
_BATCH: Final = 200
_DAY: Final = 86_400.0


def seconds(settings: RetentionSettings) -> float:
    """For how long questions and answers are kept."""
    return settings.days * _DAY if settings.days else math.inf


@asynccontextmanager
async def keeping_to(
    settings: RetentionSettings, *, history: SqliteHistory, chat: Database
) -> AsyncGenerator[None]:
    """Until the block ends, whatever is too old goes; nothing does where everything is kept.

    What is kept of questions in chats goes in the same time, so that whoever is forgotten can be found in the history.
    """
    if not settings.days:
        yield
        return

    async def finish() -> bool:
        await prune(seconds(settings), history=history, chat=chat)
        await asyncio.to_thread(_remove_backups, chat.path.parent, seconds(settings))
        return True

    async with removing(finish, every_seconds=_EVERY_SECONDS):
        yield


async def prune(
    kept_seconds: float, *, history: SqliteHistory, chat: Database, clock: Callable[[], float] = time.time
) -> None:
    """Forget what is older now, some at a time: others write in between."""
    before = clock() - kept_seconds
    while await history.prune(before=before, limit=_BATCH):
        pass
    gone = _BATCH
    while gone == _BATCH:
        async with chat.transaction() as transaction:
            rows = await transaction.execute(
                "DELETE FROM feedback WHERE rowid IN (SELECT rowid FROM feedback WHERE at < ? LIMIT ?) RETURNING 1",
                (before, _BATCH),
            )
        gone = len(rows)


def _remove_backups(data_dir: Path, kept_seconds: float) -> None:
    """Copies from before an upgrade hold what people said as well."""
    for path in data_dir.glob("*.schema-*.backup"):
        with translate_errors(path):
            if path.stat().st_mtime < time.time() - kept_seconds:
                path.unlink(missing_ok=True)
