from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.api import api_calls
from adapters.discord.connection.client import DiscordClient
from adapters.discord.connection.gateway import LOGIN_REFUSED, portal_page, stay_connected
from adapters.discord.context import DiscordContext
from adapters.discord.incoming.arrivals import DiscordArrivals
from adapters.discord.incoming.events import DiscordEvents
from adapters.discord.incoming.interactions import DiscordInteractions
from adapters.discord.incoming.missed_messages import missed_since_last_run
from adapters.discord.installation import commands
from adapters.discord.recovery import DiscordRecovery
from adapters.discord.settings import Settings, endpoints
from adapters.discord.tasks import Tasks
from bot.port import Attempts, Backoff, ChatError, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import ChatService, Signals

_log = logging.getLogger(__name__)
_LONGEST_WAIT_SECONDS = 60.0


async def run(settings: Settings, service: ChatService, *, signals: Signals) -> None:
    """Raises `WriteRefused` if the operator must fix something."""
    with endpoints(settings):
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            logged_in(settings) as bot,
            Tasks(seconds=settings.close_seconds) as tasks,
        ):
            context = DiscordContext(
                client=bot, session=session, settings=settings, answer_messages=service.answer_messages
            )
            interactions = DiscordInteractions(context=context, service=service)
            arrivals = DiscordArrivals(context=context, service=service)
            recovery = DiscordRecovery(context, service, interactions, arrivals, tasks)
            missed = await missed_since_last_run(service, settings)
            facts = {"commands": await _register_commands(bot, service, settings)}
            reported = False

            def on_ready() -> None:
                nonlocal reported
                recovery.start()
                if not reported:
                    reported = True
                    signals.ready({"bot": str(bot.user), "servers": str(len(bot.guilds)), **facts})

            bot.listener = DiscordEvents(
                context=context,
                service=service,
                signals=signals,
                tasks=tasks,
                interactions=interactions,
                arrivals=arrivals,
                missed=missed,
                on_ready=on_ready,
            )
            await stay_connected(bot, settings, signals)


@asynccontextmanager
async def logged_in(settings: Settings, *, retry: bool = True) -> AsyncIterator[DiscordClient]:
    """Raises `WriteRefused` if Discord rejects the token."""
    attempts = Attempts(
        backoff=Backoff(first=settings.retry_seconds, longest=_LONGEST_WAIT_SECONDS, jitter=0.0)
    )
    while True:
        bot = DiscordClient(settings)
        try:
            await _log_in(bot, settings)
        except ChatError as error:
            await _close(bot, settings)
            if not retry or isinstance(error, WriteRefused):
                raise
            _log.warning("cannot log in to Discord: %s", error)
            await attempts.pause(error)
            continue
        except BaseException:
            await _close(bot, settings)
            raise
        try:
            yield bot
        finally:
            await _close(bot, settings)
        return


async def _log_in(bot: DiscordClient, settings: Settings) -> None:
    try:
        async with api_calls(settings.call_seconds):
            await bot.login(settings.token.get_secret_value())
    except discord.LoginFailure as error:
        raise WriteRefused(LOGIN_REFUSED.format(page=portal_page(settings))) from error


async def _close(bot: DiscordClient, settings: Settings) -> None:
    async with asyncio.timeout(settings.close_seconds):
        await bot.close()


async def _register_commands(bot: DiscordClient, service: ChatService, settings: Settings) -> str:
    try:
        async with api_calls(settings.call_seconds):
            changed = await commands.register(bot.http, bot.application_id or 0, service.commands)
    except ChatError as error:
        _log.warning("the commands could not be registered with Discord: %s", error)
        return "not registered"
    return "registered" if changed else "unchanged"
