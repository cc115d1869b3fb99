"""The doubled Discord, driven by the unmodified discord.py."""

from __future__ import annotations

import asyncio
import io
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
import pytest
import yarl
from discord import app_commands

from tests.doubles.chat_server import Upload
from tests.doubles.discord_server import DiscordServer, serve
from tests.doubles.discord_world import ATTACH_FILES, CREATE_PUBLIC_THREADS, SEND_MESSAGES, VIEW_CHANNEL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from discord.types.interactions import ApplicationCommandInteractionData


class Bot(discord.Client):
    """Keeps what arrives; does with messages and interactions what a test says."""

    def __init__(self, **options: Any) -> None:
        intents = discord.Intents(guilds=True, messages=True, message_content=True)
        options.setdefault("intents", intents)
        super().__init__(allowed_mentions=discord.AllowedMentions.none(), guild_ready_timeout=0.01, **options)
        self.tree = app_commands.CommandTree(self)
        self.heard: list[discord.Message] = []
        self.edits: list[discord.RawMessageUpdateEvent] = []
        self.deletes: list[discord.RawMessageDeleteEvent] = []
        self.interactions: list[discord.Interaction] = []
        self.reply: Callable[[discord.Message], Awaitable[None]] | None = None
        self.act: Callable[[discord.Interaction], Awaitable[None]] | None = None

    async def on_message(self, message: discord.Message) -> None:
        if message.author != self.user:
            self.heard.append(message)
            if self.reply is not None:
                await self.reply(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        self.edits.append(event)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        self.deletes.append(event)

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
        async with Bot(**options) as bot:
            running = asyncio.create_task(bot.start(self.server.token), name="discord.py")
            try:
                async with asyncio.timeout(5):
                    await bot.wait_until_ready() if not running.done() else None
                yield bot
            finally:
                await bot.close()
                await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World]:
    async with serve() as server:
        monkeypatch.setattr(discord.http.Route, "BASE", server.api_url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.gateway_url))
        yield World(server=server, ada=server.add_user("ada"))


async def test_a_mention_is_answered_and_the_answer_grows_by_edits(world: World) -> None:
    server = world.server

    async def answer(message: discord.Message) -> None:
        answered = await message.reply("One")
        await answered.edit(content="One two")

    async with world.bot() as bot:
        bot.reply = answer
        await server.user_says(world.ada, server.general, f"{server.bot.mention} count")
        await server.wait_for(lambda: server.ours() and server.ours()[0].text == "One two")

    (seen,) = [each for each in server.visible(world.ada, server.general) if each.ours]
    assert [text.text for text in seen.texts] == ["One", "One two"]
    assert server.violations == []
