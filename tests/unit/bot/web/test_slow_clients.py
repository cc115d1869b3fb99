"""Clients that send or read slowly lose their connection, and keep nobody else from the page."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from bot.resilience import connections
from bot.web import guard, sheets
from tests.unit.bot.web.stand import Stand, empty_stand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.process
SECONDS = 0.5


@pytest.fixture
async def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Stand]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", SECONDS)
    monkeypatch.setattr(connections, "READ_SECONDS", SECONDS)
    monkeypatch.setattr(guard, "BODY_SECONDS", SECONDS)
    async with empty_stand(tmp_path) as made:
        yield made


@asynccontextmanager
async def connected(stand: Stand) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address = urlsplit(stand.listens)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 10)
    try:
        yield reader, writer
    finally:
        writer.close()


async def closed(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server closes."""
    async with asyncio.timeout(20):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


async def test_who_says_nothing_is_disconnected(stand: Stand) -> None:
    async with connected(stand) as (reader, _):
        assert await closed(reader) == b""


@pytest.mark.parametrize("before", ["", "GET /static/page.css HTTP/1.1\r\nhost: {host}\r\n\r\n"])
async def test_a_head_that_drips_is_not_waited_for(stand: Stand, before: str) -> None:
    host = urlsplit(stand.url).netloc
    async with connected(stand) as (reader, writer):
        if before:
            writer.write(before.format(host=host).encode())
            await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET / HTTP/1.1\r\n")

        async def drip() -> None:
            while True:
                writer.write(b"a: b\r\n")
                await asyncio.sleep(SECONDS / 10)

        dripping = asyncio.create_task(drip())
        await closed(reader)
        dripping.cancel()


async def test_a_form_that_does_not_arrive_is_answered(stand: Stand) -> None:
    async with stand.signed_in() as client:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    head = (
        f"POST /gaps HTTP/1.1\r\nhost: {urlsplit(stand.url).netloc}\r\ncookie: {cookies}\r\n"
        "content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\ntoken="
    )
    async with connected(stand) as (reader, writer):
        writer.write(head.encode())
        assert b"took too long" in await closed(reader)


async def test_who_does_not_read_is_disconnected(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "static", lambda name: b"x" * 40_000_000)
    head = f"GET /static/page.css HTTP/1.1\r\nhost: {urlsplit(stand.url).netloc}\r\n\r\n"
    async with connected(stand) as (reader, writer):
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(4 * SECONDS)
        assert len(await closed(reader)) < 40_000_000


async def test_a_hundred_silent_connections_go_and_the_page_is_there(stand: Stand) -> None:
    address = urlsplit(stand.listens)
    opened = [await asyncio.open_connection(address.hostname, address.port) for _ in range(120)]
    await asyncio.gather(*(closed(reader) for reader, _ in opened))
    async with stand.client() as client:
        assert (await client.get("/static/page.css")).status_code == 200
    for _, writer in opened:
        writer.close()
