"""The border to Discord: every wait has an end, and every error of discord.py or aiohttp becomes one of `bot.port`."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import aiohttp
import discord

from bot.port import ChatError, Gone, Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import SimpleNamespace

ACKNOWLEDGED = 40060
ARCHIVED = 50083
THREAD_EXISTS = 160004
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
CANNOT_REPLY = 160002
"""Without the right to read the history, a message cannot refer to another one."""
NO_THREAD = frozenset({50001, 50013, 50024, 160005, 160006})
"""A thread cannot be made here: no access, no permission, a kind of channel without threads, locked, too many of them."""

_GONE = frozenset({UNKNOWN_CHANNEL, 10004, UNKNOWN_MESSAGE, 50001, 160005})
_EXPIRED = frozenset({10015, 10062, 50027})
_OLD_EDITS = 30046
_BAN_SECONDS = 60.0
_CALLS_A_SECOND = 35
"""Discord allows 50: calls that were held up on the way arrive closer together than they were sent."""
_REFUSALS = {
    40005: "The file is larger than Discord lets me send here.",
    50007: "Discord does not let me write to you directly: allow direct messages from members of this server and ask again.",
    50013: "I may not write here: give me the permissions Send Messages, Send Messages in Threads and Attach Files in this channel.",
    50278: "Discord does not let me write to you directly: allow direct messages from members of this server and ask again.",
}

_prompt: ContextVar[bool] = ContextVar("prompt", default=False)


class Expired(Refused):
    """An interaction can no longer be answered through its token."""


def tracing() -> aiohttp.TraceConfig:
    """What keeps to the limit over all calls, and makes failures inside `calls(prompt=True)` known at once.

    discord.py sleeps on a 429 or 5xx and sends the same text again; whoever edits a growing message has newer text by then, and
    other messages to spend the time on.
    """
    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(_Pace().wait)
    trace.on_request_end.append(_ended)
    return trace


class _Pace:
    """Discord's limit over all calls of a bot: answers to interactions are not counted. Calls go in the order they came."""

    def __init__(self) -> None:
        self._starts: deque[float] = deque(maxlen=_CALLS_A_SECOND)

    async def wait(
        self, session: aiohttp.ClientSession, context: SimpleNamespace, begun: aiohttp.TraceRequestStartParams
    ) -> None:
        if "/interactions/" in begun.url.path or "/webhooks/" in begun.url.path:
            return
        now = asyncio.get_running_loop().time()
        full = len(self._starts) == _CALLS_A_SECOND
        start = max(now, self._starts[0] + 1.0) if full else now
        self._starts.append(start)
        await asyncio.sleep(start - now)


async def _ended(
    session: aiohttp.ClientSession, context: SimpleNamespace, ended: aiohttp.TraceRequestEndParams
) -> None:
    response = ended.response
    if not _prompt.get() or (response.status != 429 and response.status < 500):
        return
    seconds = _retry_after(response)
    response.close()
    if response.status == 429:
        raise Throttled("Discord asks to slow down", seconds=seconds)
    raise Unreachable(f"Discord answers with status {response.status}")


def _retry_after(response: aiohttp.ClientResponse) -> float:
    """Seconds to wait. Without `Via` it is no limit of Discord's own but a ban before it, which more calls only lengthen."""
    try:
        return float(response.headers.get("Retry-After", ""))
    except ValueError:
        return 1.0 if response.headers.get("Via") else _BAN_SECONDS


@asynccontextmanager
async def calls(seconds: float, *, prompt: bool = False) -> AsyncIterator[None]:
    """Calls to Discord, together within so many seconds. Raises `ChatError` only."""
    token = _prompt.set(prompt)
    try:
        async with asyncio.timeout(seconds):
            yield
    except discord.RateLimited as error:
        raise Throttled("Discord asks to slow down", seconds=error.retry_after) from error
    except discord.HTTPException as error:
        raise _translated(error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreachable(f"Discord does not answer ({type(error).__name__})") from error
    finally:
        _prompt.reset(token)


def _translated(error: discord.HTTPException) -> ChatError:
    """What an answer of Discord means. Its own text stays out: it can repeat what was sent."""
    told = f"Discord answers {error.status} (code {error.code})"
    if error.status == 429 and isinstance(error.response, aiohttp.ClientResponse):
        return Throttled(told, seconds=_retry_after(error.response))
    if error.code == _OLD_EDITS:
        return Throttled(told, seconds=_BAN_SECONDS)
    if error.code in _EXPIRED:
        return Expired("This took too long for Discord; please ask again.")
    if error.code in _GONE:
        return Gone(told)
    if error.status >= 500:
        return Unreachable(told)
    if error.status == 413:
        return Refused(_REFUSALS[40005])
    if error.status == 401:
        return Refused("Discord does not take the bot's token any more.")
    return Refused(_REFUSALS.get(error.code, f"{told}; this cannot be done here."))
