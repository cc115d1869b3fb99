"""From messages on Discord to calls of the service, each in a task of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import places, reading, rooms
from adapters.discord.border import calls
from adapters.discord.room import ChannelRoom
from bot.port import MessageDeleted, MessageEdited, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adapters.discord.connection import Connection
    from adapters.discord.missed import Missed
    from adapters.discord.tasks import Tasks
    from adapters.discord.using import Using
    from bot.port import ChatService, IncomingMessage, Signals

_CLOCKS_APART_SECONDS = 5.0
"""Discord's clock tells when a question was asked, ours when we began."""
_MOST_ATTEMPTS = 6
_DEALT_WITH = frozenset({discord.InteractionType.application_command, discord.InteractionType.component})


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The `Listener` of a client that serves."""

    connection: Connection
    service: ChatService
    signals: Signals
    tasks: Tasks
    using: Using
    missed: Missed
    on_ready: Callable[[], None]

    def connected(self) -> None:
        self.missed.begins()

    def ready(self) -> None:
        self.on_ready()
        self.tasks.start(self._catch_up(), name="missed messages")

    def wrote(self, message: discord.Message) -> None:
        self.missed.saw(message)
        if self._concerns_us(message):
            self.tasks.start(self._wrote(message), name=f"message {message.id}")

    def edited(self, message: discord.Message) -> None:
        if self._concerns_us(message):
            self.tasks.start(self._edited(message), name=f"edit of message {message.id}")

    def deleted(self, guild: int | None, channel: int, messages: Iterable[int]) -> None:
        for message in messages:
            self.tasks.start(self._deleted(guild, channel, message), name=f"deletion of message {message}")

    def interacted(self, interaction: discord.Interaction) -> None:
        if interaction.type in _DEALT_WITH:
            self.tasks.start(self.using.begin(interaction), name=f"interaction {interaction.id}")

    # --- messages ---

    def _concerns_us(self, message: discord.Message) -> bool:
        return message.author.id != self.connection.us and reading.is_written(message)

    async def _catch_up(self) -> None:
        """A message that was seen after all comes twice, as Discord may also do: the service tells by its id.

        One that was edited comes as both: it may have been taken up as it was before.
        """
        found = False
        async for message, unseen in self.missed.messages(self.connection):
            if unseen and not found and self._concerns_us(message):
                found = True
                self.signals.recovered("gap")
            self.wrote(message)
            if message.edited_at is not None:
                self.edited(message)

    async def _wrote(self, message: discord.Message) -> None:
        event, room = await self._read(message, key=str(message.id))
        await self.service.on_message(event, room)

    async def _edited(self, message: discord.Message) -> None:
        # A message that follows from the edited question is not the one that followed from the question before.
        at = message.edited_at.timestamp() if message.edited_at else 0.0
        event, room = await self._read(message, key=f"{message.id}@{at}")
        await self.service.on_message(MessageEdited(message=event), room)

    async def _read(self, message: discord.Message, *, key: str) -> tuple[IncomingMessage, ChannelRoom]:
        channel = await self._located(message)
        place = places.place(
            channel,
            guild=message.guild.id if message.guild else None,
            channel_id=message.channel.id,
            message=message.id if self.connection.settings.threads else None,
        )
        event = replace(reading.incoming(message, place, self.connection), handle=key)
        room = rooms.of_message(
            event,
            self.connection,
            in_thread=isinstance(channel, discord.Thread),
            doubtful=event.at < self.connection.began + _CLOCKS_APART_SECONDS,
        )
        return event, room

    async def _located(self, message: discord.Message) -> places.Somewhere:
        """Where it stands. Nobody sends the message again: Discord is asked until it tells."""
        wait = self.connection.settings.retry_seconds
        for _ in range(_MOST_ATTEMPTS):
            try:
                return await self._asked_for(message)
            except (Throttled, Unreachable):
                await asyncio.sleep(wait)
                wait *= 2
        return await self._asked_for(message)

    async def _asked_for(self, message: discord.Message) -> places.Somewhere:
        async with calls(self.connection.settings.call_seconds):
            return await places.locate(self.connection, message.channel.id, message.channel)

    async def _deleted(self, guild: int | None, channel: int, message: int) -> None:
        place = places.place(
            self.connection.client.get_channel(channel),
            guild=guild,
            channel_id=channel,
            message=message if self.connection.settings.threads else None,
        )
        room = ChannelRoom(self.connection, place, event=message, question=message)
        await self.service.on_message(MessageDeleted(id=str(message), place=place), room)
