from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.composition import loader
from bot.settings import TaskSettings
from rag_engine import plugins
from rag_engine.agent import calls
from rag_engine.agent.agent import Agent
from rag_engine.agent.loop import AgentLimits
from rag_engine.agent.tool import ToolPorts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from pydantic import SecretStr

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from bot.settings.tools import HttpToolSettings
    from rag_engine.agent.agent import ListTools
    from rag_engine.agent.tool import Tool
    from rag_engine.operator_tools.http_tools import HttpTool
    from rag_engine.ports import Ports
    from rag_engine.tables.answers.computation import Computation


@asynccontextmanager
async def agent(
    settings: Settings, indexing: IndexingComponents, ports: Ports, computation: Computation | None
) -> AsyncGenerator[Agent | None]:
    if ports.contents is None or ports.model is None or computation is None:
        yield None
        return
    tool_ports = ToolPorts(
        contents=ports.contents,
        records=indexing.catalog.records,
        compute=computation.passages,
        web=loader.step("web", settings, ports).run if ports.web is not None else None,
    )
    async with operator_tools(settings) as listed:
        yield Agent(
            tools=loader.tools(tool_ports),
            model=ports.task_models.get(calls.TASK),
            limits=limits(settings),
            operator_tools=listed,
            store=indexing.storage.findings,
        )


def limits(settings: Settings) -> AgentLimits:
    chosen = AgentLimits(**settings.tools.model_dump(exclude={"http", "mcp"}))
    task = settings.tasks.get(calls.TASK, TaskSettings())
    return replace(
        chosen,
        reply_tokens=task.max_tokens or chosen.reply_tokens,
        temperature=task.temperature or chosen.temperature,
    )


@asynccontextmanager
async def operator_tools(settings: Settings) -> AsyncGenerator[ListTools | None]:
    """An MCP server starts when it is first used. Raises `MissingExtra`."""
    own = settings.tools
    if not own.http and not own.mcp:
        yield None
        return
    # It imports aiohttp, which costs every other start a tenth of a second.
    from rag_engine.operator_tools.http_tools import http_tools

    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            http_tools([_http(name, one) for name, one in own.http.items()])
        )
        servers = None
        if own.mcp:
            module = await asyncio.to_thread(
                plugins.load, "rag_engine.operator_tools", "mcp_servers", extra="server"
            )
            described = [
                module.McpServer(
                    name=name,
                    command=one.command,
                    environment=_plain(one.environment),
                    url=one.url,
                    headers=_plain(one.headers),
                    tools=one.tools,
                    start_seconds=one.start_seconds,
                    seconds=one.seconds,
                )
                for name, one in own.mcp.items()
            ]
            servers = await stack.enter_async_context(module.mcp_tools(described))

        async def listed() -> list[Tool]:
            return [*http, *(await servers.tools() if servers is not None else [])]

        yield listed


def _http(name: str, own: HttpToolSettings) -> HttpTool:
    from rag_engine.operator_tools.http_tools import HttpTool

    return HttpTool(
        name=name,
        description=own.description,
        url=own.url,
        method=own.method,
        parameters={"type": "object", "properties": {}, **own.arguments},
        headers=_plain(own.headers),
        seconds=own.seconds,
        most_bytes=own.kilobytes * 1_000,
    )


def _plain(secrets: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: secret.get_secret_value() for name, secret in secrets.items()}
