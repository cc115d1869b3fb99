"""Fetching pages: nothing inside the network is reached, and no page takes more than its share."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp.abc import AbstractResolver
from yarl import URL

from rag_engine.errors import FileTooLarge, Unavailable, UnsupportedFile, UserError
from rag_engine.web.addresses import PrivateAddress, public_url
from rag_engine.web.page_client import PageLimits, page_client
from tests.doubles.web_server import WebServer, web_server
from tests.unit.web.test_addresses import SPELLED, URLS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.web.addresses import Address
    from rag_engine.web.page_client import PageClient

LIMITS = PageLimits(bytes=200_000, seconds=5.0)


class Names(AbstractResolver):
    """Answers with one list of addresses after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET) -> list[Any]:
        addresses = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
            for address in addresses
        ]

    async def close(self) -> None:
        return


@asynccontextmanager
async def small_web(limits: PageLimits = LIMITS) -> AsyncGenerator[tuple[WebServer, PageClient]]:
    """The client may connect to the server's port, and to nothing else."""
    async with web_server() as server:
        port = URL(server.url).port
        async with page_client(limits, is_allowed=lambda _, to: to == port, parse=URL) as client:
            yield server, client


async def test_a_page_is_fetched() -> None:
    async with small_web() as (server, client):
        server.pages["/rules"] = "<p>The rules.</p>"
        page = await client.fetch(f"{server.url}/rules")
    assert page.content == b"<p>The rules.</p>"
    assert (page.suffix, page.url) == ("html", f"{server.url}/rules")


async def test_redirects_are_followed() -> None:
    async with small_web() as (server, client):
        server.pages["/there"] = "<p>There.</p>"
        page = await client.fetch(f"{server.url}/odd/redirect?to=/odd/redirect%3Fto%3D/there")
    assert page.url.endswith("/there")


async def test_a_loop_of_redirects_ends() -> None:
    async with small_web() as (server, client):
        loop = f"{server.url}/odd/redirect?to=" + "/odd/loop"
        server.pages.clear()
        with pytest.raises(UserError):
            await client.fetch(loop)


async def test_no_server_of_this_machine_is_reached() -> None:
    async with web_server() as server, page_client(LIMITS, parse=URL) as client:
        with pytest.raises(PrivateAddress):
            await client.fetch(f"{server.url}/secret")
        with pytest.raises(PrivateAddress):
            await client.fetch(server.url.replace("127.0.0.1", "localhost"))
    assert server.visits == []


@pytest.mark.parametrize("number", range(len(SPELLED)))
async def test_no_other_spelling_reaches_it(number: int) -> None:
    async with web_server() as server:
        address = server.url.replace("127.0.0.1", SPELLED[number])
        async with page_client(LIMITS, parse=URL) as client:
            with pytest.raises((PrivateAddress, Unavailable)):
                await client.fetch(address)
        assert server.visits == []


async def test_a_redirect_leads_to_nothing_inside() -> None:
    async with small_web() as (server, client), web_server() as inside:
        with pytest.raises(PrivateAddress):
            await client.fetch(f"{server.url}/odd/redirect?to={inside.url}/secret")
        with pytest.raises((PrivateAddress, Unavailable)):
            await client.fetch(f"{server.url}/odd/redirect?to=file:///etc/passwd")
    assert inside.visits == []


async def test_a_redirect_leads_to_none_of_the_addresses_inside() -> None:
    async with web_server() as server:
        port = URL(server.url).port

        tried: list[int] = []

        def is_allowed(_: Address, to: int) -> bool:
            tried.append(to)
            return True

        def parse(address: str) -> URL:
            return URL(address) if address.startswith(server.url) else public_url(address)

        server.pages["/there"] = "<p>There.</p>"
        async with page_client(
            LIMITS, is_allowed=is_allowed, parse=parse, resolver=Names(["127.0.0.1"])
        ) as client:
            assert (await client.fetch(f"{server.url}/odd/redirect?to=/there")).content == b"<p>There.</p>"
            inside = [address for address in URLS if "://" in address and address.isprintable()]
            assert len(inside) >= 200
            for address in inside:
                target = URL(f"{server.url}/odd/redirect").with_query(to=address)
                with pytest.raises((PrivateAddress, Unavailable, UserError)):
                    await client.fetch(str(target))
    assert set(tried) == {port}


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.1.2.3", "192.168.0.1"],
        ["0.0.0.1"],
    ],
)
async def test_a_public_name_of_a_private_address_is_refused(addresses: list[str]) -> None:
    async with page_client(LIMITS, resolver=Names(addresses)) as client:
        with pytest.raises((PrivateAddress, Unavailable)) as refused:
            await client.fetch("http://rebind.example/")
    assert refused.type is PrivateAddress or len(addresses) > 1


async def test_a_name_that_changes_its_address_is_examined_again() -> None:
    """DNS rebinding: the first connection goes to an address that is allowed, the next would go inside."""
    async with web_server() as server:
        server.pages["/"] = "<p>Public.</p>"
        port = URL(server.url).port
        names = Names(["127.0.0.1"], ["127.0.0.2"])
        async with page_client(
            LIMITS, is_allowed=lambda address, _: str(address) == "127.0.0.1", parse=URL, resolver=names
        ) as client:
            assert (await client.fetch(f"http://rebind.example:{port}/")).content == b"<p>Public.</p>"
            with pytest.raises(PrivateAddress):
                await client.fetch(f"http://rebind.example:{port}/")
    assert names.asked == 2


async def test_an_endless_page_ends_at_the_limit() -> None:
    async with small_web() as (server, client):
        with pytest.raises(FileTooLarge):
            await client.fetch(f"{server.url}/odd/endless")


async def test_a_packed_page_is_unpacked_up_to_the_limit() -> None:
    async with small_web() as (server, client):
        assert (await client.fetch(f"{server.url}/odd/zipped")).content == b"<p>zipped words</p>"
        with pytest.raises(FileTooLarge):
            await client.fetch(f"{server.url}/odd/bomb")


async def test_a_slow_page_ends() -> None:
    async with small_web(PageLimits(seconds=0.3)) as (server, client):
        with pytest.raises(Unavailable, match="too long"):
            await client.fetch(f"{server.url}/odd/slow")


async def test_what_is_no_page_is_refused() -> None:
    async with small_web() as (server, client):
        with pytest.raises(UnsupportedFile):
            await client.fetch(f"{server.url}/odd/picture")
        with pytest.raises(UserError, match="404"):
            await client.fetch(f"{server.url}/nowhere")


async def test_a_server_that_is_away() -> None:
    async with small_web() as (server, client):
        address = server.url
    async with page_client(LIMITS, is_allowed=lambda *_: True, parse=URL) as client:
        with pytest.raises(Unavailable):
            await asyncio.wait_for(client.fetch(address), 10)
