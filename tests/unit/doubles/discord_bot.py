"""A discord.py bot connected to the double."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.doubles.discord_double.server import DiscordServer


class Bot(discord.Client):
    """Records events; handles messages and interactions as the test says."""

    def __init__(self, server: DiscordServer, **options: Any) -> None:
        intents = discord.Intents(guilds=True, messages=True, message_content=True)
        options.setdefault("intents", intents)
        super().__init__(allowed_mentions=discord.AllowedMentions.none(), guild_ready_timeout=0.01, **options)
        self.tree = app_commands.CommandTree(self)
        self.server = server
        self.heard: list[discord.Message] = []
        self.edits: list[discord.RawMessageUpdateEvent] = []
        self.deletes: list[discord.RawMessageDeleteEvent] = []
        self.interactions: list[discord.Interaction] = []
        self.reply: Callable[[discord.Message], Awaitable[None]] | None = None
        self.act: Callable[[discord.Interaction], Awaitable[None]] | None = None

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.append(message)
            self.server.changed()
            if self.reply is not None:
                await self.reply(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        self.edits.append(event)
        self.server.changed()

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        self.deletes.append(event)
        self.server.changed()

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.interactions.append(interaction)
        if self.act is not None:
            await self.act(interaction)


@dataclass
class World:
    server: DiscordServer
    ada: Any = None
    bots: list[Bot] = field(default_factory=list)

    @asynccontextmanager
    async def bot(self, **options: Any) -> AsyncIterator[Bot]:
        async with Bot(self.server, **options) as bot:
            running = asyncio.create_task(bot.start(self.server.token), name="discord.py")
            try:
                async with asyncio.timeout(5):
                    await bot.wait_until_ready() if not running.done() else None
                yield bot
            finally:
                await bot.close()
                await asyncio.gather(running, return_exceptions=True)
