"""Tools of MCP servers. A server starts when it is first used, and again after a failure."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx2
from mcp import Client, MCPError
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED

from rag_engine.agent.tool import Tool, ToolFailed
from rag_engine.operator_tools.mcp_transports import BoundedTransport, program
from rag_engine.operator_tools.results import indented, passage, secret_headers, without_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from mcp.types import CallToolResult
    from mcp.types import Tool as OfferedTool

    from rag_engine.agent.tool import ToolContext, ToolResult

MOST_TOOLS: Final = 32
_MOST_PAGES: Final = 8
_LONGEST_NAME: Final = 64
_LONGEST_SCHEMA: Final = 6_000
_REST_SECONDS: Final = 15.0
_CLOSE_SECONDS: Final = 5.0
_UNUSABLE: Final = re.compile(r"[^A-Za-z0-9_-]+")

_log = logging.getLogger(__name__)
# A line for each unreadable message.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Nothing else of ours is passed on."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    tools: tuple[str, ...] = ()
    start_seconds: float = 10.0
    seconds: float = 30.0
    """Of a call."""


@asynccontextmanager
async def mcp_tools(servers: Sequence[McpServer]) -> AsyncGenerator[_Servers]:
    opened = _Servers([_Connection(server) for server in servers])
    try:
        yield opened
    finally:
        await asyncio.gather(*(one.close() for one in opened.connections))


@dataclass(frozen=True, slots=True)
class _Servers:
    connections: Sequence[_Connection]

    async def tools(self) -> list[Tool]:
        listed = await asyncio.gather(*(one.tools() for one in self.connections))
        found = [tool for tools in listed for tool in tools]
        if len(found) > MOST_TOOLS:
            _log.warning("of %d tools of MCP servers, %d are used", len(found), MOST_TOOLS)
        return found[:MOST_TOOLS]


class _Connection:
    """A task of its own opens and closes the client."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._offered: Sequence[OfferedTool] = ()
        self._end = asyncio.Event()
        self._failed_at = -_REST_SECONDS
        self._exceeded = False

    async def tools(self) -> list[Tool]:
        try:
            await self._opened()
        except ToolFailed:
            return []
        chosen = self._server.tools
        return [
            Tool(
                name=self._name(offered.name),
                description=offered.description or offered.name,
                parameters=offered.input_schema,
                run=partial(self._run, offered.name),
                acts=True,
            )
            for offered in self._offered
            if (not chosen or offered.name in chosen)
            and len(json.dumps(offered.input_schema)) <= _LONGEST_SCHEMA
        ]

    async def close(self) -> None:
        self._end.set()
        task, was_open = self._task, self._client is not None
        self._task = self._client = None
        if task is None:
            return
        _, running = await asyncio.wait([task], timeout=_CLOSE_SECONDS if was_open else 0)
        for one in running:
            one.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def _name(self, tool: str) -> str:
        return _UNUSABLE.sub("_", f"{self._server.name}_{tool}")[:_LONGEST_NAME]

    async def _run(self, tool: str, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        client = await self._opened()
        try:
            async with asyncio.timeout(self._server.seconds):
                result = await client.call_tool(tool, dict(arguments))
        except TimeoutError as error:
            raise ToolFailed("The server took too long.") from error
        except MCPError as error:
            ended = self._task is None or self._task.done() or self._end.is_set()
            if ended or self._exceeded or _is_closed(error):
                raise await self._failed("The server ended.") from error
            raise ToolFailed(f"The server refused: {self._shown(str(error))[:200]}") from error
        except Exception as error:  # whatever a transport raises
            raise await self._failed("The server cannot be reached.") from error
        text = self._shown(_text(result))
        if result.is_error:
            raise ToolFailed(f"The tool failed: {text[:200]}")
        return passage(self._name(tool), arguments, text)

    async def _opened(self) -> Client:
        async with self._lock:
            # Too much may come between calls.
            is_open = self._task is not None and not self._task.done() and not self._exceeded
            if self._client is not None and is_open:
                return self._client
            if time.monotonic() - self._failed_at < _REST_SECONDS:
                raise ToolFailed("The server failed a moment ago.")
            await self.close()
            self._end, self._exceeded = asyncio.Event(), False
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._hold(ready, self._end), name="an MCP server")
            done, _ = await asyncio.wait(
                [ready, self._task], timeout=self._server.start_seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if ready not in done:
                ready.cancel()
                await self._fail()
                _log.warning("the MCP server %s does not start", self._server.name)
                raise ToolFailed("The server does not start.")
            self._client = ready.result()
            return self._client

    def _shown(self, text: str) -> str:
        server = self._server
        return without_secrets(text, (*secret_headers(server.headers), *server.environment.values()))

    async def _failed(self, sentence: str) -> ToolFailed:
        if self._exceeded:
            sentence = "The server sent too much: ask for less."
        await self._fail()
        return ToolFailed(sentence)

    async def _fail(self) -> None:
        self._failed_at = time.monotonic()
        await self.close()

    def _exceed(self) -> None:
        self._exceeded = True

    async def _hold(self, ready: asyncio.Future[Client], end: asyncio.Event) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(await _client(self._server, stack, self._exceed))
                self._offered = await _listed(client)
                if not ready.done():
                    ready.set_result(client)
                await end.wait()
        except Exception as error:  # whatever a transport raises
            _log.warning("the MCP server %s failed: %s", self._server.name, type(error).__name__)


async def _listed(client: Client) -> list[OfferedTool]:
    found: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return found


async def _client(server: McpServer, stack: AsyncExitStack, exceeded: Callable[[], None]) -> Client:
    longest = max(server.seconds, server.start_seconds)
    settings: dict[str, Any] = {"read_timeout_seconds": longest, "cache": None}
    if server.url:
        timeout = httpx2.Timeout(longest, connect=server.start_seconds)
        http = await stack.enter_async_context(
            httpx2.AsyncClient(
                headers=dict(server.headers), timeout=timeout, transport=BoundedTransport(exceeded=exceeded)
            )
        )
        return Client(streamable_http_client(server.url, http_client=http), **settings)
    environment = {**get_default_environment(), **server.environment}
    return Client(program(server.command, environment, exceeded=exceeded), **settings)


def _is_closed(error: MCPError) -> bool:
    """Servers may have errors of the same code."""
    return error.code == CONNECTION_CLOSED and error.message == "Connection closed"


def _text(result: CallToolResult) -> str:
    text = "\n".join(part.text for part in result.content if part.type == "text")
    if not text and result.structured_content:
        return indented(result.structured_content)
    return text
