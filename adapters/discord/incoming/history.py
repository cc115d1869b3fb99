"""Inside `api_calls`. An unreadable message costs only itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, cast

import discord

from adapters.discord import locations
from adapters.discord.api import api_calls, unreadable
from adapters.discord.incoming import message_reader
from bot.port import HistoryPage, Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.discord.context import DiscordContext
    from bot.port import IncomingMessage, Place

_log = logging.getLogger(__name__)
_PAGE_SIZE: Final = 100


async def newest_messages(
    client: discord.Client, channel: discord.abc.Messageable, *, limit: int, before: int = 0, after: int = 0
) -> list[discord.Message]:
    target, found, left = await channel._get_channel(), list["discord.Message"](), limit
    while left > 0:
        raw = _listed(await client.http.logs_from(target.id, min(left, _PAGE_SIZE), before=before or None))
        found += _messages(client, target, raw)
        left -= len(raw)
        identities = [identity for each in raw if (identity := _identity(each))]
        if len(raw) < _PAGE_SIZE or not identities or min(identities) <= after:
            break
        before = min(identities)
    return [each for each in sorted(found, key=_newest) if each.id > after]


async def messages_after(
    client: discord.Client, channel: discord.abc.Messageable, *, after: int
) -> list[discord.Message]:
    target = await channel._get_channel()
    raw = _listed(await client.http.logs_from(target.id, _PAGE_SIZE, after=after))
    return sorted(_messages(client, target, raw), key=_newest, reverse=True)


async def channel_page(context: DiscordContext, place: Place, *, cursor: str, until: str) -> HistoryPage:
    await context.history_pace.turn()
    async with api_calls(context.settings.call_seconds):
        channel = await locations.find_channel(context, int(place.channel))
        if isinstance(channel, discord.ForumChannel):
            return HistoryPage(threads=await _posts(channel))
        if not isinstance(channel, discord.abc.Messageable):
            return HistoryPage()
        target = await channel._get_channel()
        raw = _listed(
            await context.client.http.logs_from(target.id, _PAGE_SIZE, before=int(cursor) if cursor else None)
        )
        found = sorted(_messages(context.client, target, raw), key=_newest)
    newer = [each for each in found if each.id > int(until or 0)]
    seen = [identity for each in raw if (identity := _identity(each))]
    is_last = len(raw) < _PAGE_SIZE or not seen or min(seen) <= int(until or 0)
    return HistoryPage(
        messages=_incoming(context, place, newer),
        seen=tuple(map(str, seen)),
        threads=tuple(thread for each in newer if (thread := _thread_of(each))),
        cursor="" if is_last else str(min(seen)),
    )


async def thread_page(context: DiscordContext, place: Place, *, thread: str, cursor: str) -> HistoryPage:
    """Nothing of a private thread, or of one of another channel."""
    await context.history_pace.turn()
    async with api_calls(context.settings.call_seconds):
        try:
            channel = await locations.find_channel(context, int(thread))
        except discord.NotFound:
            return HistoryPage()
        if not isinstance(channel, discord.Thread) or channel.is_private():
            return HistoryPage()
        if str(channel.parent_id) != place.channel:
            return HistoryPage()
        raw = _listed(await context.client.http.logs_from(channel.id, _PAGE_SIZE, after=int(cursor or 0)))
        found = sorted(_messages(context.client, channel, raw), key=_newest, reverse=True)
    within = locations.answer_place(channel, guild=int(place.workspace), channel_id=channel.id)
    seen = [identity for each in raw if (identity := _identity(each))]
    return HistoryPage(
        messages=_incoming(context, within, found),
        seen=tuple(map(str, seen)),
        cursor=str(max(seen)) if len(raw) == _PAGE_SIZE and seen else "",
    )


async def _posts(forum: discord.ForumChannel) -> tuple[str, ...]:
    archived = [str(each.id) async for each in forum.archived_threads(limit=None)]
    return (*(str(each.id) for each in forum.threads), *archived)


def _thread_of(message: discord.Message) -> str:
    if message.type is discord.MessageType.thread_created and message.reference is not None:
        return str(message.reference.channel_id)
    return str(message.id) if message.flags.has_thread else ""


def _incoming(
    context: DiscordContext, place: Place, found: Sequence[discord.Message]
) -> tuple[IncomingMessage, ...]:
    read: list[IncomingMessage] = []
    for each in found:
        if message_reader.is_written(each):
            try:
                read.append(message_reader.incoming(each, place, context))
            except Unreadable as error:
                _log.warning("a message is left out: %s", error)
    return tuple(read)


def _newest(message: discord.Message) -> int:
    return -message.id


def _listed(raw: object) -> list[Any]:
    if not isinstance(raw, list):
        raise Unreadable(f"Discord's answer is {type(raw).__name__} instead of a list of messages")
    return cast("list[Any]", raw)


def _messages(client: discord.Client, channel: Any, raw: list[Any]) -> list[discord.Message]:
    messages: list[discord.Message] = []
    for data in raw:
        try:
            message = client._connection.create_message(channel=channel, data=data)
            _ = message.author.id, message.type, message.mentions  # discord.py leaves absent fields unset
            messages.append(message)
        except Exception as error:  # noqa: BLE001 - discord.py parses without checks
            _log.warning("a message is left out: %s", unreadable(error))
    return messages


def _identity(data: Any) -> int:
    try:
        return int(data["id"])
    except (LookupError, TypeError, ValueError):
        return 0
