"""Places: which server, channel and thread something stands in, and whether we may open a thread there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import discord

from bot.port import Place

if TYPE_CHECKING:
    from adapters.discord.connection import Connection

PLATFORM = "discord"
DIRECT = "@me"
"""The workspace of direct messages, as Discord's own links name it."""

_LINK = re.compile(
    r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/channels/(?P<guild>@me|\d+)/(?P<channel>\d+)/(?P<message>\d+)/?"
)
Somewhere: TypeAlias = "discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel | discord.PartialMessageable | None"


def place(channel: Somewhere, *, guild: int | None, channel_id: int, message: int | None = None) -> Place:
    """Where a message of the channel is answered. With `message`, a top-level one is answered in a thread made from it."""
    workspace = DIRECT if guild is None else str(guild)
    if isinstance(channel, discord.Thread):
        return Place(
            platform=PLATFORM, workspace=workspace, channel=str(channel.parent_id), thread=str(channel.id)
        )
    thread = str(message) if message is not None and may_open_thread(channel) else ""
    return Place(platform=PLATFORM, workspace=workspace, channel=str(channel_id), thread=thread)


def may_open_thread(channel: Somewhere) -> bool:
    """Whether a thread can be made from a message of the channel, told from what is known without a call."""
    if not isinstance(channel, discord.TextChannel):
        return False
    granted = channel.permissions_for(channel.guild.me)
    return granted.create_public_threads and granted.send_messages_in_threads


async def locate(connection: Connection, channel_id: int, known: Somewhere = None) -> Somewhere:
    """The channel or thread; asked for when it is not known, as a thread is that was archived before we came.

    Inside `border.calls`; raises what discord.py does when there is none.
    """
    if known is not None and not isinstance(known, discord.PartialMessageable):
        return known
    return connection.client.get_channel(channel_id) or await connection.client.fetch_channel(channel_id)


def linked(link: str) -> tuple[str, int, int] | None:
    """Workspace, channel and message of a permalink; None for any other text."""
    found = _LINK.fullmatch(link.strip().strip("<>"))
    return (found["guild"], int(found["channel"]), int(found["message"])) if found else None
