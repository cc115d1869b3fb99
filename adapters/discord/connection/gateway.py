"""Reconnects where discord.py gives up or waits too long."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import discord
from discord.gateway import DiscordWebSocket, KeepAliveHandler

from adapters.discord.connection.identify_budget import next_wait
from adapters.discord.installation import required_permissions
from bot.port import WriteRefused

if TYPE_CHECKING:
    from adapters.discord.connection.client import DiscordClient
    from adapters.discord.settings import Settings
    from bot.port import Signals

_log = logging.getLogger(__name__)
_CHECK_SECONDS = 0.25
_CLOSE_SECONDS = 2.0
_MOST_SESSIONS, _SESSIONS_SECONDS = 3, 120.0
"""discord.py would use up the day's sessions."""
LOGIN_REFUSED = "Discord rejects the bot's token: on {page}, under Bot, choose Reset Token and put the new one into DISCORD_TOKEN."
_NO_CONTENT = (
    "Discord does not let the bot read messages that do not mention it: on {page}/bot, switch on Message Content Intent and save; "
    "or set FOOTNOTE_DISCORD__MESSAGE_CONTENT=false to answer mentions, direct messages and commands only."
)
_FATAL = {
    4010: "Discord says that the bot is too large for one process (close code 4010).",
    4011: "Discord wants the bot to be split into shards: it is in too many servers for one process.",
    4012: "Discord no longer serves this version of its interface: update footnote-bot.",
    4013: "Discord does not know the intents that the bot requests: update footnote-bot.",
}


async def stay_connected(bot: DiscordClient, settings: Settings, signals: Signals) -> None:
    """Raises `WriteRefused` if the operator must fix something."""
    state = _ConnectionState(bot=bot, signals=signals)
    while True:
        started = time.monotonic()
        fault = await _run_client(bot, settings, state)
        state.set_lost(fault)
        await _close_socket(bot.ws)
        wait = settings.retry_seconds
        if bot.sessions_since(started):
            wait = next_wait(bot.sessions, time.monotonic(), first=wait)
        await asyncio.sleep(wait)


async def _run_client(bot: DiscordClient, settings: Settings, state: _ConnectionState) -> str:
    started = time.monotonic()
    task = asyncio.create_task(bot.connect(), name="discord-gateway")
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_CHECK_SECONDS)
            state.check()
            if state.seconds_down > settings.dead_seconds:
                _log.error("no connection to Discord for %.0f s: starting over", state.seconds_down)
                return "gateway_stuck"
            if bot.sessions_since(max(started, time.monotonic() - _SESSIONS_SECONDS)) >= _MOST_SESSIONS:
                _log.error("Discord ends one session after another; waiting before the next one")
                return "sessions_refused"
    finally:
        task.cancel()
        await asyncio.wait({task})
        for orphan in _orphaned_sockets(bot):
            await _close_socket(orphan)
    error = task.exception()
    _raise_fatal(error, settings)
    _log.error("the connection to Discord ended; connecting again", exc_info=error)
    return "gateway_ended"


def _orphaned_sockets(bot: DiscordClient) -> list[DiscordWebSocket]:
    """discord.py forgets sockets whose start was cancelled."""
    sockets = [each.ws for each in threading.enumerate() if isinstance(each, KeepAliveHandler)]
    return [ws for ws in sockets if ws._connection is bot._connection and ws is not bot.ws]


async def _close_socket(ws: DiscordWebSocket | None) -> None:
    """A silent server does not confirm the close."""
    if ws is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await ws.close()


@dataclass(slots=True, kw_only=True)
class _ConnectionState:
    bot: DiscordClient
    signals: Signals
    live: bool = False
    fault: str = ""
    _down_since: float = field(default_factory=time.monotonic)

    @property
    def seconds_down(self) -> float:
        return 0.0 if self.live else time.monotonic() - self._down_since

    def check(self) -> None:
        """During a new start, `ws` is the closed one."""
        ws = self.bot.ws
        self._set_live(ws is not None and ws.open and ws.session_id is not None)

    def set_lost(self, fault: str) -> None:
        self._set_live(False)
        self.fault, self._down_since = fault, time.monotonic()

    def _set_live(self, live: bool) -> None:
        if live == self.live:
            return
        self.live, self._down_since = live, time.monotonic()
        self.signals.connections(live=int(live), expected=1)
        if live and self.fault:
            self.signals.recovered(self.fault)
            self.fault = ""


def _raise_fatal(error: BaseException | None, settings: Settings) -> None:
    page = portal_page(settings)
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise WriteRefused(_NO_CONTENT.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code == 4004:
        raise WriteRefused(LOGIN_REFUSED.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise WriteRefused(_FATAL[error.code]) from error


def portal_page(settings: Settings) -> str:
    application = required_permissions.application_of(settings.token.get_secret_value())
    return f"{required_permissions.PORTAL}/{application}" if application else required_permissions.PORTAL
