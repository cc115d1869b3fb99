"""Both doubles behind one set of verbs: what people do and see. All ids are strings.

`people` are ada (an administrator), ben and cleo; `rooms` are `general` for all and `projects` for ada and ben. In texts, `@footnote`
mentions the bot and `@ben` ben.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.doubles.chats.chat import Chat, Room
from tests.doubles.chats.discord import DiscordChat
from tests.doubles.chats.slack import SlackChat
from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.slack_double.server import SlackServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

__all__ = ["PLATFORMS", "Chat", "DiscordChat", "Room", "SlackChat", "serve"]
PLATFORMS = ("slack", "discord")


@asynccontextmanager
async def serve(platform: str, port: int = 0) -> AsyncGenerator[Chat]:
    if platform == "slack":
        async with SlackServer.serving(port) as slack:
            yield SlackChat(slack)
    else:
        async with DiscordServer.serving(port) as discord:
            yield DiscordChat(discord)
