"""The doubled Discord with discord.py pointed at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import discord
import pytest
import yarl

from tests.doubles.discord_double.server import serve
from tests.unit.doubles.discord_bot import World

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World]:
    async with serve() as server:
        monkeypatch.setattr(discord.http.Route, "BASE", server.api_url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))
        yield World(server=server, ada=server.add_user("ada"))
