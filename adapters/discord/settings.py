from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import BaseModel, ConfigDict, Field

from bot.port import HeaderSecret

if TYPE_CHECKING:
    from collections.abc import Iterator


class Settings(BaseModel):
    """`api_base` and `gateway_url` are for private gateways and tests; empty means Discord's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: HeaderSecret
    """Bot token."""
    api_base: str = ""
    """Address of the API with its version: `https://discord.com/api/v10`."""
    gateway_url: str = ""
    """Address of the gateway."""
    message_content: bool = True
    """Read messages that do not mention the bot (follow-ups in threads, the mode `auto`); needs a privileged intent."""
    threads: bool = True
    """Answer questions of text channels in a thread; otherwise as a reply."""
    thread_minutes: Literal[60, 1440, 4320, 10080] = 1440
    """Idle minutes after which Discord archives a thread that the bot opened."""
    call_seconds: float = Field(default=20, gt=0)
    """Timeout of one call to Discord."""
    file_seconds: float = Field(default=300, gt=0)
    """Timeout of one file download."""
    retry_seconds: float = Field(default=5, gt=0)
    """The first wait before a retry; doubles up to five minutes."""
    silent_seconds: float = Field(default=60, gt=0)
    """How long a connection may be silent before it is replaced. Discord expects a heartbeat every 41 s."""
    dead_seconds: float = Field(default=45, gt=0)
    """How long to wait for discord.py, which backs off up to 17 minutes, before starting over."""
    look_back_seconds: float = Field(default=3600, ge=0)
    """How old a missed question may be to be answered when the bot starts."""
    history_calls: int = Field(default=30, ge=1, le=60)
    """Background reads of channels that are sources, in `history_seconds`."""
    history_seconds: float = Field(default=60.0, gt=0)
    """The time of `history_calls`."""
    close_seconds: float = Field(default=10, gt=0)
    """How long running work may take to end when the bot stops."""


@contextmanager
def endpoints(settings: Settings) -> Iterator[None]:
    """Point discord.py at the configured servers, which are class attributes there."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    if settings.api_base:
        Route.BASE = settings.api_base.rstrip("/")
    if settings.gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
