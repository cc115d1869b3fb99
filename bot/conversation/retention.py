from __future__ import annotations

import asyncio
import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.files.pending_removals import removing
from bot.store.retention_clock import RetentionClock
from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from bot.settings import RetentionSettings
    from rag_engine.speech.audio_cache import AudioCache
    from rag_engine.storage.history import SqliteHistory
    from rag_engine.storage.sqlite.database import Database

_EVERY_SECONDS: Final = 3600.0
_BATCH: Final = 200
_DAY: Final = 86_400.0


def seconds(settings: RetentionSettings) -> float:
    """Infinite if retention is off."""
    return settings.days * _DAY if settings.days else math.inf


@asynccontextmanager
async def keeping_to(
    settings: RetentionSettings, *, history: SqliteHistory, chat: Database, audio: AudioCache
) -> AsyncGenerator[Callable[[], float]]:
    """Until the block ends; yields its clock. Chat turns expire at the same time: `footnote forget` finds a person's
    history by them.
    """
    if not settings.days:
        yield time.time
        return
    data_dir = chat.path.parent
    clock = RetentionClock(data_dir, newest=await history.newest())
    await asyncio.to_thread(clock.advance)

    async def finish() -> bool:
        await asyncio.to_thread(clock.advance)
        await prune(seconds(settings), history=history, chat=chat, clock=clock)
        await asyncio.to_thread(_remove_backups, data_dir, clock() - seconds(settings))
        await asyncio.to_thread(audio.expire)
        return True

    async with removing(finish, every_seconds=_EVERY_SECONDS):
        yield clock


async def prune(
    retention_seconds: float,
    *,
    history: SqliteHistory,
    chat: Database,
    clock: Callable[[], float] = time.time,
) -> None:
    """In batches, between which others can write."""
    before = clock() - retention_seconds
    while await history.prune(before=before, limit=_BATCH):
        pass
    async with chat.transaction() as transaction:
        await transaction.execute("DELETE FROM topics WHERE started_at < ?", (before,))
        await transaction.execute("DELETE FROM gap_questions WHERE at < ?", (before,))
        await transaction.execute("DELETE FROM gaps WHERE id NOT IN (SELECT gap FROM gap_questions)")
        await transaction.execute("DELETE FROM gap_digest_posts WHERE at < ?", (before,))
    deleted = _BATCH
    while deleted == _BATCH:
        async with chat.transaction() as transaction:
            rows = await transaction.execute(
                "DELETE FROM feedback WHERE rowid IN (SELECT rowid FROM feedback WHERE at < ? LIMIT ?) RETURNING 1",
                (before, _BATCH),
            )
        deleted = len(rows)


def _remove_backups(data_dir: Path, before: float) -> None:
    for path in data_dir.glob("*.schema-*.backup"):
        with translate_errors(path):
            if path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
