"""Slack without Socket Mode: signed posts to the bot."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest
import pytest_asyncio

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, scenario, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chats import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDBOOK = "# Logs\n\nLogs are kept for two weeks. Backups are kept for one year.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenario]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def prepare(chat: Chat) -> None:
        chat.server.wire.request_url = f"http://127.0.0.1:{port}/slack/events"

    folder, settings = tmp_path_factory.mktemp("http"), {"FOOTNOTE_SLACK__HTTP_PORT": str(port)}
    async with scenario("slack", folder, prepare=prepare, **settings) as opened:
        yield opened


async def test_questions_files_commands_and_buttons_come_by_post(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", matching="posted logs", times=1)
    question = await town.says("ben", room, "@footnote How long are posted logs kept?")
    (answer,) = await town.answered("ben", room, question)
    assert words(answer).startswith("Two weeks [1].")
    await town.clicks("ben", answer, "Helpful")
    await town.until(lambda: any("Thank you" in words(each) for each in town.ours("ben", room, question)))
    await town.commands("ben", room, "/kb show")
    await town.until(
        lambda: any("handbook.md" in words(each) for each in town.ours("ben", room) if each.only_for)
    )
    delivered = town.chat.server.wire.deliveries
    await town.until(lambda: all(each.done.is_set() for each in delivered))
    assert {len(each.sent) for each in delivered} == {1}


async def test_anyone_who_cannot_sign_is_refused(town: Scenario) -> None:
    url = town.chat.server.wire.request_url
    async with aiohttp.ClientSession() as stranger:
        body = '{"type": "url_verification", "challenge": "x"}'
        for headers in ({}, town.chat.server.wire.signed(body, at=1_000_000)):
            json = {"Content-Type": "application/json", **headers}
            async with stranger.post(url, data=body, headers=json) as answered:
                assert answered.status == 401
        signed = {"Content-Type": "application/json", **town.chat.server.wire.signed(body)}
        async with stranger.post(url, data=body, headers=signed) as answered:
            assert answered.status == 200
            assert "x" in await answered.text()
