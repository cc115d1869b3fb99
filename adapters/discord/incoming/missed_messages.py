"""Messages sent between sessions, which Discord does not replay."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.discord.api import api_calls
from adapters.discord.incoming.history import newest_messages
from adapters.discord.locations import DIRECT, PLATFORM
from bot.port import ChatError, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from adapters.discord.context import DiscordContext
    from adapters.discord.settings import Settings
    from bot.port import ChatService

    GuildMessageable: TypeAlias = (
        discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
    )
    Readable: TypeAlias = GuildMessageable | discord.PartialMessageable

_log = logging.getLogger(__name__)
_OVERLAP_SECONDS = 60.0
"""The latest messages may be unhandled."""
_MOST_MESSAGES = 200
_MOST_CHANNELS = 300
_MOST_DIRECT_CHANNELS = 20
_MOST_ATTEMPTS = 8


class MissedMessages:
    """Ids grow with time. `seen` is the newest known one (0: none), `since` where the first search starts. No session
    lists `direct` conversations (latest last).
    """

    def __init__(self, *, seen: int = 0, since: int = 0, direct: tuple[int, ...] = ()) -> None:
        self._newest = self._seen = seen
        self._since = since
        self._looked_back = False
        self._direct = dict.fromkeys(direct)

    def record(self, message: discord.Message) -> None:
        self._newest = max(self._newest, message.id)
        if message.guild is None:
            self._direct.pop(message.channel.id, None)
            self._direct[message.channel.id] = None
            if len(self._direct) > _MOST_DIRECT_CHANNELS:
                del self._direct[next(iter(self._direct))]

    def session_started(self) -> None:
        """Without a search since the last session, its gap counts too."""
        if self._looked_back:
            self._since = self._seen = self._newest
            self._looked_back = False

    async def messages(self, context: DiscordContext) -> AsyncIterator[tuple[discord.Message, bool]]:
        """By channel, oldest first; True if nobody saw it. Retries for some minutes."""
        since, seen = self._since, self._seen
        self._looked_back = True
        if not since:
            return
        left = list(self._channels_with_news(context.client, since))
        wait = context.settings.retry_seconds
        for _ in range(_MOST_ATTEMPTS):
            waiting, left = left, []
            for channel in waiting:
                try:
                    newest_first = await _history(channel, since, context)
                except (Throttled, Unreachable) as error:
                    _log.info("missed messages of channel %s cannot be read yet: %s", channel.id, error)
                    left.append(channel)
                    continue
                except ChatError as error:
                    _log.info("missed messages of channel %s cannot be read: %s", channel.id, error)
                    continue
                for message in reversed(newest_first):
                    yield message, message.id > seen
            if not left:
                return
            await asyncio.sleep(wait)
            wait *= 2
        _log.warning("missed messages of %d channels could not be read", len(left))

    def _channels_with_news(self, client: discord.Client, since: int) -> Iterator[Readable]:
        """A session starts with all active threads."""
        channels: list[GuildMessageable] = [
            each
            for guild in client.guilds
            for each in (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
        ]
        newer = (each for each in channels if (each.last_message_id or 0) > since)
        yield from sorted(newer, key=lambda each: -(each.last_message_id or 0))[:_MOST_CHANNELS]
        yield from (client.get_partial_messageable(each) for each in reversed(list(self._direct)))


async def _history(channel: Readable, since: int, context: DiscordContext) -> list[discord.Message]:
    async with api_calls(context.settings.call_seconds):
        return await newest_messages(context.client, channel, limit=_MOST_MESSAGES, after=since)


async def missed_since_last_run(service: ChatService, settings: Settings) -> MissedMessages:
    """Limited to `look_back_seconds`."""
    latest = await service.last_message_at(PLATFORM)
    if not latest or not settings.look_back_seconds:
        return MissedMessages()
    since = max(latest - _OVERLAP_SECONDS, time.time() - settings.look_back_seconds)
    direct = await service.answered_channels(PLATFORM, DIRECT, limit=_MOST_DIRECT_CHANNELS)
    return MissedMessages(
        seen=_snowflake(latest), since=_snowflake(since), direct=tuple(map(int, reversed(direct)))
    )


def _snowflake(seconds: float) -> int:
    return discord.utils.time_snowflake(datetime.fromtimestamp(seconds, UTC), high=True)
