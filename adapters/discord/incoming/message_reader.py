from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import discord

from adapters.discord import locations
from adapters.discord.api import unreadable
from adapters.discord.incoming import downloads
from adapters.discord.markdown import MentionNames, to_commonmark
from bot.port import IncomingMessage, Person

if TYPE_CHECKING:
    from adapters.discord.context import DiscordContext
    from adapters.discord.incoming.interaction_record import InteractionRecord
    from bot.port import Place

_WRITTEN_TYPES = frozenset(
    {
        discord.MessageType.default,
        discord.MessageType.reply,
        discord.MessageType.chat_input_command,
        discord.MessageType.context_menu_command,
    }
)


def is_written(message: discord.Message) -> bool:
    """Not "joined the server"."""
    return message.type in _WRITTEN_TYPES


def incoming(message: discord.Message, place: Place, context: DiscordContext) -> IncomingMessage:
    """Raises `Unreadable`: discord.py leaves absent fields unset."""
    try:
        return _incoming(message, place, context)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise unreadable(error) from error


def _incoming(message: discord.Message, place: Place, context: DiscordContext) -> IncomingMessage:
    ours = _our_ids(message.guild, context)
    mentioned = _mentioned(message)
    replied_to = _replied_to_author(message)
    nobody_else = {None, message.author.id, context.own_id}
    mentioned_directly = any(user.id == context.own_id for user in message.mentions)
    return IncomingMessage(
        id=str(message.id),
        place=place,
        person=person(message.author),
        text=text(message, ours),
        attachments=downloads.message_attachments(message, context),
        addressed=message.guild is None
        or mentioned_directly
        or bool(mentioned & ours)
        or replied_to == context.own_id,
        to_others=bool(mentioned - ours) or message.mention_everyone or replied_to not in nobody_else,
        by_bot=message.author.bot or message.webhook_id is not None,
        in_thread=place.thread not in {"", str(message.id)},
        uri=message.jump_url,
        replies_to=_replies_to(message),
        at=message.created_at.timestamp(),
        ours=message.author.id == context.own_id,
    )


def person(user: discord.User | discord.Member, *, language: str = "") -> Person:
    return Person(id=str(user.id), name=user.display_name, language=language)


def question_about(record: InteractionRecord, context: DiscordContext) -> IncomingMessage | None:
    payload = record.data.get("resolved", {}).get("messages", {}).get(str(record.target))
    if payload is None:
        return None
    # discord.py does this only in its own command tree.
    client = context.client
    channel = client.get_channel(record.channel)
    messageable = channel or client.get_partial_messageable(record.channel, guild_id=record.guild)
    message = discord.Message(state=client._connection, channel=messageable, data=payload)  # pyright: ignore[reportArgumentType]
    place = record.place
    if not place.thread:
        starter = message.id if context.settings.threads else None
        place = locations.answer_place(
            channel, guild=record.guild, channel_id=record.channel, message=starter
        )
    return replace(
        incoming(message, place, context),
        id=str(record.id),
        about=str(message.id),
        author=str(message.author.id),
        handle=record.handle,
        person=record.person,
        addressed=True,
        to_others=False,
        by_bot=False,
        ours=False,
        private=True,
    )


def language(interaction: discord.Interaction) -> str:
    return str(interaction.locale).partition("-")[0]


def text(message: discord.Message, ours: frozenset[str]) -> str:
    names = MentionNames(
        ours=ours,
        people={str(user.id): user.display_name for user in message.mentions},
        roles={str(role.id): role.name for role in message.role_mentions},
        channels=_channel_names(message),
    )
    texts = [message.content, *(snapshot.content for snapshot in message.message_snapshots)]
    return "\n\n".join(converted for each in texts if (converted := to_commonmark(each, names)))


def _our_ids(guild: discord.Guild | None, context: DiscordContext) -> frozenset[str]:
    role = None if guild is None else guild.self_role
    return frozenset({str(context.own_id)} | ({str(role.id)} if role else set[str]()))


def _mentioned(message: discord.Message) -> frozenset[str]:
    return frozenset(str(each) for each in (*message.raw_mentions, *message.raw_role_mentions))


def _channel_names(message: discord.Message) -> dict[str, str]:
    if message.guild is None:
        return {}
    channels = ((each, message.guild.get_channel_or_thread(each)) for each in message.raw_channel_mentions)
    return {str(each): channel.name for each, channel in channels if channel is not None}


def _replies_to(message: discord.Message) -> str:
    is_reply = message.type is discord.MessageType.reply and message.reference is not None
    return str(message.reference.message_id or "") if is_reply and message.reference else ""


def _replied_to_author(message: discord.Message) -> int | None:
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    original = message.reference.resolved
    return original.author.id if isinstance(original, discord.Message) else None
