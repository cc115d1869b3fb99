from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import discord

from adapters.discord.api import rate_limit_trace, unreadable
from adapters.discord.installation import required_permissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adapters.discord.settings import Settings

_log = logging.getLogger(__name__)
_ESSENTIAL = frozenset({"READY", "RESUMED"})
_GUILD_READY_SECONDS = 0.2
_RATE_LIMIT_WAIT_SECONDS = 30.0
_SESSIONS_PER_DAY = 1000


class Listener(Protocol):
    """Its methods return at once."""

    def session_started(self) -> None: ...

    def ready(self) -> None: ...

    def message_created(self, message: discord.Message) -> None: ...

    def message_edited(self, message: discord.Message) -> None: ...

    def messages_deleted(self, guild: int | None, channel: int, messages: Iterable[int]) -> None: ...

    def interaction_created(self, interaction: discord.Interaction) -> None: ...

    def guild_joined(self, guild: discord.Guild) -> None: ...


# Without voice nobody needs PyNaCl or davey.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class DiscordClient(discord.Client):
    listener: Listener | None = None

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            intents=required_permissions.intents(settings),
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=_GUILD_READY_SECONDS,
            http_trace=rate_limit_trace(),
            max_ratelimit_timeout=_RATE_LIMIT_WAIT_SECONDS,
            heartbeat_timeout=settings.silent_seconds,
        )
        parsers = self._connection.parsers
        for event in parsers.keys() - _ESSENTIAL:
            parsers[event] = _guarded(event, parsers[event])
        self.sessions: deque[float] = deque(maxlen=_SESSIONS_PER_DAY)

    def sessions_since(self, since: float) -> int:
        return sum(started >= since for started in self.sessions)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        self.sessions.append(time.monotonic())
        await super().before_identify_hook(shard_id, initial=initial)

    async def on_connect(self) -> None:
        if self.listener is not None:
            self.listener.session_started()

    async def on_ready(self) -> None:
        if self.listener is not None:
            self.listener.ready()

    async def on_message(self, message: discord.Message) -> None:
        if self.listener is not None:
            self.listener.message_created(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        if self.listener is not None and _text_changed(event):
            self.listener.message_edited(event.message)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        if self.listener is not None:
            self.listener.messages_deleted(event.guild_id, event.channel_id, [event.message_id])

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if self.listener is not None:
            self.listener.messages_deleted(event.guild_id, event.channel_id, sorted(event.message_ids))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        if self.listener is not None:
            self.listener.guild_joined(guild)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if self.listener is not None:
            self.listener.interaction_created(interaction)


def _guarded(event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
    """An event that cannot be read must not end the connection."""

    def guarded(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:  # noqa: BLE001 - discord.py parses without checks
            _log.warning("Discord event %s was skipped: %s", event, unreadable(error))

    return guarded


def _text_changed(event: discord.RawMessageUpdateEvent) -> bool:
    if event.cached_message is not None:
        return event.cached_message.content != event.message.content
    return event.message.edited_at is not None
