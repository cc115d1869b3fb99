from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.port import ChatError, Fields, Gone, Throttled, Unreachable, Unreadable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.settings import Settings

_RETRY_SECONDS = 30.0
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
_LOCKED = frozenset({"cant_update_message", "edit_window_closed"})
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
_SLACK_FAULTS = frozenset(
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
_THROTTLED = frozenset({"message_limit_exceeded", "rate_limited", "ratelimited"})
_BLOCKS_REFUSED = frozenset(
    {
        "invalid_attachments",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_chunks",
        "msg_blocks_too_long",
    }
)
_REJECTED_BOT = (
    "Slack rejects the bot token: copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions of the app "
    "at api.slack.com/apps into SLACK_BOT_TOKEN."
)


class NotServed(Unreachable):
    """The server knows no such method, or a gateway lost it for a moment."""


class BlocksRefused(WriteRefused):
    """Slack may accept plainer blocks."""


class MessageLocked(WriteRefused):
    """Slack no longer allows edits."""


async def call_api(
    method: str, call: Awaitable[AsyncSlackResponse], refusals: Mapping[str, str] | None = None
) -> Fields:
    """`refusals`: sentences for people by error code. Raises `ChatError`."""
    with translate_errors(method, refusals):
        return response_data(await call, method)


def response_data(response: AsyncSlackResponse, method: str) -> Fields:
    """Raises `Unreadable` if it is not an object."""
    return Fields.of(response.data, method)


def next_cursor(page: Fields) -> str:
    return page.object("response_metadata").text("next_cursor")


@contextmanager
def translate_errors(method: str, refusals: Mapping[str, str] | None = None) -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        raise chat_error(error, method, refusals or {}) from error
    except SlackClientError as error:
        raise Unreachable(f"Slack gave no usable response to {method}.") from error
    except (aiohttp.ClientError, OSError) as error:
        raise Unreachable(f"Slack did not answer {method}.") from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # the SDK reads fields itself
        raise Unreadable(
            f"Slack's answer to {method} is not as documented ({type(error).__name__})."
        ) from error


def chat_error(error: SlackApiError, method: str, refusals: Mapping[str, str]) -> ChatError:
    code = error_code(error)
    status = _status(error)
    if status == 429 or code in _THROTTLED:
        return Throttled(f"Slack limits {method} now.", seconds=_retry_after(error))
    if code in refusals:
        return WriteRefused(refusals[code])
    if status == 404 and not code:
        return NotServed(f"Slack's server does not know {method} (404).")
    if status >= 500 or code in _SLACK_FAULTS or not code:
        # Gateways repeat in `error` what they were sent.
        return Unreachable(f"Slack failed at {method} ({code if code in _SLACK_FAULTS else status}).")
    if code in _LOCKED:
        return MessageLocked(f"Slack answered {method} with {code}.")
    if code in _GONE:
        return Gone(f"Slack answered {method} with {code}.")
    if code in _BLOCKS_REFUSED:
        return BlocksRefused(f"Slack refused the blocks in {method}: {code}.")
    if code == "missing_scope":
        return WriteRefused(missing_scope_message(str(_data(error).get("needed", "")) or method))
    if code in _TOKEN_ERRORS:
        return WriteRefused(_REJECTED_BOT)
    return WriteRefused(f"Slack refused {method}: {code}.")


def missing_scope_message(scope: str) -> str:
    return (
        f"The app lacks the permission {scope}: add it under OAuth & Permissions at api.slack.com/apps, "
        "then install the app again."
    )


def error_code(error: SlackApiError) -> str:
    return str(_data(error).get("error") or "")


def header(headers: Any, name: str) -> str:
    return str(headers.get(name) or headers.get(name.title()) or "").replace(" ", "")


def is_trusted(address: str, settings: Settings) -> bool:
    """Others must not get the token."""
    target, api = urlsplit(address), urlsplit(settings.api_base_url)
    if (target.scheme, target.netloc) == (api.scheme, api.netloc):
        return True
    return target.scheme == "https" and target.port in (None, 443) and is_host_of_slack(address)


def is_host_of_slack(address: str) -> bool:
    return f".{urlsplit(address).hostname or ''}".endswith(".slack.com")


def sdk_logger() -> logging.Logger:
    """Below WARNING it would log messages."""
    logger = logging.getLogger("slack_sdk.footnote")
    if not logger.filters:
        logger.addFilter(_without_tickets)
    if logger.level < logging.WARNING:
        logger.setLevel(logging.WARNING)
    return logger


def _without_tickets(record: logging.LogRecord) -> bool:
    """Also in tracebacks; and Bolt's false token warning."""
    if str(record.msg).startswith("As you gave `client`"):
        return False
    if isinstance(record.msg, str):
        record.msg = _TICKET.sub(r"\1=…", record.getMessage())
        record.args = None
    record.exc_info = None
    return True


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
        return _RETRY_SECONDS
