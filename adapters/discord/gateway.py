"""The connection to Discord's gateway, kept up. discord.py mends most of what happens to it; over the rest it gives up or waits too long."""

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

from adapters.discord import needs
from adapters.discord.sessions import pause
from bot.port import Refused

if TYPE_CHECKING:
    from adapters.discord.bot import Bot
    from adapters.discord.settings import Settings
    from bot.port import Signals

_log = logging.getLogger(__name__)
_LONGEST_WAIT_SECONDS = 60.0
_LOOK_SECONDS = 0.25
_CLOSE_SECONDS = 2.0
_SESSIONS, _SESSIONS_SECONDS = 3, 120.0
"""So many sessions in so short a time: discord.py would go on like that until the day's thousand are used up."""
LOGIN_REFUSED = "Discord does not take the bot's token: on {page}, under Bot, choose Reset Token and put the new one into DISCORD_TOKEN."
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


async def stay_connected(bot: Bot, settings: Settings, signals: Signals) -> None:
    """Connect again whenever the connection ends or hangs. Raises `Refused` on what the operator must mend.

    The same client goes on, so that answers under way are written on. `adapters.discord.sessions` says how long it waits.
    """
    line = _Line(bot=bot, signals=signals)
    while True:
        started = time.monotonic()
        fault = await _connected(bot, settings, line)
        line.lost(fault)
        await _hang_up(bot.ws)
        wait = settings.retry_seconds
        if bot.sessions_since(started):
            wait = pause(bot.sessions, time.monotonic(), first=wait)
        await asyncio.sleep(wait)


async def _connected(bot: Bot, settings: Settings, line: _Line) -> str:
    """One run of the client, for as long as it is good; what was wrong with it."""
    started = time.monotonic()
    task = asyncio.create_task(bot.connect(), name="discord-gateway")
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK_SECONDS)
            line.look()
            if line.seconds_down > settings.dead_seconds:
                _log.error(
                    "there has been no connection to Discord for %.0f s: it is begun anew", line.seconds_down
                )
                return "gateway_stuck"
            if bot.sessions_since(max(started, time.monotonic() - _SESSIONS_SECONDS)) >= _SESSIONS:
                _log.error("Discord ends one session after the other; the next begins after a while")
                return "sessions_refused"
    finally:
        task.cancel()
        await asyncio.wait({task})
        for stray in _strays(bot):
            await _hang_up(stray)
    error = task.exception()
    _raise_fatal(error, settings)
    _log.error("the connection to Discord ended; connecting again", exc_info=error)
    return "gateway_ended"


def _strays(bot: Bot) -> list[DiscordWebSocket]:
    """Connections whose beginning was cancelled: discord.py forgets them, but their threads would keep them alive."""
    beating = [each.ws for each in threading.enumerate() if isinstance(each, KeepAliveHandler)]
    return [ws for ws in beating if ws._connection is bot._connection and ws is not bot.ws]


async def _hang_up(ws: DiscordWebSocket | None) -> None:
    """A server that says nothing any more does not confirm the end either."""
    if ws is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await ws.close()


@dataclass(slots=True, kw_only=True)
class _Line:
    """Whether events come, told whenever that changes."""

    bot: Bot
    signals: Signals
    live: bool = False
    fault: str = ""
    """What must be mended before events come again."""
    _down: float = field(default_factory=time.monotonic)

    @property
    def seconds_down(self) -> float:
        return 0.0 if self.live else time.monotonic() - self._down

    def look(self) -> None:
        """During a new connection `ws` is still the one before it, which is closed."""
        ws = self.bot.ws
        self._tell(ws is not None and ws.open and ws.session_id is not None)

    def lost(self, fault: str) -> None:
        self._tell(False)
        self.fault, self._down = fault, time.monotonic()

    def _tell(self, live: bool) -> None:
        if live == self.live:
            return
        self.live, self._down = live, time.monotonic()
        self.signals.connections(live=int(live), wanted=1)
        if live and self.fault:
            self.signals.recovered(self.fault)
            self.fault = ""


def _raise_fatal(error: BaseException | None, settings: Settings) -> None:
    page = portal_page(settings)
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise Refused(_NO_CONTENT.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code == 4004:
        raise Refused(LOGIN_REFUSED.format(page=page)) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise Refused(_FATAL[error.code]) from error


def portal_page(settings: Settings) -> str:
    """Where the operator finds the application in Discord's portal."""
    application = needs.application_of(settings.token.get_secret_value())
    return f"{needs.PORTAL}/{application}" if application else needs.PORTAL


class Waits:
    """Seconds to wait before each further attempt."""

    def __init__(self, first: float) -> None:
        self._seconds = first

    def next(self) -> float:
        seconds = self._seconds
        self._seconds = min(2 * seconds, _LONGEST_WAIT_SECONDS)
        return seconds
