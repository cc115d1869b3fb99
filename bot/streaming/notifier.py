from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.port import ChatError, Reply
from bot.rendering.literal import literal_sentence

if TYPE_CHECKING:
    from bot.port import Person, Room
    from bot.streaming.scheduler import Scheduler

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifier:
    scheduler: Scheduler

    async def send(self, room: Room, person: Person, sentence: str) -> None:
        """Raises `ChatError` if refused."""
        async with self.scheduler.open(room.outlet(private=person)) as stream:
            await stream.finish(Reply(text=literal_sentence(sentence)))

    async def try_to_send(self, room: Room, person: Person, sentence: str) -> None:
        try:
            await self.send(room, person, sentence)
        except ChatError as error:
            _log.warning("a private message could not be sent: %s", error)
