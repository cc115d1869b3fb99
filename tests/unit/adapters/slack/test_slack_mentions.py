"""Slack tells a mention twice, and only one of the two events has its files: which one the service hears of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.doubles.slack_server import SlackServer, Upload
from tests.unit.adapters.slack.conftest import SECONDS, Bot, running

if TYPE_CHECKING:
    from tests.doubles.slack_world import Channel, User

PDF = Upload(name="report.pdf", content=b"%PDF-1.7 report", media_type="application/pdf")
LOOK_UPS = ("conversations.history", "conversations.replies")


@pytest.fixture
def alice(server: SlackServer) -> User:
    return server.add_user("alice")


@pytest.fixture
def general(server: SlackServer, alice: User) -> Channel:
    return server.add_channel("general", [alice])


def look_ups(server: SlackServer) -> int:
    return sum(len(server.calls_of(method)) for method in LOOK_UPS)


def tell_message_only(server: SlackServer, ts: str) -> None:
    """The message that comes beside a mention, some time after it."""
    server.subscriptions = {"message.channels"}
    server.announce(server.world.messages[ts])


async def told(bot: Bot, alice: User) -> list[tuple[str, list[str]]]:
    """Text and names of files of all that is told to the service before it has dealt with every event."""
    bot.server.subscriptions.add("message.im")
    await bot.server.user_says(alice, bot.server.direct(alice), "last")
    await bot.server.wait_for(lambda: all(each.done.is_set() for each in bot.server.wire.deliveries))
    found: list[tuple[str, list[str]]] = []
    while ("last", []) not in found:
        message, _ = await bot.next()
        found.append((message.text, [each.name for each in message.attachments]))
    running_still = [task for task in asyncio.all_tasks() if task.get_name() == "slack event"]
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*running_still)
    while not bot.service.told.empty():
        message, _ = await bot.next()
        found.append((message.text, [each.name for each in message.attachments]))
    return [each for each in found if each[0] != "last"]


@pytest.mark.parametrize("mention_first", [True, False])
async def test_files_are_told_once_and_without_a_look_up_while_slack_answers_none(
    bot: Bot, alice: User, general: Channel, mention_first: bool
) -> None:
    bot.server.mention_first = mention_first
    for method in LOOK_UPS:
        bot.server.fail(method, status=429, retry_after=30, times=-1)
    root = await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} one")
    await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} two", thread=root)
    found = await told(bot, alice)
    assert sorted(found) == [("one", ["report.pdf"]), ("two", ["report.pdf"])]
    assert look_ups(bot.server) == 0


@pytest.mark.parametrize("mention_first", [True, False])
async def test_fifty_mentions_at_once_need_no_look_up_and_no_wait(
    bot: Bot, alice: User, general: Channel, mention_first: bool
) -> None:
    bot.server.mention_first = mention_first
    said: dict[str, float] = {}
    waited: list[float] = []
    for number in range(50):
        ts = await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} {number}")
        said[ts] = bot.server.now()
    while len(waited) < 50:
        message, _ = await bot.next()
        waited.append(bot.server.now() - said.pop(message.id))
        assert [each.name for each in message.attachments] == ["report.pdf"]
    assert look_ups(bot.server) == 0
    assert await told(bot, alice) == []
    assert sorted(waited)[24] < 0.9, "the mentions were held to the end"


async def test_a_mention_is_held_for_the_message_that_comes_after_it(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = {"app_mention"}
    async with running(server) as bot:
        ts = await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        await server.wait_for(lambda: server.wire.deliveries[-1].done.is_set())
        tell_message_only(server, ts)
        assert await told(bot, alice) == [("look", ["report.pdf"])]
        assert look_ups(server) == 0


async def test_a_message_that_comes_during_the_look_up_is_the_one_that_is_told(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = {"app_mention"}
    answered = server.silence("conversations.history")
    async with running(server) as bot:
        ts = await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        await server.wait_for(lambda: look_ups(server))
        tell_message_only(server, ts)
        message, _ = await bot.next()
        assert [each.name for each in message.attachments] == ["report.pdf"]
        answered.set()
        await server.wait_for(lambda: server.calls_of("conversations.history")[0].answered)
        assert await told(bot, alice) == []


async def test_a_message_that_comes_after_the_mention_was_told_is_told_no_more(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = {"app_mention"}
    async with running(server) as bot:
        ts = await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        message, _ = await bot.next()
        assert [each.name for each in message.attachments] == ["report.pdf"]
        tell_message_only(server, ts)
        assert await told(bot, alice) == []


async def test_nothing_is_waited_for_where_no_message_came_lately(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = {"app_mention"}
    async with running(server) as bot:
        waited: list[float] = []
        for number in range(3):
            await server.user_says(alice, general, f"{server.mention} {number}")
            said = server.now()
            message, _ = await bot.next()
            waited.append(server.now() - said)
            assert message.text == str(number)
        assert waited[0] < 2.5
        assert max(waited[1:]) < waited[0] / 2
        server.subscriptions = {"app_mention", "message.channels"}  # the operator has mended it
        before = look_ups(server)
        await server.user_says(alice, general, "anything")
        await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        assert await told(bot, alice) == [("anything", []), ("look", ["report.pdf"])]
        assert look_ups(server) == before
