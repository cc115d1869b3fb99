"""A tool over HTTP: what is sent, what is read, and that no argument and no redirect leads elsewhere."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest
from aiohttp import web

from rag_engine.agent.tool import ToolContext, ToolFailed
from rag_engine.operator_tools.http_tools import HttpTool, http_tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

CONTEXT = cast("ToolContext", None)
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "deep": {"type": "object"}},
    "required": ["city"],
}


@dataclass
class Service:
    url: str = ""
    seen: list[tuple[str, str, str]] = field(default_factory=list["tuple[str, str, str]"])

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.raw_path, await request.text()))
        match request.path.split("/")[1]:
            case "weather":
                given = {"city": request.path.split("/")[-1], "key": request.headers.get("X-Key", "")}
                return web.json_response({**given, "temperature": 21})
            case "slow":
                await asyncio.sleep(30)
            case "huge":
                return web.Response(text="x" * 3_000_000)
            case "picture":
                return web.Response(body=b"\x89PNG", content_type="image/png")
            case "packed":
                return web.Response(
                    body=b"..", content_type="text/plain", headers={"Content-Encoding": "gzip"}
                )
            case "near":
                raise web.HTTPFound("/weather/Rome")
            case "away":
                raise web.HTTPFound("http://169.254.169.254/latest/meta-data")
            case "round":
                raise web.HTTPFound("/round")
            case "refuses":
                return web.Response(status=403, text="no key")
        return web.Response(text="")


@asynccontextmanager
async def service() -> AsyncGenerator[Service]:
    made = Service()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", made.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.url = "http://{}:{}".format(*runner.addresses[0][:2])
        yield made
    finally:
        await runner.cleanup()


async def asked(url: str, arguments: Mapping[str, object], **values: object) -> str:
    given: dict[str, object] = {"description": "", "parameters": SCHEMA, "seconds": 5.0, **values}
    described = HttpTool(name="weather", url=url, **given)  # type: ignore[arg-type]
    async with asyncio.timeout(20), http_tools([described]) as (tool,):
        result = await tool.run(arguments, CONTEXT)
        return result.hits[0].chunk.text if result.hits else ""


async def test_what_is_sent_and_what_can_be_quoted() -> None:
    async with service() as here:
        text = await asked(
            f"{here.url}/weather/{{city}}", {"city": "São Paulo/x?y", "days": 2}, headers={"X-Key": "secret"}
        )
        posted = await asked(f"{here.url}/weather/all", {"city": "Rome", "days": 2}, method="POST")
    assert '"temperature": 21' in text.splitlines()[-2]
    assert '"key": "secret"' in text
    assert here.seen[0][:2] == ("GET", "/weather/S%C3%A3o%20Paulo%2Fx%3Fy?days=2")
    assert here.seen[1][0] == "POST"
    assert json.loads(here.seen[1][2]) == {"city": "Rome", "days": 2}
    assert posted


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "city is missing"),
        ({"city": 7}, "city must be of the type string"),
        ({"city": "Rome", "days": True}, "days must be of the type integer"),
        ({"city": "Rome", "url": "http://10.0.0.1"}, "there is no url"),
        ({"city": ".."}, "cannot be '..'"),
    ],
)
async def test_wrong_arguments_are_not_sent(arguments: Mapping[str, object], sentence: str) -> None:
    async with service() as here:
        with pytest.raises(ToolFailed, match=sentence):
            await asked(f"{here.url}/weather/{{city}}", arguments)
    assert here.seen == []


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("slow", "took too long"),
        ("huge", "more than 1,000,000 bytes"),
        ("picture", "no text"),
        ("packed", "compressed"),
        ("away", "redirects to another"),
        ("round", "redirects too often"),
        ("refuses", "answered 403: no key"),
    ],
)
async def test_what_a_server_may_not_do(path: str, sentence: str) -> None:
    async with service() as here:
        with pytest.raises(ToolFailed, match=sentence):
            await asked(f"{here.url}/{path}", {"city": "Rome"}, seconds=0.5)


async def test_a_redirect_on_the_same_server_is_followed() -> None:
    async with service() as here:
        assert "Rome" in await asked(f"{here.url}/near", {"city": "Rome"})


async def test_a_server_that_is_away() -> None:
    with pytest.raises(ToolFailed, match="cannot be reached"):
        await asked("http://127.0.0.1:9/", {"city": "Rome"})


@pytest.mark.parametrize(
    "city", ["@evil.example", "#", "\\evil", "%2e%2e", "//evil.example/", "\tHost: evil"]
)
async def test_no_argument_changes_the_server(city: str) -> None:
    async with service() as here:
        await asked(f"{here.url}/weather/{{city}}", {"city": city})
    assert len(here.seen) == 1
    assert here.seen[0][1].startswith("/weather/")
