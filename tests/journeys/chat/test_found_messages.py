"""Slack's own search of messages: off by default, one switch per place, cited by permalink, never what is private."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import pytest_asyncio

from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import Scenario, scenario, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chats import Chat
    from tests.doubles.slack_double.server import SlackServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

METHOD = "assistant.search.context"


def server(town: Scenario) -> SlackServer:
    return cast("SlackServer", town.chat.server)


def among_agents(chat: Chat) -> None:
    cast("SlackServer", chat.server).gives_action_tokens = True


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenario]:
    folder = tmp_path_factory.mktemp("messages")
    async with scenario("slack", folder, prepare=among_agents) as opened:
        yield opened
        assert opened.chat.server.windows.violations == []
        tokens = server(opened).action_tokens
        assert tokens
        log = opened.bot.log()
        stored = b"".join(path.read_bytes() for path in folder.rglob("chat.sqlite*"))
        assert [token for token in tokens if token in log or token.encode() in stored] == []


async def asks(town: Scenario, person: str, room: str, text: str) -> str:
    """What the model was given and the person was shown."""
    before = len(town.model.requests)
    town.model.on(streamed("That was written [1] [2] [3]."), task="answer", matching=text, times=1)
    question = await town.says(person, room, f"@footnote {text}")
    shown = [words(each) for each in await town.answered(person, room, question)]
    given = [
        each.text for each in town.model.requests[before:] if each.task == "answer" and text in each.text
    ]
    return "\n".join((*given, *shown))


async def settings(town: Scenario, room: str, line: str, expected: str) -> str:
    before = {each.id for each in town.ours("ada", room)}
    await town.commands("ada", room, f"kb settings {line}")
    replies = await town.until(
        lambda: [each for each in town.ours("ada", room) if each.id not in before and expected in words(each)]
    )
    return words(replies[-1])


async def known(town: Scenario) -> str:
    room = town.room()
    await town.knows(room, "The handbook speaks of ferries, buoys and ropes.")
    return room


async def test_off_by_default_then_cited_with_author_time_and_permalink(town: Scenario) -> None:
    elsewhere, room = town.room(), await known(town)
    said = await town.says("ben", elsewhere, "The gangway password this season is marmalade.")
    calls = len(server(town).calls_of(METHOD))
    assert "marmalade" not in await asks(town, "cleo", room, "What gangway password has the season?")
    assert len(server(town).calls_of(METHOD)) == calls
    assert "public channels" in await settings(town, room, "messages:on", "public channels")
    told = await asks(town, "cleo", room, "What is the gangway password of this season?")
    assert "marmalade" in told
    assert "message, 20" in told
    assert "ben" in told
    assert f"/archives/{elsewhere}/p{said.replace('.', '')}" in told
    assert "gangway password has the season" not in told.partition("marmalade")[2]


async def test_what_is_private_is_not_shown_even_if_slack_hands_it_out(town: Scenario) -> None:
    secret, room = town.room("ada", "cleo", private=True), await known(town)
    direct = town.direct("cleo")
    await town.says("cleo", secret, "The severance budget of the orchestra is forty crowns.")
    asked = await town.says("cleo", direct, "Remind me that the orchestra budget is forty crowns.")
    await town.until(lambda: town.ours("cleo", direct, asked))
    server(town).searched |= {secret, direct}
    await settings(town, room, "messages:on", "public channels")
    calls = len(server(town).calls_of(METHOD))
    told = await asks(town, "cleo", room, "What severance budget has the orchestra?")
    assert len(server(town).calls_of(METHOD)) == calls + 1
    assert "forty crowns" not in told


async def test_a_limit_or_a_missing_permission_is_one_sentence_under_the_answer(town: Scenario) -> None:
    room = await known(town)
    await settings(town, room, "messages:on", "public channels")
    server(town).fail(METHOD, status=429, retry_after=30)
    assert "could not be searched this time" in await asks(town, "ben", room, "What of the ferries, buoys?")
    calls = len(server(town).calls_of(METHOD))
    assert "could not be searched this time" in await asks(town, "ben", room, "What of the ropes?")
    assert len(server(town).calls_of(METHOD)) == calls
