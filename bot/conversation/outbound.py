from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.port import IncomingMessage, Unreachable

if TYPE_CHECKING:
    from bot.port import Person, Place, Recall, Room

_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRooms:
    """Rooms of places where nobody just wrote, from each platform's `Recall`."""

    recalls: dict[str, Recall] = field(default_factory=dict[str, "Recall"])

    async def room(self, place: Place, person: Person, *, key: str, after: str = "", below: str = "") -> Room:
        """Its outlets find what an earlier process wrote under this key; `after` is an id of an earlier message.

        `below`: in the thread of this message of ours, which the first write opens. Raises `ChatError`.
        """
        recall = self.recalls.get(place.platform)
        if recall is None:
            raise Unreachable("The platform is not connected yet.")
        number = after.rpartition(":")[2]
        message = IncomingMessage(
            id=below or f"{key}:{number if number.isdecimal() else 0}",
            place=place,
            person=person,
            text="",
            in_thread=bool(place.thread) and not below,
            handle="",
        )
        async with asyncio.timeout(_SECONDS):
            _, room = await recall(message)
        return room
