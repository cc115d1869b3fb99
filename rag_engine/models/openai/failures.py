"""What goes wrong with a model server, told in one sentence that the asker and the operator can both act on.

A wrong key or model name is an operator's matter, but it comes to light while somebody waits for an answer: it ends that
answer like any other failure, and the sentence names the setting.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import httpx2
import openai

from rag_engine.errors import ContentFiltered, ContextTooLong, ModelUnavailable, RagError, RateLimited

if TYPE_CHECKING:
    from collections.abc import Generator

logger = logging.getLogger(__name__)

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
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*", re.ASCII)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota")


@contextmanager
def translate_errors(model: str) -> Generator[None]:
    """Turn what the library, its transport and our time-outs raise into errors of ours."""
    try:
        yield
    except openai.APIStatusError as error:
        # Servers may repeat the prompt in their complaint: nothing else of it is for the log.
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
    """The error that a server reports in the middle of its stream."""
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
    """Whether the same request may succeed in a moment."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED and not _has(error, _NO_CREDIT)
    return isinstance(error, (openai.APIConnectionError, httpx2.TransportError))


def retry_after(error: Exception) -> float | None:
    """The seconds that the server asks to wait for, if it does."""
    if not isinstance(error, openai.APIStatusError):
        return None
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    return None


def unsupported_parameter(
    error: openai.BadRequestError,
) -> Literal["temperature", "max_tokens", "max_completion_tokens"] | None:
    """The parameter that this model does not take, where the refusal is about one we can do without."""
    said = _told(error)
    about = ("unsupported", "not support", "unknown", "unrecognized", "extra inputs", "not permitted")
    if not any(sign in said for sign in about):
        return None
    # A refusal of max_tokens recommends max_completion_tokens: what is named first is what is refused.
    named = {
        said.find(name): name
        for name in ("temperature", "max_tokens", "max_completion_tokens")
        if name in said
    }
    parameter = error.param or (named[min(named)] if named else "")
    match parameter:
        case "temperature" | "max_tokens" | "max_completion_tokens":
            return parameter
        case _:
            return None


def _of_status(error: openai.APIStatusError, model: str) -> RagError:
    match error.status_code:
        case 401 | 403:
            return _unavailable(
                "The language model refuses our key: whoever runs this bot must check OPENAI_API_KEY."
            )
        case 404:
            return _unavailable(
                f"The language model {model!r} was not found: whoever runs this bot must check FOOTNOTE_MODEL__NAME "
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
                f"The language model refuses the request (status {status}): whoever runs this bot must check "
                "FOOTNOTE_MODEL__NAME and OPENAI_BASE_URL."
            )


def _out_of_credit() -> RagError:
    return _unavailable(
        "The language model's account has no credit left: whoever runs this bot must check its billing."
    )


def _unavailable(message: str, *, after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable(message, backend=_BACKEND, retry_after=after)


def _code(error: openai.APIStatusError) -> str:
    """What the server calls the fault, where that is a name of its own."""
    code = str(error.code or "")
    return code if _NAME.fullmatch(code) else "no code"


def _has(error: openai.APIStatusError, signs: tuple[str, ...]) -> bool:
    said = _told(error)
    return any(sign in said for sign in signs)


def _told(error: openai.APIStatusError) -> str:
    """What the server said, in small letters: its code, and its message or body."""
    return f"{error.code or ''} {error.message} {error.body if isinstance(error.body, str) else ''}".lower()
