from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import locations
from adapters.discord.api import api_calls
from adapters.discord.incoming import message_reader
from adapters.discord.room import ChannelRoom
from bot.port import Attempts, Backoff, MessageDeleted, MessageEdited, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.arrivals import DiscordArrivals
    from adapters.discord.incoming.interactions import DiscordInteractions
    from adapters.discord.incoming.missed_messages import MissedMessages
    from adapters.discord.tasks import Tasks
    from bot.port import ChatService, IncomingMessage, Signals

_CLOCK_SKEW_SECONDS = 5.0
_MOST_ATTEMPTS = 6
_INTERACTION_TYPES = frozenset(
    {
        discord.InteractionType.application_command,
        discord.InteractionType.component,
        discord.InteractionType.modal_submit,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordEvents:
    context: DiscordContext
    service: ChatService
    signals: Signals
    tasks: Tasks
    interactions: DiscordInteractions
    arrivals: DiscordArrivals
    missed: MissedMessages
    on_ready: Callable[[], None]

    def session_started(self) -> None:
        self.missed.session_started()

    def ready(self) -> None:
        self.on_ready()
        self.tasks.start(self._catch_up(), name="missed messages")

    def message_created(self, message: discord.Message) -> None:
        self.missed.record(message)
        if self._is_relevant(message):
            self.tasks.start(self._on_message(message), name=f"message {message.id}")

    def message_edited(self, message: discord.Message) -> None:
        if self._is_relevant(message):
            self.tasks.start(self._on_edit(message), name=f"edit of message {message.id}")

    def messages_deleted(self, guild: int | None, channel: int, messages: Iterable[int]) -> None:
        for message in messages:
            work = self._on_deletion(guild, channel, message)
            self.tasks.start(work, name=f"deletion of message {message}")

    def interaction_created(self, interaction: discord.Interaction) -> None:
        if interaction.type in _INTERACTION_TYPES:
            work = self.interactions.handle(interaction)
            self.tasks.start(work, name=f"interaction {interaction.id}")
        elif interaction.type is discord.InteractionType.autocomplete:
            work = self.interactions.suggest(interaction)
            self.tasks.start(work, name=f"suggestions {interaction.id}")

    def guild_joined(self, guild: discord.Guild) -> None:
        self.tasks.start(self.arrivals.on_joined(guild), name=f"joined server {guild.id}")

    def _is_relevant(self, message: discord.Message) -> bool:
        return message.author.id != self.context.own_id and message_reader.is_written(message)

    async def _catch_up(self) -> None:
        reported = False
        async for message, unseen in self.missed.messages(self.context):
            if unseen and not reported and self._is_relevant(message):
                reported = True
                self.signals.recovered("gap")
            self.message_created(message)
            if message.edited_at is not None:
                self.message_edited(message)

    async def _on_message(self, message: discord.Message) -> None:
        event, room = await self._read(message, key=str(message.id))
        await self.service.on_message(event, room)

    async def _on_edit(self, message: discord.Message) -> None:
        at = message.edited_at.timestamp() if message.edited_at else 0.0
        event, room = await self._read(message, key=f"{message.id}@{at}")
        await self.service.on_message(MessageEdited(message=event), room)

    async def _read(self, message: discord.Message, *, key: str) -> tuple[IncomingMessage, ChannelRoom]:
        channel = await self._find_channel(message)
        place = locations.answer_place(
            channel,
            guild=message.guild.id if message.guild else None,
            channel_id=message.channel.id,
            message=message.id if self.context.settings.threads else None,
        )
        restricted = isinstance(channel, discord.Thread) and channel.is_private()
        read = message_reader.incoming(message, place, self.context)
        event = replace(read, handle=key, restricted=restricted)
        room = ChannelRoom.for_message(
            event,
            self.context,
            in_thread=isinstance(channel, discord.Thread),
            doubtful=event.at < self.context.started_at + _CLOCK_SKEW_SECONDS,
        )
        return event, room

    async def _find_channel(self, message: discord.Message) -> locations.AnyChannel:
        backoff = Backoff(first=self.context.settings.retry_seconds, jitter=0.0)
        attempts = Attempts(backoff=backoff, most=_MOST_ATTEMPTS + 1)
        while True:
            try:
                return await self._find_channel_once(message)
            except (Throttled, Unreachable) as error:
                await attempts.pause(error)

    async def _find_channel_once(self, message: discord.Message) -> locations.AnyChannel:
        async with api_calls(self.context.settings.call_seconds):
            return await locations.find_channel(self.context, message.channel.id, message.channel)

    async def _on_deletion(self, guild: int | None, channel: int, message: int) -> None:
        place = locations.answer_place(
            self.context.client.get_channel(channel),
            guild=guild,
            channel_id=channel,
            message=message if self.context.settings.threads else None,
        )
        room = ChannelRoom(self.context, place, event=message, question=message)
        await self.service.on_message(MessageDeleted(id=str(message), place=place), room)
