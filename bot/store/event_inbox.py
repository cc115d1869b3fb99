from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Final

from bot.resilience.retry import BACKOFF
from rag_engine.errors import Unavailable
from rag_engine.wrappers.retry import Attempts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rag_engine.storage.sqlite.database import Database

_EXPIRY_SECONDS: Final = 3600.0
_MOST_ATTEMPTS: Final = 3
"""Processes; the event may crash them."""
_WRITE_INTERVAL_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)

_ADD: Final = "INSERT INTO inbox (platform, event, payload, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


class EventInbox:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        """Raises `StorageUnavailable`."""
        row = (platform, event, json.dumps(payload, ensure_ascii=False), self._clock())
        async with self._database.transaction() as transaction:
            await transaction.execute(_ADD, row)

    async def remove(self, platform: str, event: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM inbox WHERE platform = ? AND event = ?", (platform, event))

    async def unhandled(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        """Oldest first. Retries, because an adapter reads them only once."""
        attempts = Attempts(backoff=BACKOFF)
        while True:
            try:
                return await self._read(platform)
            except Unavailable as error:
                _log.warning("unhandled events cannot be read yet: %s", error)
                await attempts.pause(error)

    async def _read(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM inbox WHERE at < ?", (self._clock() - _EXPIRY_SECONDS,))
            await transaction.execute("UPDATE inbox SET given = given + 1 WHERE platform = ?", (platform,))
            await transaction.execute("DELETE FROM inbox WHERE given > ?", (_MOST_ATTEMPTS,))
            rows = await transaction.execute(
                "SELECT event, payload FROM inbox WHERE platform = ? ORDER BY at, rowid", (platform,)
            )
        return [(event, json.loads(payload)) for event, payload in rows]


class DeliveryProgress:
    """Stored every few seconds: a killed process sees the last messages again."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._written: dict[str, float] = {}

    async def note(self, platform: str, at: float) -> None:
        now = self._clock()
        if not at or now - self._written.get(platform, 0.0) < _WRITE_INTERVAL_SECONDS:
            return
        self._written[platform] = now
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO heard VALUES (?, ?) ON CONFLICT (platform) DO UPDATE SET at = max(at, excluded.at)",
                (platform, at),
            )

    async def latest(self, platform: str) -> float:
        """Seconds since the epoch; 0 before the first message."""
        rows = await self._database.fetch("SELECT at FROM heard WHERE platform = ?", (platform,))
        return float(rows[0][0]) if rows else 0.0
