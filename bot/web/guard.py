"""What holds for every request: its host, its size, its origin; and the headers of every response."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import deque
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlsplit

from bot.resilience.client_requests import body_of
from bot.settings.web import LOOPBACK
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 1 << 16
BODY_SECONDS = 10.0
_MOST_FIELDS: Final = 50
_LONGEST_URL: Final = 4_000
_UNREADABLE: Final = "This form cannot be read."
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # With "no-referrer" a browser would send the origin "null" with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex",
}


class Guard:
    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], secure: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._headers = _HEADERS | ({"strict-transport-security": "max-age=31536000"} if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        guarded = self._with_headers(send)
        sentence = self._refusal(scope)
        if sentence:
            await _refuse(guarded, sentence)
            return
        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> str:
        hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "This host name is not the page's: see FOOTNOTE_WEB__URL."
        if len(scope["raw_path"]) + len(scope["query_string"]) > _LONGEST_URL:
            return "This address is too long."
        return ""

    def _with_headers(self, send: Send) -> Send:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                ours = self._headers | ({} if b"cache-control" in names else {"cache-control": "no-store"})
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in ours.items()),
                ]
            await send(message)

        return guarded


async def _refuse(send: Send, sentence: str) -> None:
    body = sentence.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def hosts(address: str, host: str, port: int) -> frozenset[str]:
    named = urlsplit(address).netloc.lower()
    if host not in LOOPBACK:
        return frozenset({named})
    return frozenset({named, f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"})


def is_same_origin(request: Request, address: str) -> bool:
    origin = request.headers.get("origin", "")
    host = request.headers.get("host", "").lower()
    own = {address.lower(), f"http://{host}"} if address.startswith("http://") else {address.lower()}
    if origin:
        return origin.lower() in own
    return request.headers.get("sec-fetch-site", "") == "same-origin"


def form_token(session: str) -> str:
    """Of every form of a session; another site cannot know it."""
    return hmac.new(session.encode(), b"form", hashlib.sha256).hexdigest()


def is_form_token(session: str, given: str) -> bool:
    return hmac.compare_digest(form_token(session).encode(), given.encode("utf-8", "replace"))


async def form_of(request: Request) -> Mapping[str, str]:
    """Raises `UserError`."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise UserError("This is not a form of this page.")
    body = await body_of(request, most_bytes=MOST_BYTES, seconds=BODY_SECONDS)
    try:
        form = dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError as error:
        raise UserError(_UNREADABLE) from error
    if any("\0" in value for value in form.values()):
        raise UserError(_UNREADABLE)
    return form


class TryLimit:
    """Of a token in a minute; behind a proxy all clients are one."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._failures: deque[tuple[float, str]] = deque()

    def allows(self, token: str) -> bool:
        now = self._clock()
        while self._failures and self._failures[0][0] <= now - 60:
            self._failures.popleft()
        return sum(failed == token for _, failed in self._failures) < self._most

    def failed(self, token: str) -> None:
        self._failures.append((self._clock(), token))
