"""Messages that came while there was no session: Discord replays events of a session that goes on, but not those between two."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.discord.border import calls
from adapters.discord.places import DIRECT, PLATFORM
from bot.port import ChatError, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from adapters.discord.connection import Connection
    from adapters.discord.settings import Settings
    from bot.port import ChatService

    Written: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
    Readable: TypeAlias = Written | discord.PartialMessageable

_log = logging.getLogger(__name__)
_OVERLAP_SECONDS = 60.0
"""A question that was asked shortly before the latest one that was looked at may not have been taken up itself."""
_MOST_MESSAGES = 200
_MOST_CHANNELS = 300
_MOST_DIRECT = 20
_MOST_ATTEMPTS = 8


class Missed:
    """Ids grow with time over all of Discord: whatever is newer than the newest message seen was missed.

    `seen` is the newest that the process before us saw (0: none), `since` where the first look back begins: a little before it,
    as what was seen there may not have been taken up. `direct` are conversations that a session tells nothing of, the latest last.
    """

    def __init__(self, *, seen: int = 0, since: int = 0, direct: tuple[int, ...] = ()) -> None:
        self._newest = self._seen = seen
        self._since = since
        self._looked_back = False
        self._direct = dict.fromkeys(direct)

    def saw(self, message: discord.Message) -> None:
        """Direct messages are remembered by where they stand: a new session tells nothing of them."""
        self._newest = max(self._newest, message.id)
        if message.guild is None:
            self._direct.pop(message.channel.id, None)
            self._direct[message.channel.id] = None
            if len(self._direct) > _MOST_DIRECT:
                del self._direct[next(iter(self._direct))]

    def begins(self) -> None:
        """A session begins: what comes from now on is seen. One that ended before anybody looked back leaves that to the next."""
        if self._looked_back:
            self._since = self._seen = self._newest
            self._looked_back = False

    async def messages(self, connection: Connection) -> AsyncIterator[tuple[discord.Message, bool]]:
        """The latest of each channel, thread and direct conversation, each oldest first, and whether it is one that nobody saw.

        None when nothing was seen before. A channel that Discord does not tell of now is asked for again, for some minutes.
        """
        since, seen = self._since, self._seen
        self._looked_back = True
        if not since:
            return
        left = list(self._newer(connection.client, since))
        wait = connection.settings.retry_seconds
        for _ in range(_MOST_ATTEMPTS):
            asked, left = left, []
            for channel in asked:
                try:
                    newest_first = await _history(channel, since, connection)
                except (Throttled, Unreachable) as error:
                    _log.info("what was missed in channel %s cannot be read yet: %s", channel.id, error)
                    left.append(channel)
                    continue
                except ChatError as error:
                    _log.info("what was missed in channel %s cannot be read: %s", channel.id, error)
                    continue
                for message in reversed(newest_first):
                    yield message, message.id > seen
            if not left:
                return
            await asyncio.sleep(wait)
            wait *= 2
        _log.warning("what was missed in %d channels could not be read", len(left))

    def _newer(self, client: discord.Client, since: int) -> Iterator[Readable]:
        """A forum's posts are threads, and a session begins with all threads that are not archived."""
        channels: list[Written] = [
            each
            for guild in client.guilds
            for each in (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
        ]
        newer = (each for each in channels if (each.last_message_id or 0) > since)
        yield from sorted(newer, key=lambda each: -(each.last_message_id or 0))[:_MOST_CHANNELS]
        yield from (client.get_partial_messageable(each) for each in reversed(list(self._direct)))


async def _history(channel: Readable, since: int, connection: Connection) -> list[discord.Message]:
    async with calls(connection.settings.call_seconds):
        history = channel.history(limit=_MOST_MESSAGES, after=discord.Object(since), oldest_first=False)
        return [each async for each in history]


async def missed_since_we_ran(service: ChatService, settings: Settings) -> Missed:
    """What came since a process of ours last looked at a message, as far as it is looked back; nothing when none ever did."""
    heard = await service.heard(PLATFORM)
    if not heard or not settings.look_back_seconds:
        return Missed()
    since = max(heard - _OVERLAP_SECONDS, time.time() - settings.look_back_seconds)
    direct = await service.answered_in(PLATFORM, DIRECT, limit=_MOST_DIRECT)
    return Missed(seen=_snowflake(heard), since=_snowflake(since), direct=tuple(map(int, reversed(direct))))


def _snowflake(seconds: float) -> int:
    """The greatest id that anything made until then can have."""
    return discord.utils.time_snowflake(datetime.fromtimestamp(seconds, UTC), high=True)
