from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.conversation.interactions.buttons import LONGEST_NOTE
from bot.messages import language_of, say

if TYPE_CHECKING:
    from bot.port import IncomingMessage, Room
    from bot.store.turns import Turns
    from bot.streaming.notifier import Notifier

_NOTE: Final = re.compile(r"\s*feedback\s*[:\uff1a]\s*(\S.*)", re.IGNORECASE | re.DOTALL)
_SECONDS: Final = 7 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackNotes:
    turns: Turns
    notifier: Notifier

    async def hears(self, message: IncomingMessage, room: Room) -> bool:
        found = None if message.by_bot else _NOTE.match(message.text)
        if found is None:
            return False
        note, since = found[1].strip()[:LONGEST_NOTE], time.time() - _SECONDS
        if not await self.turns.add_note(message.place, message.person.id, note, since=since):
            return False
        await self.notifier.try_to_send(room, message.person, say("thanks", language_of("", message.person)))
        return True
