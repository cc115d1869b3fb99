from __future__ import annotations

from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import openai

from rag_engine.errors import AudioUnavailable, CorruptFile, RateLimited

if TYPE_CHECKING:
    from collections.abc import Generator

    from pydantic import SecretStr

    from rag_engine.errors import RagError

_NO_KEY: Final = "none"
_BACKEND: Final = "audio server"
_BAD_FILE: Final = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY}
)


def client(key: SecretStr, *, base_url: str, timeout: float) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key=key.get_secret_value() or _NO_KEY, base_url=base_url, timeout=timeout, max_retries=1
    )


@contextmanager
def translated_errors(variable: str, *, unreadable: bool = False) -> Generator[None]:
    """`unreadable`: a bad request is a bad file."""
    try:
        yield
    except (TimeoutError, openai.APITimeoutError) as error:
        raise _away("The audio server takes too long to answer; try again in a moment.") from error
    except openai.APIConnectionError as error:
        raise _away("The audio server cannot be reached; try again in a moment.") from error
    except openai.APIStatusError as error:
        raise _refusal(error, variable, unreadable=unreadable) from error
    except (openai.OpenAIError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise _away("The audio server sent an answer that cannot be read; try again in a moment.") from error


def _refusal(error: openai.APIStatusError, variable: str, *, unreadable: bool) -> RagError:
    status = error.status_code
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _away(f"The audio server refuses our key: the operator must check {variable}__API_KEY.")
    if status == HTTPStatus.NOT_FOUND:
        return _away(
            f"The audio server does not know the address or the model: the operator must check {variable}__BASE_URL "
            f"and {variable}__MODEL."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited("The audio server asks us to slow down; try again in a moment.", backend=_BACKEND)
    if unreadable and status in _BAD_FILE:
        return CorruptFile(
            "The audio server cannot read this as audio; save it as .mp3 or .wav and add it again."
        )
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _away(
            f"The audio server refuses the request (status {status}): the operator must check {variable}__MODEL."
        )
    return _away(f"The audio server is out of order (status {status}); try again in a moment.")


def _away(message: str) -> AudioUnavailable:
    return AudioUnavailable(message, backend=_BACKEND)
