"""Commands and buttons that were begun, and whether their people know what came of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port import Place
    from rag_engine.storage.sqlite import Database

Claim: TypeAlias = Literal["new", "begun", "finished"]
"""How far it is: seen for the first time, begun before and not finished, or finished."""

_KEPT_SECONDS = 2 * 86_400.0
_PRUNED_EVERY_SECONDS = 3600.0

_BEGIN = """
    INSERT INTO events (platform, workspace, event, at, finished) VALUES (?, ?, ?, ?, 0)
    ON CONFLICT DO NOTHING RETURNING event
"""


class Claims:
    """What is kept of them in the database `chat.sqlite`, for two days."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._pruned_at = 0.0

    async def begin(self, place: Place, event: str) -> Claim:
        """Write that it is begun, before anything is done; how far it was."""
        now = self._clock()
        key = (place.platform, place.workspace, event)
        async with self._database.transaction() as transaction:
            if now - self._pruned_at >= _PRUNED_EVERY_SECONDS:
                self._pruned_at = now
                await transaction.execute("DELETE FROM events WHERE at < ?", (now - _KEPT_SECONDS,))
            if await transaction.execute(_BEGIN, (*key, now)):
                return "new"
            rows = await transaction.execute(
                "SELECT finished FROM events WHERE platform = ? AND workspace = ? AND event = ?", key
            )
        return "finished" if rows[0][0] else "begun"

    async def finish(self, place: Place, event: str) -> None:
        """Its person knows what came of it."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE events SET finished = 1 WHERE platform = ? AND workspace = ? AND event = ?",
                (place.platform, place.workspace, event),
            )
