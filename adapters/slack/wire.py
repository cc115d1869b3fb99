"""The border to Slack's API: clients on one shared session, and Slack's errors as ours."""

from __future__ import annotations

import logging
import math
import re
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.made import Made
from adapters.slack.offers import Streaming
from bot.port import ChatError, Gone, Refused, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.settings import Settings

_CONNECT_SECONDS = 10.0
_AGAIN_SECONDS = 30.0
_TICKET = re.compile(r"(ticket|app_id)=[^&\s'\")]+")

_GONE = frozenset(
    {
        "cant_delete_message",
        "channel_is_archived",
        "channel_not_found",
        "is_archived",
        "message_not_found",
        "message_not_owned_by_app",
        "not_in_channel",
        "thread_not_found",
        "user_not_in_channel",
    }
)
_FROZEN = frozenset({"cant_update_message", "edit_window_closed"})
_TOKEN_ERRORS = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "token_expired",
        "token_revoked",
    }
)
_FAULTS = frozenset(
    {
        "external_channel_migrating",
        "fatal_error",
        "internal_error",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
        "update_failed",
    }
)
"""What Slack documents as faults of its own, or as passing. Other words, unknown ones too, say what is wrong with the call."""
_THROTTLED = frozenset({"message_limit_exceeded", "rate_limited", "ratelimited"})
_UNFIT = frozenset(
    {
        "invalid_attachments",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_chunks",
        "msg_blocks_too_long",
    }
)
NOT_ADMITTED = (
    "Slack refuses the bot token: copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions of the app "
    "at api.slack.com/apps into SLACK_BOT_TOKEN."
)


class Unfit(Refused):
    """Slack does not take the blocks of a message; it may take plainer ones."""


class Frozen(Refused):
    """The message is there, and Slack lets nobody change it any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The workspace that the token belongs to, and who we are in it."""

    team: str
    name: str
    url: str
    """`https://acme.slack.com/`"""
    user: str
    """Our own user id: what people mention."""
    user_name: str
    bot: str
    """Our bot id: what our messages carry."""
    scopes: frozenset[str] = frozenset()

    def permalink(self, channel: str, ts: str, thread: str = "") -> str:
        """The address of a message; `thread` is set for replies."""
        path = f"{self.url}archives/{channel}/p{ts.replace('.', '')}"
        return f"{path}?thread_ts={thread}&cid={channel}" if thread and thread != ts else path


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What everything that talks to Slack shares."""

    settings: Settings
    session: aiohttp.ClientSession
    writer: AsyncWebClient
    """Never repeats a call by itself: a message that Slack had stored would be posted twice."""
    reader: AsyncWebClient
    workspace: Workspace
    streaming: Streaming = field(default_factory=Streaming)
    made: Made = field(default_factory=Made)


@asynccontextmanager
async def clients(
    settings: Settings,
) -> AsyncIterator[tuple[aiohttp.ClientSession, AsyncWebClient, AsyncWebClient]]:
    """The shared session, the client that writes, and the one that reads."""
    timeout = aiohttp.ClientTimeout(total=settings.call_seconds, sock_connect=_CONNECT_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        common: dict[str, Any] = {
            "token": settings.bot_token.get_secret_value(),
            "base_url": settings.api_base_url,
            "session": session,
            "timeout": math.ceil(settings.call_seconds),
            "logger": sdk_logger(),
        }
        again = AsyncConnectionErrorRetryHandler(max_retry_count=1)
        yield (
            session,
            AsyncWebClient(retry_handlers=[], **common),
            AsyncWebClient(retry_handlers=[again], **common),
        )


async def identify(client: AsyncWebClient) -> Workspace:
    """Who we are (`auth.test`); raises `Refused` for a bad token."""
    with translated("auth.test"):
        response = await client.auth_test()
    told = _contents(response, "auth.test")
    return Workspace(
        team=told["team_id"],
        name=told.get("team", ""),
        url=told["url"].rstrip("/") + "/",
        user=told["user_id"],
        user_name=told.get("user", ""),
        bot=told.get("bot_id", ""),
        scopes=frozenset(scope for scope in header(response.headers, "x-oauth-scopes").split(",") if scope),
    )


async def ask(
    doing: str, call: Awaitable[AsyncSlackResponse], refusals: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What the call answers; its errors are ours."""
    with translated(doing, refusals):
        return _contents(await call, doing)


@contextmanager
def translated(doing: str, refusals: Mapping[str, str] | None = None) -> Iterator[None]:
    """Slack's errors become ours; `refusals` gives some of its words a sentence for people."""
    try:
        yield
    except SlackApiError as error:
        raise meaning(error, doing, refusals or {}) from error
    except SlackClientError as error:
        raise Unreachable(f"Slack gave no usable answer to {doing}.") from error
    except (aiohttp.ClientError, OSError) as error:  # a time-out is an OSError too
        raise Unreachable(f"Slack did not answer {doing}.") from error


def meaning(error: SlackApiError, doing: str, refusals: Mapping[str, str]) -> ChatError:
    """The error as one of ours."""
    code = code_of(error)
    status = _status(error)
    if status == 429 or code in _THROTTLED:
        return Throttled(f"Slack asked to wait with {doing}.", seconds=_retry_after(error))
    if code in refusals:
        return Refused(refusals[code])
    if status >= 500 or code in _FAULTS or not code:
        return Unreachable(f"Slack could not do {doing} ({code or status}).")
    if code in _FROZEN:
        return Frozen(f"Slack answered {doing} with {code}.")
    if code in _GONE:
        return Gone(f"Slack answered {doing} with {code}.")
    if code in _UNFIT:
        return Unfit(f"Slack refused the blocks in {doing}: {code}.")
    if code == "missing_scope":
        return Refused(lacking(str(_data(error).get("needed", "")) or doing))
    if code in _TOKEN_ERRORS:
        return Refused(NOT_ADMITTED)
    return Refused(f"Slack refused {doing}: {code}.")


def lacking(scope: str) -> str:
    """The sentence for a permission that was not granted."""
    return (
        f"The app lacks the permission {scope}: add it under OAuth & Permissions at api.slack.com/apps, "
        "then install the app again."
    )


def code_of(error: SlackApiError) -> str:
    """Slack's own word for what went wrong; empty when it said none."""
    return str(_data(error).get("error") or "")


def header(headers: Any, name: str) -> str:
    """One header of an answer, whatever its case, without spaces between its values."""
    return str(headers.get(name) or headers.get(name.title()) or "").replace(" ", "")


def trusted(address: str, settings: Settings) -> bool:
    """Whether the token may be sent there: Slack's own hosts, and the host that its API was set to."""
    asked, api = urlsplit(address), urlsplit(settings.api_base_url)
    if (asked.scheme, asked.netloc) == (api.scheme, api.netloc):
        return True
    host = asked.hostname or ""
    return asked.scheme == "https" and asked.port in (None, 443) and host.endswith(".slack.com")


def sdk_logger() -> logging.Logger:
    """The logger for Slack's libraries, one of theirs: never below WARNING, where they would log messages, and without tickets."""
    logger = logging.getLogger("slack_sdk.footnote")
    if not logger.filters:
        logger.addFilter(_without_tickets)
    if logger.level < logging.WARNING:
        logger.setLevel(logging.WARNING)
    return logger


def _without_tickets(record: logging.LogRecord) -> bool:
    """A connection's address is its key; a traceback would show it too. What Bolt says of tokens in the environment is not so."""
    if str(record.msg).startswith("As you gave `client`"):
        return False
    if isinstance(record.msg, str):
        record.msg = _TICKET.sub(r"\1=…", record.getMessage())
        record.args = None
    record.exc_info = None
    return True


def _contents(response: AsyncSlackResponse, doing: str) -> dict[str, Any]:
    if not isinstance(response.data, dict):
        raise Unreachable(f"Slack gave no usable answer to {doing}.")
    return response.data


def _data(error: SlackApiError) -> Mapping[str, Any]:
    data = getattr(error.response, "data", error.response)
    return data if isinstance(data, dict) else {}


def _status(error: SlackApiError) -> int:
    response: Any = error.response
    return int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)


def _retry_after(error: SlackApiError) -> float:
    try:
        return float(header(getattr(error.response, "headers", {}), "Retry-After"))
    except ValueError:
        return _AGAIN_SECONDS
