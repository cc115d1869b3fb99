"""The client: least intents, no pings, and its events handed on."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

import discord

from adapters.discord import needs
from adapters.discord.border import tracing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adapters.discord.settings import Settings

# on_ready comes this long after the last server that Discord named; questions are answered before that.
_QUIET_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 30.0
_SESSIONS_A_DAY = 1000


class Listener(Protocol):
    """Whoever deals with events. Each method returns at once."""

    def connected(self) -> None: ...

    def ready(self) -> None: ...

    def wrote(self, message: discord.Message) -> None: ...

    def edited(self, message: discord.Message) -> None: ...

    def deleted(self, guild: int | None, channel: int, messages: Iterable[int]) -> None: ...

    def interacted(self, interaction: discord.Interaction) -> None: ...


class Bot(discord.Client):
    """A client that does nothing with events before it has a listener."""

    listener: Listener | None = None

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            intents=needs.intents(settings),
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=_QUIET_SECONDS,
            http_trace=tracing(),
            max_ratelimit_timeout=_LONGEST_WAIT_SECONDS,
            heartbeat_timeout=settings.silent_seconds,
        )
        self.sessions: deque[float] = deque(maxlen=_SESSIONS_A_DAY)
        """When it began its latest sessions, by `time.monotonic`."""

    def sessions_since(self, since: float) -> int:
        """How many of them were begun from then on."""
        return sum(begun >= since for begun in self.sessions)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        self.sessions.append(time.monotonic())
        await super().before_identify_hook(shard_id, initial=initial)

    async def on_connect(self) -> None:
        if self.listener is not None:
            self.listener.connected()

    async def on_ready(self) -> None:
        if self.listener is not None:
            self.listener.ready()

    async def on_message(self, message: discord.Message) -> None:
        if self.listener is not None:
            self.listener.wrote(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        if self.listener is not None and _says_something_else(event):
            self.listener.edited(event.message)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        if self.listener is not None:
            self.listener.deleted(event.guild_id, event.channel_id, [event.message_id])

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if self.listener is not None:
            self.listener.deleted(event.guild_id, event.channel_id, sorted(event.message_ids))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if self.listener is not None:
            self.listener.interacted(interaction)


def _says_something_else(event: discord.RawMessageUpdateEvent) -> bool:
    """Previews of links, pins and threads change a message too, but not what a person wrote."""
    if event.cached_message is not None:
        return event.cached_message.content != event.message.content
    return event.message.edited_at is not None
