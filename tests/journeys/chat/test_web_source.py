"""`/kb source` with a web page: added, read again when it changed, and removed, as people see it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.doubles.chats import PLATFORMS
from tests.doubles.model_servers.openai_server import streamed
from tests.doubles.web_server import WebServer, web_server
from tests.journeys.chat.scenario import SECONDS, Scenario, scenario, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chat_server import Shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = "<html><head><title>Harbour rules</title></head><body><p>{rule}</p></body></html>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pages() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def town(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pages: WebServer
) -> AsyncIterator[Scenario]:
    folder = tmp_path_factory.mktemp(f"web_{request.param}")
    async with scenario(request.param, folder, FOOTNOTE_SOURCES__ALLOWED=f"{pages.url}/") as opened:
        yield opened
        assert opened.chat.server.windows.violations == []


async def source(town: Scenario, person: str, room: str, line: str, expected: str) -> Shown:
    before = {each.id for each in town.ours(person, room)}
    await town.commands(person, room, f"kb source {line}")
    told = await town.until(
        lambda: [
            each for each in town.ours(person, room) if each.id not in before and expected in words(each)
        ]
    )
    return told[-1]


async def given(town: Scenario, room: str, text: str) -> str:
    """What the model was given to answer from, with what was shown."""
    before = len(town.model.requests)
    town.model.on(streamed("The rules say so [1]."), task="answer", matching=text, times=1)
    question = await town.says("ben", room, f"@footnote {text}")
    shown = [words(each) for each in await town.answered("ben", room, question)]
    return "\n".join((*(each.text for each in town.model.requests[before:] if each.task == "answer"), *shown))


async def test_a_page_is_followed_and_removed(town: Scenario, pages: WebServer) -> None:
    room = town.room()
    path = f"/rules-{town.chat.platform}"
    address = f"{pages.url}{path}"
    pages.pages[path] = PAGE.format(rule="The mooring fee is nine euros a night.")
    await source(town, "ben", room, f"action:add address:{address}", "Only an admin")
    told = await source(town, "ada", room, f"action:add address:{address}", "1 entry; last time 1 new")
    assert "every 1d" in words(told)
    seen = await given(town, room, "What is the mooring fee?")
    assert "nine euros" in seen
    assert "Harbour rules" in seen
    pages.pages[path] = PAGE.format(rule="The mooring fee is twelve euros a night.")
    await source(town, "ada", room, f"action:run address:{address}", "now")
    async with asyncio.timeout(SECONDS):
        while "1 changed" not in words(await source(town, "ada", room, "action:list", address)):
            continue
    seen = await given(town, room, "What is the mooring fee now?")
    assert "twelve euros" in seen
    assert "nine euros" not in seen
    question = await source(town, "ada", room, f"action:remove address:{address}", "Remove")
    await town.clicks("ada", question, "Remove")
    await town.written("ada", room, "", "with its documents")
    assert "twelve euros" not in await given(town, room, "How much is the mooring fee a night?")


async def test_a_page_that_cannot_be_read_says_why(town: Scenario, pages: WebServer) -> None:
    address = f"{pages.url}/nowhere"
    added = words(await source(town, "ada", town.room(), f"action:add address:{address}", "1 failed"))
    assert added.count(address) == 3
    assert "404" in added
