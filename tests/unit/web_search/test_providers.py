"""Each provider's requests, and what is made of its answers: against a server that speaks its JSON."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import BadSettings, RateLimited, Unavailable
from tests.doubles.web_server import web_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.ports import WebSearch
    from tests.doubles.web_server import WebServer

PROVIDERS = plugins.modules("rag_engine.web_search")
_ADDRESSES = {"searxng": "", "tavily": "/tavily", "brave": "/brave", "wikipedia": ""}
FOUND = [
    {"title": "Rain &amp; wind", "path": "/wiki/Rain", "text": "It <em>rains</em>."},
    {"title": "Snow", "path": "/wiki/Snow", "text": "It snows."},
]


@asynccontextmanager
async def provider(name: str) -> AsyncGenerator[tuple[WebServer, WebSearch]]:
    module = import_module(f"rag_engine.web_search.{name}")
    async with web_server() as server:
        server.found = FOUND
        values = {"url": server.url + _ADDRESSES[name], "timeout": 2.0}
        if "api_key" in module.Settings.model_fields:
            values["api_key"] = "secret-key"
        async with module.connect(module.Settings.model_validate(values)) as search:
            yield server, search


def test_each_provider_is_tested() -> None:
    assert sorted(_ADDRESSES) == PROVIDERS


@pytest.mark.parametrize("name", PROVIDERS)
async def test_what_is_found(name: str) -> None:
    async with provider(name) as (server, search):
        results = await search.search("Does it rain?", language="en", limit=5)
    assert [result.title for result in results] == ["Rain & wind", "Snow"]
    assert all(result.url.startswith(f"{server.url}/wiki/") for result in results)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_no_more_than_asked_for(name: str) -> None:
    async with provider(name) as (_, search):
        assert len(await search.search("rain", language="", limit=1)) == 1


@pytest.mark.parametrize("name", PROVIDERS)
async def test_nothing_found(name: str) -> None:
    async with provider(name) as (server, search):
        server.found = []
        assert await search.search("rain", language="de", limit=5) == []


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "error"),
    [(429, RateLimited), (500, Unavailable), (503, Unavailable), (401, BadSettings), (404, BadSettings)],
)
async def test_a_refusal_is_one_sentence(name: str, status: int, error: type[Exception]) -> None:
    async with provider(name) as (server, search):
        server.status = status
        with pytest.raises(error) as raised:
            await search.search("rain", language="en", limit=5)
    assert "secret-key" not in str(raised.value)


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("body", ["not JSON", "[]", '{"results": 3}', '{"web": {}, "query": []}', "null"])
async def test_an_answer_of_another_shape(name: str, body: str) -> None:
    async with provider(name) as (server, search):
        server.body = body
        with suppress(Unavailable):
            assert await search.search("rain", language="en", limit=5) == []


async def test_keys_are_sent_as_the_providers_want_them() -> None:
    async with provider("brave") as (server, search):
        await search.search("rain", language="de", limit=5)
        assert server.searches[0].headers["X-Subscription-Token"] == "secret-key"
        assert server.searches[0].query["search_lang"] == "de"
    async with provider("tavily") as (server, search):
        await search.search("rain " * 200, language="de", limit=5)
        assert server.searches[0].headers["Authorization"] == "Bearer secret-key"
        assert len(str(server.posted[0]["query"])) <= 400


async def test_wikipedia_is_asked_in_the_language_of_the_question() -> None:
    module = import_module("rag_engine.web_search.wikipedia")
    async with web_server() as server:
        server.found = FOUND
        settings = module.Settings(url=f"{server.url}/{{language}}")
        async with module.connect(settings) as search:
            with pytest.raises(BadSettings):  # the double has no such path
                await search.search("Regnet es?", language="de", limit=5)
    assert server.visits == ["/de/w/api.php"]
