"""The way back to a question that the process before us was told of, and to where its answer stands."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import places, reading, rooms, used
from adapters.discord.border import calls
from adapters.discord.interactions import Response
from adapters.discord.room import ChannelRoom

if TYPE_CHECKING:
    from adapters.discord.connection import Connection
    from bot.port import IncomingMessage, Room

_DELETED = frozenset({10003, 10008})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    """The `bot.port.Recall` of Discord."""

    connection: Connection

    async def recall(self, message: IncomingMessage) -> tuple[IncomingMessage | None, Room]:
        """See `bot.port.Recall`. A question of a command is recalled with its response, for as long as Discord takes one."""
        if message.handle.startswith("{"):
            return await self._use(message)
        if message.about or not message.id.isdecimal():
            return message, self._without_response(message)
        in_thread = self._stands_in_thread(message)
        room = rooms.of_message(
            replace(message, handle=message.handle or message.id),
            self.connection,
            in_thread=in_thread,
            doubtful=True,
        )
        where = message.place.thread if in_thread else message.place.channel
        found = await self._fetch(int(where), int(message.id))
        if found is None:
            return None, room
        if isinstance(found, discord.Message):
            now = reading.incoming(found, message.place, self.connection)
            message = replace(now, person=message.person, handle=message.handle)
        return message, room

    async def _use(self, message: IncomingMessage) -> tuple[IncomingMessage, Room]:
        """What is asked about a message is known; only its files must be fetched, for as long as it is there."""
        use = used.unpacked(json.loads(message.handle))
        response = Response(self.connection.client, use)
        await response.recover(seconds=self.connection.settings.call_seconds)
        found = await self._fetch(use.channel, use.target) if use.target else None
        if isinstance(found, discord.Message):
            brought = reading.incoming(found, message.place, self.connection)
            message = replace(message, attachments=brought.attachments, about=brought.id)
        return message, rooms.of_use(response, self.connection, doubtful=True)

    def _without_response(self, message: IncomingMessage) -> ChannelRoom:
        """Of a command whose answer was asked for again: the key to its response is forgotten."""
        return ChannelRoom(
            self.connection,
            message.place,
            event=int(message.id.rpartition(":")[2]),
            key=message.id,
            person=int(message.person.id),
            doubtful=True,
        )

    async def _fetch(self, channel_id: int, message: int) -> discord.Message | bool | None:
        """The message as it stands now; None when it was deleted, False when it may not be read here."""
        async with calls(self.connection.settings.call_seconds):
            try:
                channel = await places.locate(self.connection, channel_id)
                if not isinstance(channel, discord.abc.Messageable):
                    return False
                return await channel.fetch_message(message)
            except discord.NotFound as error:
                if error.code not in _DELETED:
                    raise
                return None
            except discord.Forbidden:
                return False

    def _stands_in_thread(self, message: IncomingMessage) -> bool:
        place = message.place
        if not place.thread or place.thread != message.id:
            return bool(place.thread)
        above = self.connection.client.get_channel(int(place.channel))
        return isinstance(above, discord.ForumChannel)
