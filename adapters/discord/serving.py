"""From settings to a bot that answers until it is told to stop, whatever Discord or the network do meanwhile."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord import commands
from adapters.discord.border import calls
from adapters.discord.bot import Bot
from adapters.discord.connection import Connection
from adapters.discord.events import Events
from adapters.discord.gateway import LOGIN_REFUSED, Waits, portal_page, stay_connected
from adapters.discord.missed import missed_since_we_ran
from adapters.discord.restarting import Restart
from adapters.discord.settings import Settings, endpoints
from adapters.discord.tasks import Tasks
from adapters.discord.using import Using
from bot.port import ChatError, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import ChatService, Signals

_log = logging.getLogger(__name__)


async def run(settings: Settings, service: ChatService, *, signals: Signals) -> None:
    """Serve until cancelled. Raises `Refused` on what the operator must mend."""
    with endpoints(settings):
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            logged_in(settings) as bot,
            Tasks(seconds=settings.close_seconds) as tasks,
        ):
            connection = Connection(
                client=bot, session=session, settings=settings, answers_in=service.answers_in
            )
            using = Using(connection=connection, service=service)
            restart = Restart(connection, service, using, tasks)
            missed = await missed_since_we_ran(service, settings)
            facts = {"commands": await _register(bot, service, settings)}
            told = False

            def now_ready() -> None:
                nonlocal told
                restart.begin()
                if not told:
                    told = True
                    signals.ready({"bot": str(bot.user), "servers": str(len(bot.guilds)), **facts})

            bot.listener = Events(
                connection=connection,
                service=service,
                signals=signals,
                tasks=tasks,
                using=using,
                missed=missed,
                on_ready=now_ready,
            )
            await stay_connected(bot, settings, signals)


@asynccontextmanager
async def logged_in(settings: Settings, *, retry: bool = True) -> AsyncIterator[Bot]:
    """A client with a token that Discord takes; while Discord does not answer, it is asked again."""
    waits = Waits(settings.retry_seconds)
    while True:
        bot = Bot(settings)
        try:
            await _log_in(bot, settings)
        except ChatError as error:
            await _close(bot, settings)
            if not retry or isinstance(error, Refused):
                raise
            _log.warning("cannot log in to Discord: %s", error)
            await asyncio.sleep(waits.next())
            continue
        except BaseException:
            await _close(bot, settings)
            raise
        try:
            yield bot
        finally:
            await _close(bot, settings)
        return


async def _log_in(bot: Bot, settings: Settings) -> None:
    try:
        async with calls(settings.call_seconds):
            await bot.login(settings.token.get_secret_value())
    except discord.LoginFailure as error:
        raise Refused(LOGIN_REFUSED.format(page=portal_page(settings))) from error


async def _close(bot: Bot, settings: Settings) -> None:
    async with asyncio.timeout(settings.close_seconds):
        await bot.close()


async def _register(bot: Bot, service: ChatService, settings: Settings) -> str:
    """Commands that cannot be registered now are no reason not to answer mentions."""
    try:
        async with calls(settings.call_seconds):
            changed = await commands.register(bot.http, bot.application_id or 0, service.commands)
    except ChatError as error:
        _log.warning("the commands could not be registered at Discord: %s", error)
        return "not registered"
    return "registered" if changed else "unchanged"
