from __future__ import annotations

import math
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.api import header, response_data, sdk_logger, translate_errors
from adapters.slack.optional_calls import OptionalCalls
from adapters.slack.outlets.message_recovery import PostedMessages
from adapters.slack.outlets.stream import StreamSupport
from bot.port import ReadPace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from adapters.slack.settings import Settings

_CONNECT_SECONDS = 10.0
_HISTORY_CALLS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    team: str
    name: str
    url: str
    user: str
    user_name: str
    bot: str
    scopes: frozenset[str] = frozenset()

    def permalink(self, channel: str, ts: str, thread: str = "") -> str:
        """`thread` is set for replies."""
        path = f"{self.url}archives/{channel}/p{ts.replace('.', '')}"
        return f"{path}?thread_ts={thread}&cid={channel}" if thread and thread != ts else path


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackContext:
    settings: Settings
    session: aiohttp.ClientSession
    write_client: AsyncWebClient
    """Never retries: Slack may have stored the message."""
    read_client: AsyncWebClient
    workspace: Workspace
    stream_support: StreamSupport = field(default_factory=StreamSupport)
    optional_calls: OptionalCalls = field(default_factory=OptionalCalls)
    posted_messages: PostedMessages = field(default_factory=PostedMessages)
    history_pace: ReadPace = field(default_factory=lambda: ReadPace(_HISTORY_CALLS, 60.0))
    known_people: set[str] = field(default_factory=set[str])
    people_pace: ReadPace = field(default_factory=lambda: ReadPace(_HISTORY_CALLS, 60.0))


@asynccontextmanager
async def open_clients(
    settings: Settings,
) -> AsyncIterator[tuple[aiohttp.ClientSession, AsyncWebClient, AsyncWebClient]]:
    timeout = aiohttp.ClientTimeout(total=settings.call_seconds, sock_connect=_CONNECT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        common: dict[str, Any] = {
            "token": settings.bot_token.get_secret_value(),
            "base_url": settings.api_base_url,
            "session": session,
            "timeout": math.ceil(settings.call_seconds),
            "logger": sdk_logger(),
        }
        retry_once = AsyncConnectionErrorRetryHandler(max_retry_count=1)
        yield (
            session,
            AsyncWebClient(retry_handlers=[], **common),
            AsyncWebClient(retry_handlers=[retry_once], **common),
        )


async def identify(client: AsyncWebClient) -> Workspace:
    """Raises `WriteRefused` if Slack rejects the token."""
    with translate_errors("auth.test"):
        response = await client.auth_test()
    identity = response_data(response, "auth.test")
    return Workspace(
        team=identity.need_text("team_id"),
        name=identity.text("team"),
        url=identity.need_text("url").rstrip("/") + "/",
        user=identity.need_text("user_id"),
        user_name=identity.text("user"),
        bot=identity.text("bot_id"),
        scopes=frozenset(scope for scope in header(response.headers, "x-oauth-scopes").split(",") if scope),
    )
