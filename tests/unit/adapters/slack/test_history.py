"""Pages of a channel's history, and their pace beside live reads."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.port import Gone, IncomingMessage, ReadPace, Throttled, WriteRefused
from tests.doubles.slack_double.world import Message
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from bot.port import Room
    from tests.doubles.slack_double.world import Channel, User

__all__ = ["bot", "server"]


async def room_of(bot: Bot, user: User, channel: Channel) -> Room:
    ts = await bot.server.user_says(user, channel, f"{bot.server.mention} hi")
    while True:
        event, room = await bot.next()
        if isinstance(event, IncomingMessage) and event.id == ts:
            return room


def filled(bot: Bot, count: int) -> tuple[User, Channel, list[str]]:
    ada = bot.server.add_user("ada")
    channel = bot.server.add_channel("general", [ada])
    stamps = [f"{1_700_000_000 + number}.000000" for number in range(count)]
    for number, ts in enumerate(stamps):
        bot.server.world.messages[ts] = Message(ts=ts, channel=channel.id, user=ada.id, text=f"said {number}")
    return ada, channel, stamps


async def test_pages_go_back_to_the_beginning_without_a_gap(bot: Bot) -> None:
    ada, channel, stamps = filled(bot, 250)
    room = await room_of(bot, ada, channel)
    first = await room.history()
    assert first.cursor == min(first.seen)
    second = await room.history(cursor=first.cursor)
    assert second.cursor == ""
    assert {*first.seen, *second.seen} >= set(stamps)
    assert not {*first.seen} & {*second.seen}
    assert {each.text for each in second.messages} <= {f"said {number}" for number in range(250)}
    until = await room.history(until=stamps[-3])
    assert stamps[-3] not in until.seen
    assert stamps[-1] in until.seen


async def test_a_thread_is_read_forwards_with_its_first_message(bot: Bot) -> None:
    ada, channel, (root, _) = filled(bot, 2)
    replies = [
        await bot.server.user_says(ada, channel, f"reply {number}", thread=root) for number in range(3)
    ]
    room = await room_of(bot, ada, channel)
    assert root in (await room.history()).threads
    page = await room.history(thread=root)
    assert page.seen == (root, *replies)
    assert [each.in_thread for each in page.messages] == [False, True, True, True]
    later = await room.history(thread=root, cursor=replies[0])
    assert set(later.seen) == {root, *replies[1:]}


async def test_what_slack_refuses_is_told_apart(bot: Bot) -> None:
    ada, channel, _ = filled(bot, 1)
    room = await room_of(bot, ada, channel)
    bot.server.fail("conversations.history", status=429, retry_after=7)
    with pytest.raises(Throttled) as throttled:
        await room.history()
    assert throttled.value.seconds == 7
    bot.server.scopes.discard("channels:history")
    with pytest.raises(WriteRefused, match="lacks the permission channels:history"):
        await room.history()
    bot.server.scopes.add("channels:history")
    channel.members.discard(bot.server.world.bot.id)
    with pytest.raises(Gone):
        await room.history()


async def test_live_reads_never_wait_and_push_background_reads_back() -> None:
    now = [0.0]
    pace = ReadPace(10, 1.0, now=lambda: now[0])
    await pace.turn()
    for _ in range(5):
        pace.note()
    waiting = asyncio.create_task(pace.turn())
    await asyncio.sleep(0)
    assert not waiting.done()
    now[0] = 0.59
    await asyncio.sleep(0)
    assert not waiting.done()
    now[0] = 0.61
    async with asyncio.timeout(5):
        await waiting
