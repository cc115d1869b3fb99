from __future__ import annotations

import json
import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

import httpx2
import openai

from rag_engine.errors import ContentFiltered, ContextTooLong, ModelUnavailable, RagError, RateLimited

if TYPE_CHECKING:
    from collections.abc import Generator

logger = logging.getLogger(__name__)

OptionalParameter: TypeAlias = Literal[
    "temperature", "max_tokens", "max_completion_tokens", "stream", "response_format", "tools"
]

_BACKEND = "model"
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "input is too long",
    "reduce the length",
    "exceeds the available context",
)
_FILTERED = ("content_filter", "content filter", "content management policy", "content_policy")
_PARAMETER = re.compile(r"\b(temperature|max_tokens|max_completion_tokens|stream)(?:ing)?\b")
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*", re.ASCII)
_ABOUT_TOOLS = (
    "support tools",
    "support tool",
    "tool choice",
    "tool_choice",
    "tool-call",
    "function calling",
)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota")


@contextmanager
def translate_errors(model: str) -> Generator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        # Servers may repeat the prompt in their message.
        logger.warning("The language model answered %d (%s).", error.status_code, _code(error))
        raise _of_status(error, model) from error
    except openai.APIConnectionError as error:
        raise _unavailable(
            "The language model cannot be reached; try again in a moment. (Its address is set by OPENAI_BASE_URL.)"
        ) from error
    except (openai.APIError, httpx2.TransportError) as error:
        raise _unavailable("The connection to the language model broke off; ask again.") from error
    except TimeoutError as error:
        raise _unavailable("The language model takes too long to answer; try again in a moment.") from error
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, json.JSONDecodeError) as error:
        raise _unavailable("The language model gave an answer that cannot be read; ask again.") from error


def of_reported(code: str, message: str) -> RagError:
    said = f"{code} {message}".lower()
    if any(sign in said for sign in _FILTERED):
        return ContentFiltered()
    if any(sign in said for sign in _TOO_LONG):
        return ContextTooLong()
    if "rate_limit" in said or "429" in said.split():
        return RateLimited(
            "The language model asks us to slow down; try again in a moment.", backend=_BACKEND
        )
    return _unavailable("The language model reports a failure of its own; try again in a moment.")


def is_retriable(error: Exception) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED and not _has(error, _NO_CREDIT)
    return isinstance(error, (openai.APIConnectionError, httpx2.TransportError))


def retry_after(error: Exception) -> float | None:
    if not isinstance(error, openai.APIStatusError):
        return None
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    return None


def unsupported_parameter(error: openai.APIStatusError) -> OptionalParameter | None:
    said = _answer_text(error)
    if any(sign in said for sign in ("response_format", "json_schema", "response format", "guided_json")):
        return "response_format"
    if any(sign in said for sign in _ABOUT_TOOLS):
        return "tools"
    about = ("unsupported", "not support", "unknown", "unrecognized", "extra inputs", "not permitted")
    if not any(sign in said for sign in about):
        return None
    named = _PARAMETER.search(said)
    parameter = error.param or (named[1] if named else "")
    match parameter:
        case "temperature" | "max_tokens" | "max_completion_tokens" | "stream":
            return parameter
        case _:
            return None


def _of_status(error: openai.APIStatusError, model: str) -> RagError:
    match error.status_code:
        case 401 | 403:
            return _unavailable(
                "The language model refuses our key: the operator of this bot must check OPENAI_API_KEY."
            )
        case 404:
            return _unavailable(
                f"The language model {model!r} was not found: the operator of this bot must check FOOTNOTE_MODEL__NAME "
                "and OPENAI_BASE_URL."
            )
        case 402:
            return _out_of_credit()
        case 429 if _has(error, _NO_CREDIT):
            return _out_of_credit()
        case 429:
            return RateLimited(
                "The language model asks us to slow down; try again in a moment.",
                backend=_BACKEND,
                retry_after=retry_after(error),
            )
        case _ if _has(error, _FILTERED):
            return ContentFiltered()
        case 413:
            return ContextTooLong()
        case _ if _has(error, _TOO_LONG):
            return ContextTooLong()
        case status if status >= 500:
            return _unavailable(
                "The language model is out of order; try again in a moment.", after=retry_after(error)
            )
        case status:
            return _unavailable(
                f"The language model refuses the request (status {status}): the operator of this bot must check "
                "FOOTNOTE_MODEL__NAME and OPENAI_BASE_URL."
            )


def _out_of_credit() -> RagError:
    return _unavailable(
        "The language model's account has no credit left: the operator of this bot must check its billing."
    )


def _unavailable(message: str, *, after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable(message, backend=_BACKEND, retry_after=after)


def _code(error: openai.APIStatusError) -> str:
    code = str(error.code or "")
    return code if _NAME.fullmatch(code) else "no code"


def _has(error: openai.APIStatusError, signs: tuple[str, ...]) -> bool:
    said = _answer_text(error)
    return any(sign in said for sign in signs)


def _answer_text(error: openai.APIStatusError) -> str:
    return f"{error.code or ''} {error.message} {error.body if isinstance(error.body, str) else ''}".lower()
