from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse

from bot.messages.errors import sentence_of
from bot.server import completions
from rag_engine.errors import RagError, RateLimited, Unavailable, UnknownKnowledgeBase, UserError

if TYPE_CHECKING:
    from starlette.responses import Response

NO_KEY: Final = "A key is needed: `Authorization: Bearer fn-…`. `footnote keys create` makes one."
_BEARER: Final = {"www-authenticate": "Bearer"}


def failure(error: Exception) -> Response:
    code = None
    match error:
        case UnknownKnowledgeBase():
            status, code = HTTPStatus.NOT_FOUND, "model_not_found"
        case UserError():
            status = HTTPStatus.BAD_REQUEST
        case RateLimited():
            status, code = HTTPStatus.TOO_MANY_REQUESTS, "rate_limit_exceeded"
        case Unavailable() | asyncio.TimeoutError():
            status = HTTPStatus.SERVICE_UNAVAILABLE
        case RagError():
            status = HTTPStatus.BAD_GATEWAY
        case _:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
    return refusal(sentence_of(error, "en"), status, code=code)


def refusal(message: str, status: HTTPStatus, *, code: str | None = None) -> Response:
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    body = completions.error(message, kind=kind, code=code)
    headers = _BEARER if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse(body, status_code=status, headers=headers)
