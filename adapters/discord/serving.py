"""From settings to a bot that answers until it is told to stop, whatever Discord or the network do meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord import commands, needs
from adapters.discord.border import calls
from adapters.discord.bot import Bot
from adapters.discord.connection import Connection
from adapters.discord.events import Events
from adapters.discord.settings import Settings, endpoints
from adapters.discord.tasks import Tasks
from bot.port import ChatError, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from bot.port import ChatService

_log = logging.getLogger(__name__)
_LONGEST_WAIT_SECONDS = 300.0
_HEALTHY_SECONDS = 600.0
_LOGIN_REFUSED = "Discord does not take the bot's token: on {page}, under Bot, choose Reset Token and put the new one into DISCORD_TOKEN."
_NO_CONTENT = (
    "Discord does not let the bot read messages that do not mention it: on {page}/bot, switch on Message Content Intent and save; "
    "or set FOOTNOTE_DISCORD__MESSAGE_CONTENT=false to answer mentions, direct messages and commands only."
)
_FATAL = {
    4010: "Discord says that the bot has grown too large for one process (close code 4010).",
    4011: "Discord wants the bot to be split into shards: it is in too many servers for one process.",
    4012: "Discord no longer serves this version of its interface: update footnote-bot.",
    4013: "Discord does not know the intents that the bot asks for: update footnote-bot.",
}


async def run(
    settings: Settings, service: ChatService, *, ready: Callable[[Mapping[str, str]], None]
) -> None:
    """Serve until cancelled. Raises `Refused` on what the operator must mend."""
    with endpoints(settings):
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            logged_in(settings) as bot,
            Tasks(seconds=settings.close_seconds) as tasks,
        ):
            connection = Connection(client=bot, session=session, settings=settings)
            facts = {"commands": await _register(bot, service, settings)}
            told = False

            def now_ready() -> None:
                nonlocal told
                if not told:
                    told = True
                    ready({"bot": str(bot.user), "servers": str(len(bot.guilds)), **facts})

            bot.listener = Events(connection=connection, service=service, tasks=tasks, on_ready=now_ready)
            await _stay_connected(bot, settings)


@asynccontextmanager
async def logged_in(settings: Settings, *, retry: bool = True) -> AsyncIterator[Bot]:
    """A client with a token that Discord takes; while Discord does not answer, it is asked again."""
    waits = _Waits(settings.retry_seconds)
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
        raise Refused(_LOGIN_REFUSED.format(page=_page(settings))) from error


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


# --- the gateway -------------------------------------------------------------------------------------------------------


async def _stay_connected(bot: Bot, settings: Settings) -> None:
    """Connect again whenever the connection ends: discord.py gives it up on an event that it cannot read.

    The same client goes on, so that answers under way are written on. Each new session costs one of a thousand a day: waits grow.
    """
    waits = _Waits(settings.retry_seconds)
    while True:
        started = time.monotonic()
        task = asyncio.create_task(bot.connect(), name="discord-gateway")
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.wait({task})
        error = task.exception()
        _raise_fatal(error, settings)
        _log.error("the connection to Discord ended; connecting again", exc_info=error)
        if bot.ws is not None:
            await bot.ws.close()
        if time.monotonic() - started > _HEALTHY_SECONDS:
            waits = _Waits(settings.retry_seconds)
        await asyncio.sleep(waits.next())


def _raise_fatal(error: BaseException | None, settings: Settings) -> None:
    page = _page(settings)
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise Refused(_NO_CONTENT.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code == 4004:
        raise Refused(_LOGIN_REFUSED.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise Refused(_FATAL[error.code]) from error


def _page(settings: Settings) -> str:
    application = needs.application_of(settings.token.get_secret_value())
    return f"{needs.PORTAL}/{application}" if application else needs.PORTAL


class _Waits:
    """Seconds to wait before each further attempt."""

    def __init__(self, first: float) -> None:
        self._seconds = first

    def next(self) -> float:
        seconds = self._seconds
        self._seconds = min(2 * seconds, _LONGEST_WAIT_SECONDS)
        return seconds
