"""What the operator may set, and where Discord is."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import BaseModel, ConfigDict, Field, SecretStr

if TYPE_CHECKING:
    from collections.abc import Iterator


class Settings(BaseModel):
    """How the bot serves Discord. `api_base` and `gateway_url` are for private gateways and tests; empty means Discord's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: SecretStr
    api_base: str = ""
    """Up to and with the version: `https://discord.com/api/v10`."""
    gateway_url: str = ""
    message_content: bool = True
    """Read messages that do not mention us (thread follow-ups, the mode `auto`): a privileged intent that the portal must allow."""
    threads: bool = True
    """Answer a question of a text channel in a thread made from it; otherwise as a reply in the channel."""
    thread_minutes: Literal[60, 1440, 4320, 10080] = 1440
    """Idle time after which Discord archives a thread that we made."""
    call_seconds: float = Field(default=20, gt=0)
    """The longest that one call to Discord may take."""
    file_seconds: float = Field(default=300, gt=0)
    """The longest that the download of one file may take."""
    retry_seconds: float = Field(default=5, gt=0)
    """The first wait before Discord is tried again; each further one is twice as long, up to five minutes."""
    silent_seconds: float = Field(default=60, gt=0)
    """A connection that says nothing for so long, not even to a heartbeat, is taken up anew. Discord asks for one every 41 s."""
    dead_seconds: float = Field(default=45, gt=0)
    """Without a connection for so long, everything about it is begun anew: discord.py waits ever longer, up to 17 minutes."""
    look_back_seconds: float = Field(default=3600, ge=0)
    """Questions that came while the bot was not running are answered when they are no older than this; an older one has been given up on."""
    close_seconds: float = Field(default=10, gt=0)
    """How long what is under way may take to end when the bot stops."""


@contextmanager
def endpoints(settings: Settings) -> Iterator[None]:
    """Point discord.py at the servers of the settings: it knows them as attributes of two classes only."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    if settings.api_base:
        Route.BASE = settings.api_base.rstrip("/")
    if settings.gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
