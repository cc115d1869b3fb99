"""Inside `api_calls`. An unreadable message costs only itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, cast

from adapters.discord.api import unreadable
from bot.port import Unreadable

if TYPE_CHECKING:
    import discord

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
