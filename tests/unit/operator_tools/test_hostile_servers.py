"""Servers of tools that send too much, without end, in odd shapes, or what they were given in confidence."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from rag_engine.agent.tool import ToolContext, ToolFailed
from rag_engine.operator_tools import mcp_servers, mcp_transports
from rag_engine.operator_tools.mcp_servers import McpServer, mcp_tools
from rag_engine.operator_tools.results import LONGEST, secret_headers, without_secrets
from tests.unit.operator_tools.test_http_tools import asked

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

pytestmark = pytest.mark.process
CONTEXT = cast("ToolContext", None)
SECRET = 'hush "1234" = 5678'


@asynccontextmanager
async def answering(body: bytes, head: str = "200 OK", kind: str = "application/json") -> AsyncGenerator[str]:
    """A server that says this once; yields its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            f"HTTP/1.1 {head}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        )
        writer.write(body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def test_short_json_of_deep_lists_is_not_blown_up() -> None:
    """Indented whole, it took a minute and a gigabyte."""
    deep, started = 950, time.perf_counter()
    async with answering(b"[" * deep + b",".join([b"1"] * 480_000) + b"]" * deep) as url:
        text = await asked(url, {"city": "Rome"}, seconds=15.0)
    assert time.perf_counter() - started < 10
    assert len(text) == LONGEST + 1
    assert text.endswith("…")


@pytest.mark.parametrize(("kind", "body"), [("application/json", b'{"a": "x\\ud800y"}'), ("text/plain; charset=utf-7", b"x+2AA-y")])  # fmt: skip
async def test_half_a_character_does_not_reach_anybody(kind: str, body: bytes) -> None:
    async with answering(body, kind=kind) as url:
        text = await asked(url, {"city": "Rome"})
    assert "x?y" in text.encode().decode()


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"key": SECRET}).encode(),
        json.dumps({"key": SECRET}).replace("h", "\\u0068").encode(),
        b"key=hush%20%221234%22%20%3D%205678",
        SECRET.encode(),
    ],
)
@pytest.mark.parametrize("head", ["200 OK", "401 No"])
async def test_headers_of_the_operator_do_not_come_back(head: str, body: bytes) -> None:
    async with answering(body, head) as url:
        try:
            text = await asked(url, {"city": "Rome"}, headers={"X-Key": SECRET, "Accept": "application/json"})
        except ToolFailed as error:
            text = str(error)
    assert "[secret]" in text
    assert "1234" not in text


@pytest.mark.parametrize("given", ["https://acme.example.org", "http://acme.example.org:8080/wiki/"])
def test_an_address_that_the_operator_gave_is_shown(given: str) -> None:
    """Else no link to the server's own pages would work."""
    assert without_secrets(f"See {given}/T-1", [given]) == f"See {given}/T-1"


@pytest.mark.parametrize(
    "given",
    [
        "https://ann:sesame-seed@acme.example.org",
        "https://acme.example.org/hook/4f7c2a9be01d4f7c2a9be01d",
        "https://acme.example.org/?key=12345678",
    ],
)
def test_an_address_with_a_secret_in_it_is_not_shown(given: str) -> None:
    assert without_secrets(f"See {given}", [given]) == "See [secret]"


def test_headers_without_secrets_are_shown() -> None:
    assert secret_headers({"Accept": "application/json", "X-Key": SECRET}) == [SECRET]


def hostile(how: str) -> McpServer:
    return McpServer(
        name="shop",
        command=(sys.executable, "-m", "tests.doubles.hostile_mcp", how),
        environment={"PYTHONPATH": ":".join(sys.path), "KEY": SECRET},
        start_seconds=20.0,
        seconds=20.0,
    )


async def called(how: str) -> str:
    async with asyncio.timeout(60), mcp_tools([hostile(how)]) as servers:
        return await said_by(servers)


async def said_by(servers: Any) -> str:
    tools = await servers.tools()
    if not tools:
        return "no tools"
    try:
        result = await tools[-1].run({}, CONTEXT)
    except ToolFailed as error:
        return str(error)
    return f"{tools[-1].name}: {result.hits[0].chunk.text}"


@pytest.mark.parametrize("how", ["endless", "large", "parts", "notices", "requests"])
async def test_a_server_that_sends_too_much_is_ended(how: str) -> None:
    assert await called(how) == "The server sent too much: ask for less."


async def test_a_server_that_says_much_between_calls_answers_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = asyncio.Event()

    def program(*given: Any, exceeded: Callable[[], None]) -> Any:
        def end() -> None:
            exceeded()
            ended.set()

        return mcp_transports.program(*given, exceeded=end)

    monkeypatch.setattr(mcp_servers, "program", program)
    async with asyncio.timeout(60), mcp_tools([hostile("chatty")]) as servers:
        assert await said_by(servers) == "shop_t0: fine"
        await ended.wait()
        assert await said_by(servers) == "shop_t0: fine"


async def test_deep_results_are_cut_as_they_are_written() -> None:
    started = time.perf_counter()
    assert len(await called("deep")) < LONGEST + 50
    assert time.perf_counter() - started < 5


async def test_a_long_list_in_a_text_is_no_large_message() -> None:
    assert (await called("rows")).startswith('shop_t0: [{"id": 0}, {"id": 1}')


async def test_lines_that_are_no_messages_fill_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert await called("garbage") == "no tools"
    assert len(caplog.records) < 5


async def test_tools_of_later_pages_are_there() -> None:
    assert await called("pages") == "shop_t2: fine"


@pytest.mark.parametrize("how", ["error", "failure", "echo"])
async def test_the_environment_of_a_server_does_not_come_back(how: str) -> None:
    said = await called(how)
    assert "[secret]" in said
    assert "1234" not in said


async def test_a_closed_shop_is_no_closed_connection() -> None:
    assert await called("closed") == "The server refused: the shop is closed today"
