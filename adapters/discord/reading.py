"""Messages of Discord as messages of ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import files, places
from adapters.discord.texts import Names, clean
from bot.port import IncomingMessage, Person

if TYPE_CHECKING:
    from adapters.discord.connection import Connection
    from adapters.discord.used import Used
    from bot.port import Place

_WRITTEN = frozenset(
    {
        discord.MessageType.default,
        discord.MessageType.reply,
        discord.MessageType.chat_input_command,
        discord.MessageType.context_menu_command,
    }
)


def is_written(message: discord.Message) -> bool:
    """Whether somebody wrote it, unlike "joined the server" or "started a thread"."""
    return message.type in _WRITTEN


def incoming(message: discord.Message, place: Place, connection: Connection) -> IncomingMessage:
    """The message as the service reads it; `place` is where it is answered."""
    ours = _our_ids(message.guild, connection)
    mentioned = _mentioned(message)
    answered = _answered_author(message)
    ourselves = {None, message.author.id, connection.us}
    told = any(user.id == connection.us for user in message.mentions)
    return IncomingMessage(
        id=str(message.id),
        place=place,
        person=person(message.author),
        text=text(message, ours),
        attachments=files.of_message(message, connection),
        addressed=message.guild is None or told or bool(mentioned & ours) or answered == connection.us,
        to_others=bool(mentioned - ours) or message.mention_everyone or answered not in ourselves,
        by_bot=message.author.bot or message.webhook_id is not None,
        in_thread=place.thread not in {"", str(message.id)},
        uri=message.jump_url,
        at=message.created_at.timestamp(),
        ours=message.author.id == connection.us,
    )


def person(user: discord.User | discord.Member, *, language: str = "") -> Person:
    return Person(id=str(user.id), name=user.display_name, language=language)


def asked_about(used: Used, connection: Connection) -> IncomingMessage | None:
    """The message that somebody pointed at in its menu, as their own question, for their eyes only."""
    payload = used.data.get("resolved", {}).get("messages", {}).get(str(used.target))
    if payload is None:
        return None
    # discord.py makes messages of interactions by its own command tree only, which we have no use for.
    client = connection.client
    channel = client.get_channel(used.channel)
    where = channel or client.get_partial_messageable(used.channel, guild_id=used.guild)
    message = discord.Message(state=client._connection, channel=where, data=payload)  # pyright: ignore[reportArgumentType]
    place = used.place
    if not place.thread:
        above = message.id if connection.settings.threads else None
        place = places.place(channel, guild=used.guild, channel_id=used.channel, message=above)
    return replace(
        incoming(message, place, connection),
        id=str(used.id),
        about=str(message.id),
        handle=used.handle,
        person=used.person,
        addressed=True,
        to_others=False,
        by_bot=False,
        ours=False,
        private=True,
    )


def language(interaction: discord.Interaction) -> str:
    """The language of the person's client."""
    return str(interaction.locale).partition("-")[0]


def text(message: discord.Message, ours: frozenset[str]) -> str:
    """What it says, and what a message says that it forwards."""
    names = Names(
        ours=ours,
        people={str(user.id): user.display_name for user in message.mentions},
        roles={str(role.id): role.name for role in message.role_mentions},
        channels=_channel_names(message),
    )
    said = [message.content, *(snapshot.content for snapshot in message.message_snapshots)]
    return "\n\n".join(cleaned for each in said if (cleaned := clean(each, names)))


def _our_ids(guild: discord.Guild | None, connection: Connection) -> frozenset[str]:
    """Mentions of these mean us: our user, and the role that Discord made for us in this server."""
    role = None if guild is None else guild.self_role
    return frozenset({str(connection.us)} | ({str(role.id)} if role else set[str]()))


def _mentioned(message: discord.Message) -> frozenset[str]:
    """Users and roles that the text itself names: a reply mentions its author too, without a word about them."""
    return frozenset(str(each) for each in (*message.raw_mentions, *message.raw_role_mentions))


def _channel_names(message: discord.Message) -> dict[str, str]:
    if message.guild is None:
        return {}
    found = ((each, message.guild.get_channel_or_thread(each)) for each in message.raw_channel_mentions)
    return {str(each): channel.name for each, channel in found if channel is not None}


def _answered_author(message: discord.Message) -> int | None:
    """Who wrote the message that this one replies to."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    answered = message.reference.resolved
    return answered.author.id if isinstance(answered, discord.Message) else None
