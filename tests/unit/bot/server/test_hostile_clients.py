"""Clients of `footnote serve` that send slowly, send too much, hold on or leave."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest

from bot.resilience import connections
from bot.server import key_guard
from tests.unit.bot.server.test_server import Served, asked, leaves, served

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from starlette.types import Message

pytestmark = pytest.mark.process
SECONDS = 0.5


@pytest.fixture
async def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Served]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", SECONDS)
    monkeypatch.setattr(connections, "READ_SECONDS", SECONDS)
    monkeypatch.setattr(key_guard, "BODY_SECONDS", SECONDS)
    async with served(tmp_path, monkeypatch) as made:
        yield made


@asynccontextmanager
async def connected(here: Served, head: str) -> AsyncGenerator[asyncio.StreamReader]:
    address = urlsplit(here.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(head.replace("\n", "\r\n").encode())
    try:
        yield reader
    finally:
        writer.close()


async def closed(reader: asyncio.StreamReader) -> str:
    """What comes until the server closes."""
    async with asyncio.timeout(20):
        return (await reader.read()).decode()


def calling(name: str, **arguments: object) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("head", ["", "GET /v1/models HTT", "POST /mcp HTTP/1.1\nhost: a\n"])
async def test_who_sends_no_whole_head_is_disconnected(here: Served, head: str) -> None:
    async with connected(here, head) as reader:
        assert await closed(reader) == ""


@pytest.mark.parametrize("path", ["/mcp", "/v1/chat/completions"])
async def test_a_body_that_does_not_arrive_is_answered(here: Served, path: str) -> None:
    key = f"POST {path} HTTP/1.1\nhost: a\nauthorization: Bearer {here.handbook}\n"
    rest = 'content-type: application/json\ncontent-length: 5000\n\n{"a'
    async with connected(here, key + rest) as reader:
        assert "took too long" in await closed(reader)
    async with connected(here, f"POST {path} HTTP/1.1\nhost: a\n{rest}") as reader:
        assert "A key is needed" in await closed(reader)


@pytest.mark.parametrize("path", ["/mcp", "/v1/chat/completions"])
async def test_fifty_megabytes_are_refused(here: Served, path: str) -> None:
    async with httpx2.AsyncClient(base_url=here.url, headers=headers(here.handbook)) as client:
        refused = await client.post(path, content=b'{"x": "' + b"x" * 50_000_000 + b'"}')
    assert refused.status_code == 400
    assert "too large" in refused.json()["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_nobody_holds_a_stream_open(here: Served, method: str) -> None:
    async with asyncio.timeout(20), httpx2.AsyncClient(headers=headers(here.handbook)) as client:
        assert (await client.request(method, f"{here.url}/mcp")).status_code == 405


async def test_questions_of_tools_have_the_same_limit(here: Served) -> None:
    async with httpx2.AsyncClient(base_url=here.url, headers=headers(here.handbook), timeout=60) as client:
        call = calling("ask", question="How many days of leave?")
        found = await asyncio.gather(*(client.post("/mcp", json=call) for _ in range(12)))
        said = [each.text for each in found]
        assert sum("28 days" in each for each in said) >= 3
        assert any("Too many questions" in each for each in said)
        assert "28 days" in (await client.post("/mcp", json=call)).text


async def test_who_leaves_without_a_stream_frees_their_place(here: Served) -> None:
    body = json.dumps({"model": "footnote", "messages": asked("How many days of leave?")}).encode()
    whole: Message = {"type": "http.request", "body": body, "more_body": False}
    sent = [message for _ in range(4) for message in await leaves(here, whole)]
    assert {message["status"] for message in sent if message["type"] == "http.response.start"} == {400}
    client = here.client(here.handbook)
    answer = await client.chat.completions.create(model="footnote", messages=asked("How many days?"))
    assert answer.choices
