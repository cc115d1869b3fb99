"""Tools of a real MCP server over both of its transports, and a server that dies, hangs or does not start."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.agent.tool import ToolContext, ToolFailed
from rag_engine.operator_tools import mcp_servers
from rag_engine.operator_tools.mcp_servers import McpServer, mcp_tools
from tests.conftest import PROJECT
from tests.doubles import mcp_double

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager

    from rag_engine.agent.tool import Tool

pytestmark = pytest.mark.process

COMMAND = (sys.executable, "-m", "tests.doubles.mcp_double")
CONTEXT = cast("ToolContext", None)
STDIO = McpServer(
    name="shop", command=COMMAND, environment={"PYTHONPATH": str(PROJECT)}, seconds=20, start_seconds=30
)


@asynccontextmanager
async def by_stdio() -> AsyncGenerator[McpServer]:
    yield STDIO


@asynccontextmanager
async def by_http() -> AsyncGenerator[McpServer]:
    async with mcp_double.served() as url:
        yield replace(STDIO, command=(), url=url)


async def named(servers: object, name: str) -> Tool:
    tools = {tool.name: tool for tool in await servers.tools()}  # type: ignore[attr-defined]
    return cast("Tool", tools[name])


@pytest.mark.parametrize("way", [by_stdio, by_http])
async def test_a_tool_gives_a_passage_that_can_be_cited(
    way: Callable[[], AbstractAsyncContextManager[McpServer]],
) -> None:
    async with asyncio.timeout(60), way() as server, mcp_tools([server]) as servers:
        tool = await named(servers, "shop_stock")
        assert tool.description == "How many of an item are in the shop."
        properties = cast("dict[str, object]", tool.parameters["properties"])
        assert list(properties) == ["item"]
        result = await tool.run({"item": "lamps"}, CONTEXT)
        (hit,) = result.hits
        assert hit.chunk.text == "There are 41 of lamps in the shop."
        assert (hit.chunk.title, hit.chunk.anchor) == ("shop_stock", "item: lamps")
        huge = await (await named(servers, "shop_huge")).run({}, CONTEXT)
        assert len(huge.hits[0].chunk.text) < 10_000
        with pytest.raises(ToolFailed):
            await tool.run({"wrong": 1}, CONTEXT)
        assert (await tool.run({"item": "rugs"}, CONTEXT)).hits, "the server goes on"


async def test_a_tool_that_hangs_ends_and_the_server_goes_on() -> None:
    async with asyncio.timeout(30), by_http() as server, mcp_tools([replace(server, seconds=2)]) as servers:
        hanging = await named(servers, "shop_hang")
        with pytest.raises(ToolFailed, match="too long"):
            await hanging.run({}, CONTEXT)
        assert (await (await named(servers, "shop_stock")).run({"item": "rugs"}, CONTEXT)).hits


async def test_a_server_that_dies_in_a_call_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    async with asyncio.timeout(60), mcp_tools([STDIO]) as servers:
        with pytest.raises(ToolFailed):
            await (await named(servers, "shop_die")).run({}, CONTEXT)
        assert await servers.tools() == [], "it rests a moment"
        monkeypatch.setattr(mcp_servers, "_REST_SECONDS", 0.0)
        known = await (await named(servers, "shop_secrets")).run({}, CONTEXT)
    assert "PYTHONPATH" in known.hits[0].chunk.text
    assert "SLACK_BOT_TOKEN" not in known.hits[0].chunk.text


async def test_a_server_that_does_not_start_leaves_the_others() -> None:
    broken = [
        McpServer(name="gone", command=("/does/not/exist",), start_seconds=5),
        McpServer(name="dumb", command=("sleep", "60"), start_seconds=0.5),
        McpServer(name="away", url="http://127.0.0.1:9/mcp", start_seconds=5),
    ]
    async with asyncio.timeout(40), mcp_double.served() as url:
        good = replace(STDIO, command=(), url=url, tools=("stock",))
        async with mcp_tools([*broken, good]) as servers:
            assert [tool.name for tool in await servers.tools()] == ["shop_stock"]
