"""The outlet of Slack where messages are posted and edited, and what holds of any of its writes. Through the real client."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import File, Gone, Page, Throttled, Unreachable, WriteRefused
from bot.streaming.scheduler import Scheduler, relay
from rag_engine.types import Answer, Delta, TurnId
from tests.contracts.slack_outlet import FINAL, SEARCHING, asked, edit, ours, stream, texts
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["bot", "server"]  # fixtures


async def test_an_edited_answer_shows_status_text_and_end(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    for page, final in ((SEARCHING, False), (Page(text="You "), False), (FINAL, True)):
        await outlet.write(edit(page, final=final))
    (message,) = ours(bot.server)
    assert texts(message) == ["Searching 3 files…", "You ", f"{FINAL.text}\n{FINAL.footer}"]
    assert not message.edited
    posted = bot.server.calls_of("chat.postMessage")[0].arguments
    assert (posted["unfurl_links"], posted["unfurl_media"]) == (False, False)
    identifiers = [
        block.get("block_id")
        for call in bot.server.calls
        for block in call.arguments.get("blocks") or ()  # pyright: ignore[reportGeneralTypeIssues]
        if block["type"] != "markdown"
    ]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize("applied", [True, False])
async def test_a_message_is_posted_once_although_the_answer_is_lost(bot: Bot, applied: bool) -> None:
    outlet = (await asked(bot)).outlet()
    bot.server.fail("chat.postMessage", lost=True, applied=applied)
    with pytest.raises(Unreachable):
        await outlet.write(edit(SEARCHING))
    await outlet.write(edit(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"


async def test_a_message_is_posted_once_although_it_cannot_be_looked_for_at_first(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    bot.server.fail("chat.postMessage", lost=True, applied=True)
    bot.server.fail("conversations.replies", status=503)
    for _ in range(2):
        with pytest.raises(Unreachable):
            await outlet.write(edit(SEARCHING))
    await outlet.write(edit(FINAL, final=True))
    assert len(ours(bot.server)) == 1


async def test_a_repeated_event_finds_the_answer_that_is_there(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    ts = await bot.server.user_says(alice, general, "how many days?")
    _, room = await bot.next()
    answer = await room.outlet().write(edit(SEARCHING))
    await bot.server.redeliver(ts)
    _, again = await bot.next()
    assert await again.outlet().write(edit(FINAL, final=True)) == answer
    assert len(ours(bot.server)) == 1


async def test_an_answer_continues_in_existing_messages(bot: Bot) -> None:
    room = await asked(bot)
    first = room.outlet()
    posted = [await first.write(stream(Page(text="one"))), await first.write(edit(Page(text="two"), part=1))]
    second = room.outlet(posted=posted)
    await second.write(edit(Page(text="new one"), final=True))  # its stream is still open
    await second.write(edit(None, part=1))
    (message,) = ours(bot.server)
    assert (message.id, message.text, message.streaming) == (posted[0], "new one", False)


async def test_a_message_is_taken_away_while_it_is_streamed_and_only_once(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(SEARCHING))
    await outlet.write(stream(None))
    await outlet.write(stream(None))
    assert ours(bot.server) == []


async def test_files_come_with_the_last_write(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    export = File(name="export.zip", media_type="application/zip", content=b"PK", description="All of it")
    await outlet.write(edit(Page(text="here", files=(export,))))
    assert len(ours(bot.server)) == 1
    await outlet.write(edit(Page(text="here", files=(export,)), final=True))
    answer, shared = ours(bot.server)
    assert shared.thread == answer.thread
    assert [file.name for file in shared.files] == ["export.zip"]


# --- what goes wrong -----------------------------------------------------------------------------------------------------


async def test_slack_says_how_long_to_wait(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="one ")))
    bot.server.fail("chat.appendStream", status=429, retry_after=7)
    with pytest.raises(Throttled) as raised:
        await outlet.write(stream(Page(text="one two ")))
    assert raised.value.seconds == 7
    await outlet.write(stream(Page(text="one two "), final=True))
    assert ours(bot.server)[0].text == "one two "


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 503}, Unreachable),
        ({"status": 200, "body": b"<html>", "headers": {"Content-Type": "text/html"}}, Unreachable),
        ({"status": 200, "body": b"nonsense", "headers": {"Content-Type": "application/json"}}, Unreachable),
        ({"lost": True}, Unreachable),
    ],
)
async def test_faults_of_slack_are_ours_to_repeat(
    bot: Bot, fault: dict[str, Any], error: type[Exception]
) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(edit(SEARCHING))
    bot.server.fail("chat.update", **fault)
    with pytest.raises(error):
        await outlet.write(edit(FINAL, final=True))
    await outlet.write(edit(FINAL, final=True))


async def test_what_is_gone_and_what_is_not_allowed_is_distinguished(bot: Bot) -> None:
    room = await asked(bot)
    outlet = room.outlet()
    ts = await outlet.write(edit(SEARCHING))
    del bot.server.world.messages[ts]
    with pytest.raises(Gone):
        await outlet.write(edit(FINAL, final=True))
    bot.server.scopes.discard("chat:write")
    with pytest.raises(WriteRefused, match="chat:write"):
        await room.outlet().write(edit(FINAL, final=True))


async def test_nothing_pings_and_nothing_unfolds(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(edit(Page(status="Reading <!channel>.pdf…")))
    await outlet.write(edit(Page(text="safe text"), final=True))
    assert bot.server.pings == []


async def test_budgets_are_those_of_the_workspace_and_the_channel(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    streamed, edited = outlet.routes
    assert (streamed.create.calls, streamed.edit.calls, streamed.finish.calls) == (20, 100, 20)
    assert edited.edit == edited.finish
    assert (edited.edit.calls, edited.edit.seconds) == (50, 60)
    assert "CGENERAL" in edited.create.name
    assert "CGENERAL" not in edited.edit.name
    assert streamed.grows
    assert streamed.lifetime < 300


async def test_cancelling_a_write_leaves_the_outlet_usable(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    held = bot.server.silence("chat.postMessage")
    task = asyncio.create_task(outlet.write(edit(SEARCHING)))
    await bot.server.wait_for(lambda: bot.server.calls_of("chat.postMessage"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    held.set()
    await bot.server.wait_for(lambda: ours(bot.server))
    await outlet.write(edit(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"


async def test_the_scheduler_brings_long_answers_whole_through_it(bot: Bot) -> None:
    chance = random.Random(7)
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    scheduler = Scheduler()
    answers: dict[str, str] = {}

    async def answered(number: int) -> None:
        ts = await bot.server.user_says(alice, general, f"question {number}")
        message, room = await bot.next()
        text = f"{ts} " + " ".join(chance.choice(["alpha", "beta", "gamma\n\n", "δ"]) for _ in range(5000))
        answers[message.place.thread] = text

        async def events() -> AsyncIterator[Delta | Answer]:
            for start in range(0, len(text), 700):
                await asyncio.sleep(0)
                yield Delta(text=text[start : start + 700])
            yield Answer(turn=TurnId("t"), text=text, citations=(), grounded=False, timings={})

        async with scheduler.open(room.outlet()) as stream_:
            await relay(events(), stream_)

    await asyncio.gather(*(answered(number) for number in range(2)))
    assert bot.server.windows.violations == []
    for thread, text in answers.items():
        parts = [each.text for each in ours(bot.server) if each.thread == thread]
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert len(parts) == 3
