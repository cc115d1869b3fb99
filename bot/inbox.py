"""Events between their acknowledgement and their end, and how far each platform was heard: kept in `chat.sqlite`."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from typing import TYPE_CHECKING, Final

from bot.patience import pause
from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rag_engine.storage.sqlite import Database

_KEPT_SECONDS: Final = 3600.0
"""An event that is older than this when the program starts again is not taken up: nobody waits for it any more."""
_GIVEN_TIMES: Final = 3
"""An event is given to so many processes: one that ends each of them is given up."""
_NOTED_EVERY_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)

_KEEP: Final = "INSERT INTO inbox (platform, event, payload, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


class SqliteInbox:
    """The port `bot.port.Inbox`."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def keep(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        """Raises `StorageUnavailable`."""
        row = (platform, event, json.dumps(payload, ensure_ascii=False), self._clock())
        async with self._database.transaction() as transaction:
            await transaction.execute(_KEEP, row)

    async def done(self, platform: str, event: str) -> None:
        """Forget the event."""
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM inbox WHERE platform = ? AND event = ?", (platform, event))

    async def kept(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        """What is left, oldest first, as soon as it can be read: nobody asks a second time."""
        failures = 0
        while True:
            try:
                return await self._given(platform)
            except Unavailable as error:
                failures += 1
                _log.warning("it cannot be read yet which events were left: %s", error)
                await asyncio.sleep(pause(failures, chance=random.random()))  # noqa: S311

    async def _given(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        async with self._database.transaction() as transaction:
            await transaction.execute("DELETE FROM inbox WHERE at < ?", (self._clock() - _KEPT_SECONDS,))
            await transaction.execute("UPDATE inbox SET given = given + 1 WHERE platform = ?", (platform,))
            await transaction.execute("DELETE FROM inbox WHERE given > ?", (_GIVEN_TIMES,))
            rows = await transaction.execute(
                "SELECT event, payload FROM inbox WHERE platform = ? ORDER BY at, rowid", (platform,)
            )
        return [(event, json.loads(payload)) for event, payload in rows]


class Heard:
    """How far each platform was heard. It is written now and then: after a kill, the last seconds are heard again."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._noted: dict[str, float] = {}

    async def note(self, platform: str, at: float) -> None:
        """A message that was written at that time was looked at."""
        now = self._clock()
        if not at or now - self._noted.get(platform, 0.0) < _NOTED_EVERY_SECONDS:
            return
        self._noted[platform] = now
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT INTO heard VALUES (?, ?) ON CONFLICT (platform) DO UPDATE SET at = max(at, excluded.at)",
                (platform, at),
            )

    async def latest(self, platform: str) -> float:
        """Seconds since the epoch; 0 when nothing was heard yet."""
        rows = await self._database.fetch("SELECT at FROM heard WHERE platform = ?", (platform,))
        return float(rows[0][0]) if rows else 0.0
