"""Titles of threads, by a model of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.doubles.discord_double.server import DiscordServer
from tests.doubles.model_servers.openai_server import streamed

if TYPE_CHECKING:
    from tests.journeys.chat.scenario import Scenario

pytestmark = pytest.mark.asyncio(loop_scope="module")
SETTINGS = {"FOOTNOTE_TASKS__TITLES__MODEL": "small"}

HANDBOOK = "Logs are kept for two weeks. Nobody reads them."


def titles(town: Scenario) -> list[str]:
    """The calls that named a thread."""
    method = "edit_channel" if isinstance(town.chat.server, DiscordServer) else "assistant.threads.setTitle"
    calls = [json.dumps(str(call.arguments)) for call in town.chat.server.calls_of(method)]
    return [call for call in calls if "Keeping logs" in call]


async def test_a_thread_with_the_bot_is_named_once(town: Scenario) -> None:
    is_discord = isinstance(town.chat.server, DiscordServer)
    room = town.room() if is_discord else town.direct("ben")
    opening = "" if is_discord else await town.says("ben", room, "Hello")
    if opening:
        await town.until(lambda: town.ours("ben", room))
    await town.knows(room if is_discord else town.room(), HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", times=2)
    town.model.on(streamed(json.dumps({"title": "Keeping logs"})), task="titles", times=1)
    question = await town.says("ben", room, "@footnote How long are logs kept?", thread=opening)
    answer = (await town.answered("ben", room, opening or question))[-1]
    await town.until(lambda: titles(town))
    if isinstance(server := town.chat.server, DiscordServer):
        channels = server.world.channels
        await town.until(lambda: channels[answer.thread].name == "Keeping logs")
    assert [request.body["model"] for request in town.model.requests if request.task == "titles"] == ["small"]
    await town.says("ben", room, "@footnote How long are the logs kept here?", thread=opening or question)
    await town.until(lambda: len([each for each in town.model.requests if each.task == "answer"]) == 2)
    await town.until(
        lambda: sum("weeks" in each.text for each in town.ours("ben", room, opening or question)) == 2
    )
    assert len([each for each in town.model.requests if each.task == "titles"]) == 1


async def test_a_title_that_cannot_be_written_leaves_the_answer(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    town.model.on(streamed("Two weeks [1]."), task="answer", times=1)
    town.model.on(streamed("no title"), task="titles")
    before = len(titles(town))
    question = await town.says("cleo", room, "@footnote How long are logs kept?")
    assert await town.answered("cleo", room, question)
    if isinstance(town.chat.server, DiscordServer):
        await town.bot.until(lambda: "a thread has no title by a model: UnreadableReply" in town.bot.log())
    assert len(titles(town)) == before
