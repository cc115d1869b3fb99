"""Messages that came while there was no session: Discord replays events of a session that goes on, but not those between two."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.discord.border import calls
from bot.port import ChatError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from adapters.discord.connection import Connection

    Written: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread

_log = logging.getLogger(__name__)
_MOST_MESSAGES = 50
_MOST_CHANNELS = 100
_MOST_DIRECT = 20


class Missed:
    """Ids grow with time over all of Discord: whatever is newer than the newest message seen was missed."""

    def __init__(self) -> None:
        self._newest = 0
        self._since = 0
        self._direct: dict[int, None] = {}

    def saw(self, message: discord.Message) -> None:
        """Direct messages are remembered by where they stand: a new session tells nothing of them."""
        self._newest = max(self._newest, message.id)
        if message.guild is None:
            self._direct.pop(message.channel.id, None)
            self._direct[message.channel.id] = None
            if len(self._direct) > _MOST_DIRECT:
                del self._direct[next(iter(self._direct))]

    def begins(self) -> None:
        """A session begins: what comes from now on is seen."""
        self._since = self._newest

    async def messages(self, connection: Connection) -> AsyncIterator[discord.Message]:
        """The latest of each channel, thread and direct conversation, each oldest first; none when nothing was seen before."""
        if not self._since:
            return
        after = discord.Object(self._since)
        for channel in self._newer(connection.client):
            try:
                async with calls(connection.settings.call_seconds):
                    history = channel.history(limit=_MOST_MESSAGES, after=after, oldest_first=False)
                    newest_first = [each async for each in history]
            except ChatError as error:
                _log.info("what was missed in channel %s cannot be read: %s", channel.id, error)
                continue
            for message in reversed(newest_first):
                yield message

    def _newer(self, client: discord.Client) -> Iterator[Written | discord.PartialMessageable]:
        channels: list[Written] = [
            each
            for guild in client.guilds
            for each in (*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads)
        ]
        newer = (each for each in channels if (each.last_message_id or 0) > self._since)
        yield from sorted(newer, key=lambda each: -(each.last_message_id or 0))[:_MOST_CHANNELS]
        yield from (client.get_partial_messageable(each) for each in reversed(list(self._direct)))
