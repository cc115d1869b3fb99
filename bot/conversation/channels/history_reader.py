from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.port import Gone, HistoryPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import IncomingMessage, Room
    from bot.store.channel_sources import ChannelSource, ChannelSources
    from bot.store.channel_talk import ChannelTalk
    from bot.store.turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReader:
    """Reads one page at a time, threads first."""

    sources: ChannelSources
    messages: ChannelTalk
    turns: Turns

    async def read_page(self, source: ChannelSource, room: Room) -> bool:
        """False if nothing is left. Raises `ChatError`."""
        return await self._read_thread(source, room) or await self._read_span(source, room)

    async def _read_thread(self, source: ChannelSource, room: Room) -> bool:
        waiting = await self.sources.thread(source)
        if waiting is None:
            return False
        thread, cursor = waiting
        as_of = time.time()
        try:
            page = await room.history(thread=thread, cursor=cursor)
        except Gone:
            page, as_of = HistoryPage(), -1.0
        kept = await self._kept(source, page.messages)
        await self.messages.put_thread(source, thread, cursor, page, kept, as_of=as_of)
        return True

    async def _read_span(self, source: ChannelSource, room: Room) -> bool:
        span = await self.sources.span(source)
        if span is None:
            return False
        as_of = time.time()
        page = await room.history(cursor=span.before, until=span.after)
        await self.messages.put_page(source, span, page, await self._kept(source, page.messages), as_of=as_of)
        return True

    async def _kept(
        self, source: ChannelSource, messages: Sequence[IncomingMessage]
    ) -> list[IncomingMessage]:
        kept = [each for each in messages if is_talk(each)]
        asked = await self.turns.answered(source.place, [each.id for each in kept if each.in_thread])
        return [each for each in kept if each.id not in asked]


def is_talk(message: IncomingMessage) -> bool:
    """Between people, for all who read the channel."""
    is_open = not (message.private or message.restricted)
    by_person = not (message.ours or message.by_bot) and bool(message.person.id)
    return is_open and by_person and not message.addressed and bool(message.text.strip() or message.files)
