"""The proxy in front of a real node: it passes on, checks, counts and makes trouble, seen through the real client."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from random import randbytes
from typing import TYPE_CHECKING

import pytest
import trustme
from elasticsearch import (
    ApiError,
    AsyncElasticsearch,
    AuthenticationException,
    ConnectionTimeout,
)
from elasticsearch import ConnectionError as LostConnection

from tests.elastic.proxy import NO_MASTER, REJECTED, Answer, Cut, Delay, Hold, Proxy, checking_proxy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

KEY = "aWQ6c2VjcmV0"


@asynccontextmanager
async def client_of(proxy: Proxy, *, api_key: str | None = KEY) -> AsyncGenerator[AsyncElasticsearch]:
    trusted = ssl.create_default_context(cafile=proxy.ca_file) if proxy.ca_file else None
    client = AsyncElasticsearch(
        proxy.url,
        api_key=api_key,
        ssl_context=trusted,
        max_retries=0,
        request_timeout=20,
        http_compress=True,
    )
    async with client, asyncio.timeout(30):
        yield client


# More than a megabyte even when compressed: aiohttp's server refuses that by default.
@pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")
async def test_what_is_not_troubled_passes_unchanged(elastic_node: str) -> None:
    async with checking_proxy(elastic_node) as proxy, client_of(proxy, api_key=None) as client:
        await client.indices.create(index="passed-on", mappings={"enabled": False})
        large = randbytes(1_000_000).hex()
        await client.index(index="passed-on", id="a/b c", document={"text": large})
        assert (await client.get(index="passed-on", id="a/b c"))["_source"] == {"text": large}
        assert not await client.exists(index="passed-on", id="none")
        await client.indices.delete(index="passed-on")
    put = proxy.seen("/_doc/", method="PUT")[0]
    assert put.path.endswith("a%2Fb%20c")
    assert large in put.text
    assert 2**20 < len(put.body) < len(large)
    assert [request.status for request in proxy.requests] == [200, 201, 200, 404, 200]


async def test_only_the_right_key_over_tls_that_is_trusted(elastic_node: str) -> None:
    async with checking_proxy(elastic_node, api_key=KEY, tls=True) as proxy:
        assert proxy.url.startswith("https://")
        async with client_of(proxy) as client:
            assert (await client.cluster.health())["number_of_nodes"] == 1
        async with client_of(proxy, api_key="d3Jvbmc6a2V5") as client:
            with pytest.raises(AuthenticationException, match="unable to authenticate"):
                await client.cluster.health()
        async with client_of(proxy, api_key=None) as client:
            with pytest.raises(AuthenticationException, match="missing authentication credentials"):
                await client.cluster.health()
        assert [request.status for request in proxy.requests] == [200, 401, 401]


async def test_a_certificate_of_another_authority_is_not_trusted(elastic_node: str) -> None:
    async with checking_proxy(elastic_node, tls=True) as proxy:
        stranger = ssl.create_default_context()
        trustme.CA().configure_trust(stranger)
        async with AsyncElasticsearch(proxy.url, ssl_context=stranger, max_retries=0) as client:
            with pytest.raises(LostConnection, match="TLS error"):
                await client.cluster.health()
    assert proxy.requests == []


async def test_trouble_is_for_chosen_requests_and_so_many_of_them(elastic_node: str) -> None:
    async with checking_proxy(elastic_node) as proxy, client_of(proxy) as client:
        proxy.trouble(REJECTED, path="/_cluster/health$", times=1)
        proxy.trouble(NO_MASTER, path="/_cluster/health$", times=1)
        assert await client.nodes.info(node_id="_local")
        for status, kind in ((429, "es_rejected_execution_exception"), (503, "cluster_block_exception")):
            with pytest.raises(ApiError, match=kind) as raised:
                await client.cluster.health()
            assert raised.value.status_code == status
        assert await client.cluster.health()
        assert len(proxy.seen("health")) == 3


async def test_an_answer_of_the_proxy_never_reaches_the_node(elastic_node: str) -> None:
    async with checking_proxy(elastic_node) as proxy, client_of(proxy) as client:
        proxy.trouble(Answer(status=200, body={"result": "made up"}), method="PUT")
        assert (await client.index(index="made-up", id="1", document={}))["result"] == "made up"
        proxy.heal()
        assert not await client.indices.exists(index="made-up")


@pytest.mark.parametrize(
    ("cut", "done"), [(Cut.BEFORE_REQUEST, False), (Cut.BEFORE_ANSWER, True), (Cut.IN_ANSWER, True)]
)
async def test_a_connection_is_cut_before_and_after_the_node_has_done_it(
    elastic_node: str, cut: Cut, done: bool
) -> None:
    name = f"cut-{cut.name.lower().replace('_', '-')}"
    async with checking_proxy(elastic_node) as proxy, client_of(proxy) as client:
        # A POST, for aiohttp by itself repeats a PUT whose connection is lost.
        proxy.trouble(cut, path=f"^/{name}/_doc$", method="POST", times=1)
        with pytest.raises(LostConnection):
            await client.index(index=name, document={}, refresh=True)
        assert (await client.count(index=name, ignore_unavailable=True))["count"] == done
        await client.indices.delete(index=name, ignore_unavailable=True)


async def test_an_answer_is_held_back_until_it_is_let_go(elastic_node: str) -> None:
    async with checking_proxy(elastic_node) as proxy, client_of(proxy) as client:
        held = Hold()
        proxy.trouble(held, path="health")
        waiting = asyncio.create_task(client.cluster.health())
        await proxy.wait_seen("health")
        assert await client.nodes.info(node_id="_local")
        assert not waiting.done()
        held.until.set()
        assert (await waiting)["number_of_nodes"] == 1


async def test_a_silent_and_a_slow_node_are_timed_out_and_the_proxy_still_ends(elastic_node: str) -> None:
    async with checking_proxy(elastic_node) as proxy, client_of(proxy) as client:
        impatient = client.options(request_timeout=0.2)
        for trouble in (Hold(), Delay(seconds=60)):
            proxy.heal()
            proxy.trouble(trouble)
            with pytest.raises(ConnectionTimeout):
                await impatient.cluster.health()


async def test_a_node_that_is_gone_is_a_lost_connection() -> None:
    async with checking_proxy("http://127.0.0.1:1") as proxy, client_of(proxy) as client:
        with pytest.raises(LostConnection):
            await client.search()
    assert [request.status for request in proxy.requests] == [None]
