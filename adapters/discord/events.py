"""From events of Discord to calls of the service, each in a task of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import discord

from adapters.discord import buttons, commands, places, reading
from adapters.discord.border import calls
from adapters.discord.interactions import Response
from adapters.discord.missed import Missed
from adapters.discord.room import ChannelRoom
from adapters.discord.texts import heading
from bot.port import Action, MessageDeleted, MessageEdited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adapters.discord.connection import Connection
    from adapters.discord.tasks import Tasks
    from bot.port import ChatService, IncomingMessage

_MESSAGE_COMMAND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The `Listener` of a client that serves."""

    connection: Connection
    service: ChatService
    tasks: Tasks
    on_ready: Callable[[], None]
    missed: Missed = field(default_factory=Missed)

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
        if interaction.type is discord.InteractionType.application_command:
            self.tasks.start(self._commanded(interaction), name=f"command {interaction.id}")
        elif interaction.type is discord.InteractionType.component:
            self.tasks.start(self._pressed(interaction), name=f"button {interaction.id}")

    # --- messages ---

    def _concerns_us(self, message: discord.Message) -> bool:
        return message.author.id != self.connection.us and reading.is_written(message)

    async def _catch_up(self) -> None:
        """A message that was seen after all comes twice, as Discord may also do: the service tells by its id."""
        async for message in self.missed.messages(self.connection):
            self.wrote(message)

    async def _wrote(self, message: discord.Message) -> None:
        event, room = await self._read(message, key=str(message.id))
        await self.service.on_message(event, room)

    async def _edited(self, message: discord.Message) -> None:
        # A message that follows from the edited question is not the one that followed from the question before.
        at = message.edited_at.timestamp() if message.edited_at else 0.0
        event, room = await self._read(message, key=f"{message.id}@{at}")
        await self.service.on_message(MessageEdited(message=event), room)

    async def _read(self, message: discord.Message, *, key: str) -> tuple[IncomingMessage, ChannelRoom]:
        async with calls(self.connection.settings.call_seconds):
            channel = await places.locate(self.connection, message.channel.id, message.channel)
        place = places.place(
            channel,
            guild=message.guild.id if message.guild else None,
            channel_id=message.channel.id,
            message=message.id if self.connection.settings.threads else None,
        )
        event = reading.incoming(message, place, self.connection)
        names = (event.text, *(attachment.name for attachment in event.attachments))
        room = ChannelRoom(
            self.connection,
            place,
            event=message.id,
            key=key,
            person=message.author.id,
            question=0 if isinstance(channel, discord.Thread) else message.id,
            thread_name=next((named for name in names if (named := heading(name))), ""),
        )
        return event, room

    async def _deleted(self, guild: int | None, channel: int, message: int) -> None:
        place = places.place(
            self.connection.client.get_channel(channel),
            guild=guild,
            channel_id=channel,
            message=message if self.connection.settings.threads else None,
        )
        room = ChannelRoom(self.connection, place, event=message, question=message)
        await self.service.on_message(MessageDeleted(id=str(message), place=place), room)

    # --- commands and buttons ---

    async def _commanded(self, interaction: discord.Interaction) -> None:
        response = Response(interaction, public=commands.is_public(interaction))
        seconds = self.connection.settings.call_seconds
        if not await response.acknowledge(seconds=seconds):
            return
        room = self._room(interaction, response)
        try:
            if (interaction.data or {}).get("type") == _MESSAGE_COMMAND:
                asked = reading.asked_about(interaction, self.connection)
                if asked is not None:
                    await self.service.on_message(asked, room)
            else:
                await self.service.on_command(commands.used(interaction, room.place, self.connection), room)
        finally:
            await response.dismiss(seconds=seconds)

    async def _pressed(self, interaction: discord.Interaction) -> None:
        response = Response(interaction, public=False)
        if not await response.acknowledge(seconds=self.connection.settings.call_seconds):
            return
        pressed = buttons.pressed(str((interaction.data or {}).get("custom_id", "")))
        if pressed is None:
            return
        room = self._room(interaction, response)
        action = Action(
            id=str(interaction.id),
            name=pressed[0],
            value=pressed[1],
            place=room.place,
            person=reading.person(interaction.user, language=reading.language(interaction)),
            message=str(interaction.message.id) if interaction.message else "",
        )
        await self.service.on_action(action, room)

    def _room(self, interaction: discord.Interaction, response: Response) -> ChannelRoom:
        place = places.place(
            interaction.channel, guild=interaction.guild_id, channel_id=interaction.channel_id or 0
        )
        return ChannelRoom(
            self.connection,
            place,
            event=interaction.id,
            person=interaction.user.id,
            response=response,
        )
