from __future__ import annotations

import asyncio
import traceback
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import aiohttp
import discord

from bot.port import ChatError, Gone, Throttled, Unreachable, Unreadable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import SimpleNamespace

ACKNOWLEDGED = 40060
ARCHIVED = 50083
THREAD_EXISTS = 160004
UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
CANNOT_REPLY = 160002
"""Replies need the permission to read the history."""
THREAD_REFUSED = frozenset({50001, 50013, 50024, 160005, 160006})

_GONE_CODES = frozenset({UNKNOWN_CHANNEL, 10004, UNKNOWN_MESSAGE, 50001, 160005})
_EXPIRED_CODES = frozenset({10015, 10062, 50027})
_TOO_MANY_OLD_EDITS = 30046
_BAN_RETRY_SECONDS = 60.0
_CALLS_PER_SECOND, _BURST_CALLS = 35, 12
"""Discord allows 50, but network delays bunch calls."""
_REFUSALS = {
    40005: "The file is larger than Discord lets me send here.",
    50007: "Discord does not let me write to you directly: allow direct messages from members of this server and ask again.",
    50013: "I cannot write here: give me the permissions Send Messages, Send Messages in Threads and Attach Files in this channel.",
    50278: "Discord does not let me write to you directly: allow direct messages from members of this server and ask again.",
}

_fail_fast: ContextVar[bool] = ContextVar("fail_fast", default=False)


class InteractionExpired(WriteRefused):
    pass


def rate_limit_trace() -> aiohttp.TraceConfig:
    """discord.py repeats a call after a 429 or 5xx; by then a growing message has newer text."""
    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(_GlobalRateLimit().wait)
    trace.on_request_end.append(_on_response)
    return trace


class _GlobalRateLimit:
    def __init__(self) -> None:
        self._next_start = 0.0

    async def wait(
        self,
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        request: aiohttp.TraceRequestStartParams,
    ) -> None:
        if "/interactions/" in request.url.path or "/webhooks/" in request.url.path:
            return
        now = asyncio.get_running_loop().time()
        burst_seconds = (_BURST_CALLS - 1) / _CALLS_PER_SECOND
        start = max(self._next_start, now - burst_seconds)
        self._next_start = start + 1 / _CALLS_PER_SECOND
        await asyncio.sleep(max(start - now, 0.0))


async def _on_response(
    session: aiohttp.ClientSession, context: SimpleNamespace, end: aiohttp.TraceRequestEndParams
) -> None:
    response = end.response
    if not _fail_fast.get() or (response.status != 429 and response.status < 500):
        return
    seconds = _retry_after(response)
    response.close()
    if response.status == 429:
        raise Throttled("Discord asks to slow down", seconds=seconds)
    raise Unreachable(f"Discord answers with status {response.status}")


def _retry_after(response: aiohttp.ClientResponse) -> float:
    """A 429 without `Via` is a temporary ban, which calls prolong."""
    try:
        return float(response.headers.get("Retry-After", ""))
    except ValueError:
        return 1.0 if response.headers.get("Via") else _BAN_RETRY_SECONDS


@asynccontextmanager
async def api_calls(seconds: float, *, fail_fast: bool = False) -> AsyncIterator[None]:
    """Raises `ChatError` only; with `fail_fast` at once on a 429 or 5xx."""
    token = _fail_fast.set(fail_fast)
    try:
        async with asyncio.timeout(seconds):
            yield
    except discord.RateLimited as error:
        raise Throttled("Discord asks to slow down", seconds=error.retry_after) from error
    except discord.HTTPException as error:
        raise _chat_error(error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreachable(f"Discord does not answer ({type(error).__name__})") from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if not _raised_by_sdk(error):
            raise
        raise unreadable(error) from error
    finally:
        _fail_fast.reset(token)


def unreadable(error: BaseException) -> Unreadable:
    """Names the field of a `KeyError`."""
    missing = error.args[0] if isinstance(error, KeyError) and error.args else None
    field = f": the field {missing} is missing" if isinstance(missing, str) and missing.isidentifier() else ""
    place = _innermost_frame(error)
    return Unreadable(f"Discord's answer is not as documented ({type(error).__name__} in {place}{field})")


def _raised_by_sdk(error: BaseException) -> bool:
    return _innermost_frame(error).startswith("discord.")


def _innermost_frame(error: BaseException) -> str:
    place = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if not place.startswith("discord.") or module.partition(".")[0] in {"adapters", "bot", "discord"}:
            place = f"{module}.{frame.f_code.co_name}"
    return place


def _chat_error(error: discord.HTTPException) -> ChatError:
    """Discord's text can repeat user text."""
    message = f"Discord answers {error.status} (code {error.code})"
    if error.status == 429 and isinstance(error.response, aiohttp.ClientResponse):
        return Throttled(message, seconds=_retry_after(error.response))
    if error.code == _TOO_MANY_OLD_EDITS:
        return Throttled(message, seconds=_BAN_RETRY_SECONDS)
    if error.code in _EXPIRED_CODES:
        return InteractionExpired("This took too long for Discord; please ask again.")
    if error.code in _GONE_CODES:
        return Gone(message)
    if error.status >= 500:
        return Unreachable(message)
    if error.status == 413:
        return WriteRefused(_REFUSALS[40005])
    if error.status == 401:
        return WriteRefused("Discord no longer accepts the bot's token.")
    return WriteRefused(_REFUSALS.get(error.code, f"{message}; this cannot be done here."))
