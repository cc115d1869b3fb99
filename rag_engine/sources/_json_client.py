"""JSON over HTTP with a token of the operator, for the connectors."""

from __future__ import annotations

import asyncio
import html
import math
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2

from rag_engine.errors import BadSettings, FileTooLarge, NotAllowed, RateLimited, Unavailable, UserError
from rag_engine.sync.types import EntryGone
from rag_engine.text.header_secret import unsendable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rag_engine.sources import Surroundings

_BACKEND: Final = "source"
_TRIES: Final = 5
_LONGEST_WAIT: Final = 60.0
_FORBIDDEN: Final = frozenset({HTTPStatus.FORBIDDEN})
_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


def secret(variable: str) -> str:
    """Of the environment: never in an address, an option or a log."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise BadSettings(f"set {variable} in the environment of the bot.")
    if reason := unsendable(value):
        raise BadSettings(f"{variable}: {reason}.")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonClient:
    """`name` is the service's, for people; `variable` holds its token."""

    name: str
    variable: str
    client: httpx2.AsyncClient
    most_bytes: int
    seconds: float

    async def get(self, path: str, /, **parameters: str | int) -> dict[str, Any]:
        return await self._call("GET", path, params=parameters)

    async def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        return await self._call("POST", path, json=dict(body))

    async def download(self, path: str, /, **parameters: str | int) -> bytes:
        response = await self._answer("GET", path, params=parameters)
        self._check(response)
        return response.content

    async def _call(self, verb: str, path: str, **arguments: Any) -> dict[str, Any]:
        response = await self._answer(verb, path, **arguments)
        self._check(response)
        return self._body(response)

    async def _answer(self, verb: str, path: str, **arguments: Any) -> httpx2.Response:
        """Waits as long as a rate limit says. Raises `EntryGone`, `NotAllowed`, `Unavailable` and `UserError`."""
        for _ in range(_TRIES):
            response = await self._send(verb, path, **arguments)
            if response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
                return response
            await asyncio.sleep(_pause(response))
        raise RateLimited(f"{self.name} asks us to slow down; it is read again later.", backend=_BACKEND)

    async def _send(self, verb: str, path: str, **arguments: Any) -> httpx2.Response:
        try:
            async with (
                asyncio.timeout(self.seconds),
                self.client.stream(verb, path, **arguments) as response,
            ):
                body = bytearray()
                async for block in response.aiter_bytes():
                    body += block
                    if len(body) > self.most_bytes:
                        raise FileTooLarge(f"A page of {self.name} is larger than what is read at most.")
                return httpx2.Response(response.status_code, headers=_plain(response), content=bytes(body))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            raise Unavailable(f"{self.name} does not answer.", backend=_BACKEND, reason="failed") from error

    def _check(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            raise Unavailable(
                f"{self.name} rejects the token: renew {self.variable}.", backend=_BACKEND, reason="token"
            )
        if status in _FORBIDDEN:
            raise NotAllowed(f"{self.name} does not show this to the account of {self.variable}.")
        if status in _GONE:
            raise EntryGone(f"{self.name} no longer has this page, or no longer shows it.")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable(f"{self.name} fails (HTTP {status}).", backend=_BACKEND, reason="status")
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            raise Unavailable(f"{self.name} sends us elsewhere.", backend=_BACKEND, reason="status")
        if status >= HTTPStatus.BAD_REQUEST:
            raise UserError(f"{self.name} refuses the call (HTTP {status}).")

    def unseen(self, marker: str, seen: set[str]) -> str:
        """Of the next page of a list. Raises `Unavailable` if it is empty or came before: the list would not end."""
        if not marker or marker in seen:
            raise Unavailable(f"{self.name} sends a list without end.", backend=_BACKEND, reason="answer")
        seen.add(marker)
        return marker

    def _body(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            body = response.json()
        except ValueError as error:
            raise Unavailable(
                f"{self.name} sends something else than JSON.", backend=_BACKEND, reason="answer"
            ) from error
        if not isinstance(body, dict):
            raise Unavailable(
                f"{self.name} sends something else than documented.", backend=_BACKEND, reason="answer"
            )
        return cast("dict[str, Any]", body)


@asynccontextmanager
async def json_client(
    base: str, *, name: str, variable: str, headers: Mapping[str, str], surroundings: Surroundings
) -> AsyncGenerator[JsonClient]:
    seconds = surroundings.seconds
    async with httpx2.AsyncClient(
        base_url=base, headers=dict(headers), timeout=seconds, follow_redirects=False
    ) as client:
        yield JsonClient(
            name=name,
            variable=variable,
            client=client,
            most_bytes=surroundings.most_bytes,
            seconds=seconds,
        )


def objects(value: object) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", each) for each in items(value) if isinstance(each, dict)]


def items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def mapping(value: object) -> dict[str, Any]:
    """Empty if it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text_at(value: object, *path: str) -> str:
    """Empty if anything on the way is missing."""
    for name in path:
        value = mapping(value).get(name)
    return str(value) if isinstance(value, str | int) else ""


def page(*, title: str, author: str, created: str, modified: str, body: str) -> str:
    """HTML with what is known of it."""
    known = {"author": author, "dcterms.created": created, "dcterms.modified": modified}
    metas = [f'<meta name="{name}" content="{html.escape(value)}">' for name, value in known.items() if value]
    head = "".join(["<meta charset='utf-8'>", f"<title>{html.escape(title)}</title>", *metas])
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def _pause(response: httpx2.Response) -> float:
    try:
        seconds = float(response.headers.get("Retry-After", "1"))
    except ValueError:
        return 1.0
    return min(max(seconds, 0.0), _LONGEST_WAIT) if math.isfinite(seconds) else 1.0


def _plain(response: httpx2.Response) -> dict[str, str]:
    """Without the encoding, which is undone."""
    left_out = ("content-encoding", "content-length", "transfer-encoding")
    return {name: value for name, value in response.headers.items() if name.casefold() not in left_out}
