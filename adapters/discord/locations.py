from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import discord

from bot.port import NO_WORKSPACE, Place

if TYPE_CHECKING:
    from adapters.discord.context import DiscordContext

PLATFORM = "discord"
DIRECT = NO_WORKSPACE
"""As in Discord's links."""

_PERMALINK = re.compile(
    r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/channels/(?P<guild>@me|\d+)/(?P<channel>\d+)/(?P<message>\d+)/?"
)
AnyChannel: TypeAlias = "discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel | discord.PartialMessageable | None"


def answer_place(
    channel: AnyChannel, *, guild: int | None, channel_id: int, message: int | None = None
) -> Place:
    workspace = DIRECT if guild is None else str(guild)
    if isinstance(channel, discord.Thread):
        return Place(
            platform=PLATFORM, workspace=workspace, channel=str(channel.parent_id), thread=str(channel.id)
        )
    thread = str(message) if message is not None and may_open_thread(channel) else ""
    return Place(platform=PLATFORM, workspace=workspace, channel=str(channel_id), thread=thread)


def may_open_thread(channel: AnyChannel) -> bool:
    if not isinstance(channel, discord.TextChannel):
        return False
    granted = channel.permissions_for(channel.guild.me)
    return granted.create_public_threads and granted.send_messages_in_threads


async def find_channel(context: DiscordContext, channel_id: int, known: AnyChannel = None) -> AnyChannel:
    """Fetches archived threads. Call inside `api_calls`."""
    if known is not None and not isinstance(known, discord.PartialMessageable):
        return known
    return context.client.get_channel(channel_id) or await context.client.fetch_channel(channel_id)


def parse_link(link: str) -> tuple[str, int, int] | None:
    match = _PERMALINK.fullmatch(link.strip().strip("<>"))
    return (match["guild"], int(match["channel"]), int(match["message"])) if match else None
