from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.feedback import is_direct
from rag_engine.types import ConversationId

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.port import Person, Place
    from rag_engine.storage.sqlite.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Of a place, or of one person's private questions in it."""

    conversation: ConversationId
    started_at: float = 0.0
    """Seconds since the epoch, UTC; 0 for the first one."""


class Topics:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def current(self, place: Place, person: Person | None = None) -> Topic:
        """With `person`, of their private questions."""
        rows = await self._database.fetch(
            "SELECT topic, started_at FROM topics WHERE conversation = ?", (conversation(place, person),)
        )
        topic, started_at = rows[0] if rows else ("", 0.0)
        return Topic(conversation=conversation(place, person, topic=topic), started_at=started_at)

    async def start(self, place: Place, person: Person | None = None) -> None:
        """Later questions know nothing of earlier ones."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO topics (conversation, topic, started_at) VALUES (?, ?, ?)",
                (conversation(place, person), uuid.uuid4().hex, self._clock()),
            )


def conversation(place: Place, person: Person | None = None, *, topic: str = "") -> ConversationId:
    parts = [place.platform, place.workspace, place.channel, place.thread]
    parts += [f"topic-{topic}"] if topic else []
    parts += ["ask", person.id] if person else []
    return ConversationId(":".join(parts))


def is_private(conversation: ConversationId) -> bool:
    parts = conversation.split(":")
    return parts[-2:-1] == ["ask"] or (len(parts) > 2 and is_direct(*parts[:3]))
