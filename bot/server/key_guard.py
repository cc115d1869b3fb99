from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from bot.resilience.client_requests import body_of
from bot.server.refusals import NO_KEY, failure, refusal
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bot.server.readers import Reader

    FindReader = Callable[[Mapping[str, str] | None], Awaitable[Reader | None]]

MOST_BYTES: Final = 1 << 20
BODY_SECONDS = 30.0
_PATH: Final = "/mcp"
_NOTHING: Final = "There is nothing here: see /v1/models, /v1/chat/completions and /mcp."
_ONLY_POST: Final = "Only POST is answered here."


class KeyGuard:
    """Before MCP's own application, which knows no keys and waits for ever."""

    def __init__(self, app: ASGIApp, find: FindReader) -> None:
        self._app = app
        self._find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if scope["path"].rstrip("/") != _PATH:
            await refusal(_NOTHING, HTTPStatus.NOT_FOUND)(scope, receive, send)
        elif await self._find(request.headers) is None:
            await refusal(NO_KEY, HTTPStatus.UNAUTHORIZED)(scope, receive, send)
        elif request.method != "POST":
            await refusal(_ONLY_POST, HTTPStatus.METHOD_NOT_ALLOWED)(scope, receive, send)
        else:
            await self._passed(request, scope, receive, send)

    async def _passed(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await body_of(request, most_bytes=MOST_BYTES, seconds=BODY_SECONDS)
        except UserError as error:
            await failure(error)(scope, receive, send)
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, read, send)
