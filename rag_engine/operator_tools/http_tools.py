"""Each tool is one server, which no argument or redirect changes."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote

import aiohttp
from yarl import URL

from rag_engine.agent.tool import Tool, ToolFailed
from rag_engine.operator_tools.results import indented, passage, secret_headers, without_secrets
from rag_engine.text.surrogates import encodable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rag_engine.agent.tool import ToolContext, ToolResult

PLACE: Final = re.compile(r"\{(\w+)\}")
"""Of an argument in an address."""
WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BLOCK: Final = 64 << 10
_MOST_REDIRECTS: Final = 3
_LONGEST_JSON: Final = 2_000_000
_TEXTS: Final = re.compile(r"text/.+|application/(?:.+\+)?(?:json|xml|yaml)", re.IGNORECASE)
_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTool:
    """Arguments that are not in `url` are its query or JSON body."""

    name: str
    description: str
    url: str
    method: str = "GET"
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    """The JSON schema of the arguments."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    seconds: float = 10.0
    most_bytes: int = 1_000_000


@asynccontextmanager
async def http_tools(described: Sequence[HttpTool]) -> AsyncGenerator[list[Tool]]:
    async with aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False
    ) as session:
        yield [_tool(one, session) for one in described]


def _tool(described: HttpTool, session: aiohttp.ClientSession) -> Tool:
    async def run(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        _check(arguments, described.parameters)
        try:
            async with asyncio.timeout(described.seconds):
                text = await _asked(described, arguments, session)
                return passage(described.name, arguments, text)
        except TimeoutError as error:
            raise ToolFailed("The server took too long.") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ToolFailed("The server cannot be reached.") from error

    return Tool(
        name=described.name,
        description=described.description,
        parameters=described.parameters,
        run=run,
        acts=True,
    )


def _check(arguments: Mapping[str, object], schema: Mapping[str, object]) -> None:
    known = cast("Mapping[str, Mapping[str, object]]", schema.get("properties") or {})
    for name in cast("Sequence[str]", schema.get("required") or ()):
        if name not in arguments:
            raise ToolFailed(f"Wrong arguments: {name} is missing.")
    for name, value in arguments.items():
        if name not in known:
            raise ToolFailed(f"Wrong arguments: there is no {name}.")
        wanted = str(known[name].get("type", ""))
        kind = _TYPES.get(wanted)
        if (kind and not isinstance(value, kind)) or (
            isinstance(value, bool) and wanted in ("integer", "number")
        ):
            raise ToolFailed(f"Wrong arguments: {name} must be of the type {wanted}.")


async def _asked(described: HttpTool, arguments: Mapping[str, object], session: aiohttp.ClientSession) -> str:
    placed = set(PLACE.findall(described.url))
    beside = {name: value for name, value in arguments.items() if name not in placed}
    address = _address(described.url, arguments)
    has_body = described.method in WITH_BODY
    if beside and not has_body:
        address = address.update_query({name: _text(value) for name, value in beside.items()})
    headers = {"Accept": "application/json, text/*;q=0.9", "Accept-Encoding": "identity", **described.headers}
    for _ in range(_MOST_REDIRECTS + 1):
        async with session.request(
            described.method,
            address,
            headers=headers,
            json=beside if has_body else None,
            allow_redirects=False,
        ) as response:
            target = response.headers.get("Location", "")
            if response.status in _REDIRECTS and target:
                address = _followed(address, target)
                continue
            text = await _read(response, described.most_bytes)
            if "json" in response.content_type and len(text) <= _LONGEST_JSON:
                text = await asyncio.to_thread(_indented, text)
            text = without_secrets(text, secret_headers(described.headers))
            if response.status >= HTTPStatus.BAD_REQUEST:
                raise ToolFailed(f"The server answered {response.status}: {text[:200]}")
            return text
    raise ToolFailed("The server redirects too often.")


def _address(template: str, arguments: Mapping[str, object]) -> URL:
    def value(place: re.Match[str]) -> str:
        text = _text(arguments.get(place[1], ""))
        if text in (".", ".."):
            raise ToolFailed(f"Wrong arguments: {place[1]} cannot be {text!r}.")
        return quote(text, safe="")

    return URL(PLACE.sub(value, template), encoded=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _followed(address: URL, target: str) -> URL:
    """Another server would get the operator's headers."""
    found = address.join(URL(target))
    if found.origin() != address.origin():
        raise ToolFailed("The server redirects to another one, which is not allowed.")
    return found


async def _read(response: aiohttp.ClientResponse, most: int) -> str:
    if not _TEXTS.fullmatch(response.content_type):
        raise ToolFailed("The server sent no text.")
    if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
        raise ToolFailed("The server sent a compressed text, which was not asked for.")
    content = bytearray()
    async for block in response.content.iter_chunked(_BLOCK):
        content += block
        if len(content) > most:
            raise ToolFailed(f"The server sent more than {most:,} bytes: ask for less.")
    try:
        text = content.decode(response.charset or "utf-8", "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    return encodable(text)


def _indented(text: str) -> str:
    try:
        return indented(json.loads(text))
    except (ValueError, RecursionError):
        return text
