from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import locations
from adapters.discord.api import api_calls
from adapters.discord.incoming import interaction_record, message_reader
from adapters.discord.incoming.arrivals import EVENT_PREFIX
from adapters.discord.locations import PLATFORM
from adapters.discord.outlets.interaction import InitialResponse
from adapters.discord.room import ChannelRoom

if TYPE_CHECKING:
    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.arrivals import DiscordArrivals
    from adapters.discord.incoming.interactions import DiscordInteractions
    from adapters.discord.tasks import Tasks
    from bot.port import ChatService, IncomingMessage, Room

_DELETED_CODES = frozenset({10003, 10008})


class DiscordRecovery:
    def __init__(
        self,
        context: DiscordContext,
        service: ChatService,
        interactions: DiscordInteractions,
        arrivals: DiscordArrivals,
        tasks: Tasks,
    ) -> None:
        self._context = context
        self._service = service
        self._interactions = interactions
        self._arrivals = arrivals
        self._tasks = tasks
        self._answers_resumed = asyncio.Event()
        self._started = False

    def start(self) -> None:
        if not self._started:
            self._started = True
            self._tasks.start(self._resume_answers(), name="resumed answers")
            self._tasks.start(self._resume_events(), name="resumed events")

    async def _resume_answers(self) -> None:
        try:
            await self._service.resume(PLATFORM, self.recall)
        finally:
            self._answers_resumed.set()

    async def _resume_events(self) -> None:
        for event, payload in await self._service.inbox.unhandled(PLATFORM):
            if event.startswith(EVENT_PREFIX):
                work = self._arrivals.resume(event, payload)
            else:
                work = self._interactions.resume(event, payload, answers_resumed=self._answers_resumed)
            self._tasks.start(work, name=event)

    async def recall(self, message: IncomingMessage) -> tuple[IncomingMessage | None, Room]:
        """See `bot.port.Recall`. A command keeps its response while the token is valid."""
        if message.handle.startswith("{"):
            return await self._recall_interaction(message)
        if message.about or not message.id.isdecimal():
            return message, self._room_without_response(message)
        in_thread = self._is_in_thread(message)
        room = ChannelRoom.for_message(
            replace(message, handle=message.handle or message.id),
            self._context,
            in_thread=in_thread,
            doubtful=True,
        )
        channel = message.place.thread if in_thread else message.place.channel
        current = await self._fetch(int(channel), int(message.id))
        if current is None:
            return None, room
        if isinstance(current, discord.Message):
            reread = message_reader.incoming(current, message.place, self._context)
            message = replace(reread, person=message.person, handle=message.handle)
        return message, room

    async def _recall_interaction(self, message: IncomingMessage) -> tuple[IncomingMessage, Room]:
        record = interaction_record.from_json(json.loads(message.handle))
        response = InitialResponse(self._context.client, record)
        await response.recover(seconds=self._context.settings.call_seconds)
        about = await self._fetch(record.channel, record.target) if record.target else None
        if isinstance(about, discord.Message):
            reread = message_reader.incoming(about, message.place, self._context)
            message = replace(message, attachments=reread.attachments, about=reread.id)
        return message, ChannelRoom.for_interaction(response, self._context, doubtful=True)

    def _room_without_response(self, message: IncomingMessage) -> ChannelRoom:
        return ChannelRoom(
            self._context,
            message.place,
            event=int(message.id.rpartition(":")[2]),
            key=message.id,
            person=int(message.person.id),
            doubtful=True,
        )

    async def _fetch(self, channel_id: int, message: int) -> discord.Message | bool | None:
        async with api_calls(self._context.settings.call_seconds):
            try:
                channel = await locations.find_channel(self._context, channel_id)
                if not isinstance(channel, discord.abc.Messageable):
                    return False
                return await channel.fetch_message(message)
            except discord.NotFound as error:
                if error.code not in _DELETED_CODES:
                    raise
                return None
            except discord.Forbidden:
                return False

    def _is_in_thread(self, message: IncomingMessage) -> bool:
        place = message.place
        if not place.thread or place.thread != message.id:
            return bool(place.thread)
        parent = self._context.client.get_channel(int(place.channel))
        return isinstance(parent, discord.ForumChannel)
