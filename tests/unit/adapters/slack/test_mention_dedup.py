"""Which of a mention's two events is handled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack.incoming import mention_dedup
from tests.doubles.slack_double.server import SlackServer, Upload
from tests.unit.adapters.slack.conftest import SECONDS, Bot, running

if TYPE_CHECKING:
    from tests.doubles.slack_double.world import Channel, Message, User

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
    """The message event of a mention, some time later."""
    server.subscriptions = {"message.channels"}
    server.announce(server.world.messages[ts])


async def collected_messages(bot: Bot, alice: User) -> list[tuple[str, list[str]]]:
    """Texts and file names of all events until everything is handled."""
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
    while not bot.service.events.empty():
        message, _ = await bot.next()
        found.append((message.text, [each.name for each in message.attachments]))
    return [each for each in found if each[0] != "last"]


@pytest.mark.parametrize("mention_first", [True, False])
async def test_files_of_a_mention_need_no_look_up(
    bot: Bot, alice: User, general: Channel, mention_first: bool
) -> None:
    bot.server.mention_first = mention_first
    for method in LOOK_UPS:
        bot.server.fail(method, status=429, retry_after=30, times=-1)
    root = await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} one")
    await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} two", thread=root)
    found = await collected_messages(bot, alice)
    assert sorted(found) == [("one", ["report.pdf"]), ("two", ["report.pdf"])]
    assert look_ups(bot.server) == 0


@pytest.mark.parametrize("mention_first", [True, False])
async def test_fifty_mentions_at_once_need_no_look_up_and_no_wait(
    bot: Bot, alice: User, general: Channel, mention_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mention that is held to the end of the wait comes after the time limit of `bot.next`."""
    monkeypatch.setattr(mention_dedup, "_WAIT_SECONDS", 12 * SECONDS)
    bot.server.mention_first = mention_first
    for number in range(50):
        await bot.server.user_uploads(alice, general, PDF, text=f"{bot.server.mention} {number}")
    messages = [(await bot.next())[0] for _ in range(50)]
    assert {message.text for message in messages} == {str(number) for number in range(50)}
    assert {each.name for message in messages for each in message.attachments} == {"report.pdf"}
    assert look_ups(bot.server) == 0
    assert await collected_messages(bot, alice) == []


async def test_a_mention_waits_for_its_message(server: SlackServer, alice: User, general: Channel) -> None:
    server.subscriptions = {"app_mention"}
    async with running(server) as bot:
        ts = await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        await server.wait_for(lambda: server.wire.deliveries[-1].done.is_set())
        tell_message_only(server, ts)
        assert await collected_messages(bot, alice) == [("look", ["report.pdf"])]
        assert look_ups(server) == 0


async def test_a_message_during_the_look_up_replaces_the_mention(
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
        assert await collected_messages(bot, alice) == []


async def test_a_message_after_its_handled_mention_is_ignored(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = {"app_mention"}
    async with running(server) as bot:
        ts = await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        message, _ = await bot.next()
        assert [each.name for each in message.attachments] == ["report.pdf"]
        tell_message_only(server, ts)
        assert await collected_messages(bot, alice) == []


async def test_a_channel_with_mentions_only_is_not_waited_for(
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
        server.subscriptions = {"app_mention", "message.channels"}  # fixed by the operator
        before = look_ups(server)
        await server.user_says(alice, general, "anything")
        await server.user_uploads(alice, general, PDF, text=f"{server.mention} look")
        assert await collected_messages(bot, alice) == [("anything", []), ("look", ["report.pdf"])]
        assert look_ups(server) == before


# --- the mention is only in `app_mention`, or only in blocks ---------------------------------------------------------------


def event(server: SlackServer, message: Message, **more: Any) -> dict[str, Any]:
    return server.world.message_json(message) | {"channel": message.channel, "event_ts": message.ts} | more


async def acknowledged(server: SlackServer) -> None:
    await server.wait_for(lambda: all(each.done.is_set() for each in server.wire.deliveries))


async def twins(server: SlackServer, alice: User, general: Channel, *kinds: str) -> str:
    """A message whose mention only `app_mention` knows; these events are sent, in this order."""
    server.subscriptions = set()
    ts = await server.user_says(alice, general, "how many days?")
    server.subscriptions = {"app_mention", "message.channels"}
    for kind in kinds:
        if kind == "pause":
            await acknowledged(server)
        else:
            tell_twin(server, general, ts, kind)
    return ts


def tell_twin(server: SlackServer, general: Channel, ts: str, kind: str) -> None:
    message = server.world.messages[ts]
    text = f"{server.mention} {message.text}" if kind == "app_mention" else message.text
    server.tell(general, event(server, message, type=kind, text=text, channel_type="channel"))


async def addressed(bot: Bot, ts: str) -> list[bool]:
    """Whether each event of the message was handled as addressed to us."""
    running_still = [task for task in asyncio.all_tasks() if task.get_name() == "slack event"]
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*running_still)
    found: list[bool] = []
    while not bot.service.events.empty():
        message, _ = await bot.next()
        assert message.id == ts
        found.append(message.addressed)
    return found


@pytest.mark.parametrize(
    "kinds",
    [
        ("app_mention", "message"),
        ("message", "app_mention"),
        ("message", "pause", "app_mention"),
        ("app_mention", "pause", "message"),
        ("message", "app_mention", "message", "app_mention"),
        ("message", "pause", "message", "pause", "app_mention"),
    ],
)
async def test_a_mention_is_never_lost_to_a_twin_without_it(
    bot: Bot, alice: User, general: Channel, kinds: tuple[str, ...]
) -> None:
    ts = await twins(bot.server, alice, general, *kinds)
    await acknowledged(bot.server)
    found = await addressed(bot, ts)
    assert found[-1] is True
    assert found == sorted(found), "after a mention it is never handled as not addressed"


async def test_a_mention_waits_for_the_end_of_its_unaddressed_twin(
    bot: Bot, alice: User, general: Channel
) -> None:
    handled, release = asyncio.Event(), asyncio.Event()

    async def answer(message: Any, room: Any) -> None:
        if not message.addressed:
            handled.set()
            await release.wait()

    bot.service.answer = answer
    ts = await twins(bot.server, alice, general, "message")
    await handled.wait()
    tell_twin(bot.server, general, ts, "app_mention")
    await acknowledged(bot.server)
    assert bot.service.events.qsize() == 1
    release.set()
    assert await addressed(bot, ts) == [False, True]


@pytest.mark.parametrize("kinds", [("message", "app_mention"), ("app_mention", "message")])
async def test_a_restart_between_the_two_events_keeps_the_mention(
    server: SlackServer, alice: User, general: Channel, kinds: tuple[str, str]
) -> None:
    async with running(server) as before:
        ts = await twins(server, alice, general, kinds[0], "pause")
        found = await addressed(before, ts)
    async with running(server) as after:
        tell_twin(server, general, ts, kinds[1])
        await acknowledged(server)
        found += await addressed(after, ts)
    assert True in found


async def test_a_mention_only_in_blocks_is_a_mention(
    server: SlackServer, alice: User, general: Channel
) -> None:
    server.subscriptions = set()
    ts = await server.user_says(alice, general, "")
    server.subscriptions = {"message.channels"}
    elements = [
        {"type": "user", "user_id": server.world.bot.id},
        {"type": "text", "text": " how many days for "},
        {"type": "text", "text": "interns", "style": {"bold": True}},
    ]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}]
    async with running(server) as bot:
        server.tell(general, event(server, server.world.messages[ts], blocks=blocks, channel_type="channel"))
        message, _ = await bot.next()
    assert (message.text, message.addressed) == ("how many days for **interns**", True)
