"""The page of a running bot: a link in chat, and then what this administrator may see of what was asked."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = {"FOOTNOTE_WEB__PORT": "0", "FOOTNOTE_WEB__PRICES": "scripted=1000/1000"}
HANDBOOK = "# Logs\n\nAccess logs are kept for two weeks.\n"
_LINK = re.compile(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+")


async def link_for(town: Scenario, person: str, room: str) -> str:
    await town.commands(person, room, "kb page")
    found = await town.until(lambda: [_LINK.search(words(each)) for each in town.ours(person, room) if _LINK.search(words(each))])  # fmt: skip
    assert found[-1] is not None
    return found[-1][0]


@asynccontextmanager
async def signed_in(link: str) -> AsyncGenerator[httpx2.AsyncClient]:
    address = link.partition("/sign-in/")[0]
    async with httpx2.AsyncClient(base_url=address, timeout=30) as client:
        assert (await client.post(link, headers={"origin": address})).status_code == 303
        yield client


async def asks(town: Scenario, person: str, room: str, question: str) -> None:
    message = await town.says(person, room, f"@footnote {question}")
    await town.answered(person, room, message)


async def test_an_administrator_opens_the_page_from_chat(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="zebra logs")
    await asks(town, "ben", room, "How long are zebra logs kept?")
    async with signed_in(await link_for(town, "ada", room)) as client:
        listed = await client.get("/questions")
        assert "How long are zebra logs kept?" in listed.text
        trace = await client.get(re.findall(r"/questions/[0-9a-f]{16}", listed.text)[0])
        assert "Two weeks [1]." in trace.text
        assert "handbook.md" in trace.text
        assert "cited as [1]" in trace.text
        bases = await client.get("/knowledge-bases")
        assert re.search(r"#room\d+", bases.text)
        overview = await figures(client)
        assert "scripted" in overview
        assert "Half within" in overview
    assert "How long" not in town.bot.log()


async def figures(client: httpx2.AsyncClient) -> str:
    """The overview, as soon as the tokens and the time of the answer are stored, which happens in two steps."""
    while True:
        shown = (await client.get("/")).text
        if "scripted" in shown and "Half within" in shown:
            return shown


async def test_what_is_asked_in_private_stays_private(town: Scenario) -> None:
    room, closed = town.room(), town.room("ben", "cleo", private=True)
    await town.knows(room, HANDBOOK)
    await asks(town, "ben", room, "How long are public logs kept?")
    await asks(town, "ben", closed, "How long are walrus logs kept?")
    message = await town.says("ben", town.direct("ben"), "How long are penguin logs kept?")
    await town.answered("ben", town.direct("ben"), message)
    async with signed_in(await link_for(town, "ada", room)) as client:
        pages = [
            await client.get(path)
            for path in ("/", "/questions", "/documents", "/knowledge-bases", "/experts")
        ]
        everything = "\n".join(each.text for each in pages)
        assert all(each.status_code == 200 for each in pages)
        assert "public logs" in everything
        # A Discord server's administrator reads all of its channels, and direct messages belong to no server.
        is_slack = "SLACK_BOT_TOKEN" in town.chat.environment()
        assert ("Hidden: you may not read this place" in everything) == is_slack
        for secret in ("walrus", "penguin") if is_slack else ("penguin",):
            assert secret not in everything
            assert secret not in (await client.get(f"/questions?text={secret}")).text.replace(
                f'value="{secret}"', ""
            )


async def test_members_get_no_link(town: Scenario) -> None:
    room = town.room()
    await town.commands("ben", room, "kb page")
    await town.until(lambda: [each for each in town.ours("ben", room) if "can do that here" in words(each)])
    assert not any(_LINK.search(words(each)) for each in town.ours("ben", room))
