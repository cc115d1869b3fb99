from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.port import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_engine.storage.sqlite.database import Database

_DIGESTS: Final = "SELECT platform, workspace, channel, person, language, time_zone, due_at FROM gap_digests"
_OF_WORKSPACE: Final = "platform = ? AND workspace = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapDigest:
    place: Place
    person: str
    language: str
    time_zone: str
    due_at: float


class GapDigests:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def of(self, place: Place) -> GapDigest | None:
        rows = await self._database.fetch(
            f"{_DIGESTS} WHERE {_OF_WORKSPACE}", (place.platform, place.workspace)
        )
        return _digest(*rows[0]) if rows else None

    async def all(self, platform: str) -> list[GapDigest]:
        rows = await self._database.fetch(f"{_DIGESTS} WHERE platform = ?", (platform,))
        return [_digest(*row) for row in rows]

    async def put(self, digest: GapDigest) -> None:
        place = digest.place
        row = (
            place.platform,
            place.workspace,
            place.channel,
            digest.person,
            digest.language,
            digest.time_zone,
            digest.due_at,
        )
        async with self._database.transaction() as transaction:
            await transaction.execute("INSERT OR REPLACE INTO gap_digests VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    async def remove(self, place: Place) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                f"DELETE FROM gap_digests WHERE {_OF_WORKSPACE}",  # noqa: S608
                (place.platform, place.workspace),
            )

    async def begin(self, digest: GapDigest, week: str, *, next_at: float) -> None:
        place = digest.place
        key = (place.platform, place.workspace, place.channel)
        async with self._database.transaction() as transaction:
            moved = await transaction.execute(
                f"UPDATE gap_digests SET due_at = ? WHERE {_OF_WORKSPACE} AND channel = ? AND due_at = ? RETURNING 1",  # noqa: S608
                (next_at, *key, digest.due_at),
            )
            if moved and week:
                await transaction.execute(
                    "INSERT OR IGNORE INTO gap_digest_posts VALUES (?, ?, ?, ?, 'sending', '', ?)",
                    (*key, week, self._clock()),
                )

    async def unsent(self, platform: str) -> list[tuple[Place, str]]:
        rows = await self._database.fetch(
            "SELECT workspace, channel, week FROM gap_digest_posts WHERE platform = ? AND state = 'sending' ORDER BY at",
            (platform,),
        )
        return [
            (Place(platform=platform, workspace=workspace, channel=channel), week)
            for workspace, channel, week in rows
        ]

    async def finish(self, place: Place, week: str, message: str = "") -> None:
        key = (message, place.platform, place.workspace, place.channel, week)
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "UPDATE gap_digest_posts SET state = 'done', message = ? "
                "WHERE platform = ? AND workspace = ? AND channel = ? AND week = ?",
                key,
            )


def _digest(
    platform: str,
    workspace: str,
    channel: str,
    person: str,
    language: str,
    time_zone: str,
    due_at: float,
) -> GapDigest:
    return GapDigest(
        place=Place(platform=platform, workspace=workspace, channel=channel),
        person=person,
        language=language,
        time_zone=time_zone,
        due_at=due_at,
    )
