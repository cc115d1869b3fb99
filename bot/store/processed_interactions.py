from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port import Place
    from rag_engine.storage.sqlite.database import Database

Progress: TypeAlias = Literal["new", "started", "finished"]

_EXPIRY_SECONDS = 2 * 86_400.0
_PRUNE_INTERVAL_SECONDS = 3600.0

_BEGIN = """
    INSERT INTO events (platform, workspace, event, at, finished) VALUES (?, ?, ?, ?, 0)
    ON CONFLICT DO NOTHING RETURNING event
"""


class ProcessedInteractions:
    """Entries are kept for two days."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._pruned_at = 0.0

    async def begin(self, place: Place, event: str) -> Progress:
        """Returns its earlier progress."""
        now = self._clock()
        key = (place.platform, place.workspace, event)
        async with self._database.transaction() as transaction:
            if now - self._pruned_at >= _PRUNE_INTERVAL_SECONDS:
                self._pruned_at = now
                await transaction.execute("DELETE FROM events WHERE at < ?", (now - _EXPIRY_SECONDS,))
            if await transaction.execute(_BEGIN, (*key, now)):
                return "new"
            rows = await transaction.execute(
                "SELECT finished FROM events WHERE platform = ? AND workspace = ? AND event = ?", key
            )
        return "finished" if rows[0][0] else "started"

    async def finish(self, place: Place, event: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE events SET finished = 1 WHERE platform = ? AND workspace = ? AND event = ?",
                (place.platform, place.workspace, event),
            )
