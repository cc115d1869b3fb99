"""The outlet of Slack: what people see of one message, write by write, on a Slack that refuses and loses calls."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Button, File, Gone, Outlet, Page, Refused, Room, Stopped, Throttled, Unreachable, Write
from bot.streaming import Scheduler, relay
from rag_engine.types import Answer, Delta, TurnId
from tests.unit.adapters.slack.conftest import Bot, bot, running, server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.chat_server import Shown
    from tests.doubles.slack_server import SlackServer

__all__ = ["bot", "server"]  # fixtures

SEARCHING = Page(status="Searching 3 files…")
FINAL = Page(
    text="You have **30** days [1].",
    footer="[1] <https://acme.slack.com/archives/C1/p1|handbook.pdf> — p. 3",
    buttons=(
        Button(name="sources", label="Sources", value="t1"),
        Button(name="again", label="Regenerate", value="t1", style="primary"),
        Button(name="rate", label="Good", value="t1 up", feedback=True),
        Button(name="rate", label="Bad", value="t1 down", feedback=True),
    ),
)


async def asked(bot: Bot, *, direct: bool = False, channel: str = "general") -> Room:
    """The room of a question that was just asked."""
    alice = bot.server.add_user("alice")
    place = bot.server.direct(alice) if direct else bot.server.add_channel(channel, [alice])
    await bot.server.user_says(alice, place, f"{bot.server.mention} how many days?")
    _, room = await bot.next()
    return room


def stream(page: Page | None, *, final: bool = False, part: int = 0) -> Write:
    return Write(part=part, page=page, route="stream", final=final)


def edit(page: Page | None, *, final: bool = False, part: int = 0) -> Write:
    return Write(part=part, page=page, route="edit", final=final)


def ours(server: SlackServer) -> list[Shown]:
    """All messages of ours, as people see them."""
    messages = [server.shown(ts) for ts in sorted(server.world.messages)]
    return [message for message in messages if message.ours]


def texts(shown: Shown) -> list[str]:
    return [text.text for text in shown.texts]


def methods(server: SlackServer) -> list[str]:
    return [call.method for call in server.calls if call.method.startswith("chat.")]


# --- streams -----------------------------------------------------------------------------------------------------------


async def test_a_streamed_answer_is_one_message_that_only_grows(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    assert [route.name for route in outlet.routes] == ["stream", "edit"]
    ids = {await outlet.write(stream(SEARCHING))}
    assert ours(bot.server)[0].tasks == ("Searching 3 files…",)
    for page in (Page(status="Reading…"), Page(text="You have "), Page(text="You have **30** days")):
        ids.add(await outlet.write(stream(page)))
    ids.add(await outlet.write(stream(FINAL, final=True)))
    (message,) = ours(bot.server)
    assert ids == {message.id}
    assert not message.streaming
    assert message.thread
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"
    assert [text for text in texts(message) if text] == ["You have ", "You have **30** days", message.text]
    assert [button.label for button in message.buttons] == ["Sources", "Regenerate", "Good", "Bad"]
    assert methods(bot.server) == [
        "chat.startStream",
        "chat.appendStream",
        "chat.appendStream",
        "chat.appendStream",
        "chat.stopStream",
    ]
    assert [status.text for status in message.statuses] == ["Searching 3 files…", "Reading…", "Reading…"]
    stopped = bot.server.calls_of("chat.stopStream")[0].arguments
    assert stopped["metadata"]["event_payload"]["part"] == 0  # pyright: ignore[reportIndexIssue]
    assert "markdown_text" not in stopped


async def test_nothing_is_called_when_nothing_is_new(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="a")))
    before = len(bot.server.calls)
    await outlet.write(stream(Page(text="a")))
    await outlet.write(stream(Page(text="b")))  # cannot be shown yet: it differs
    assert len(bot.server.calls) == before
    await outlet.write(stream(Page(text="b and c"), final=True))
    (message,) = ours(bot.server)
    assert message.text == "b and c"
    assert not message.streaming


async def test_a_stream_that_expired_goes_on_by_edits_with_the_whole_text(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    ts = await outlet.write(stream(Page(text="one ")))
    bot.server.advance(301)
    assert await outlet.write(stream(Page(text="one two "))) == ts
    assert ours(bot.server)[0].text == "one two "
    assert [route.name for route in outlet.routes] == ["edit"]
    await outlet.write(edit(Page(text="one two three"), final=True))
    (message,) = ours(bot.server)
    assert message.text == "one two three"
    assert (
        texts(message)[-3:] == ["one ", "one two", "one two three"] or texts(message)[-1] == "one two three"
    )


async def test_the_last_piece_is_not_lost_when_the_stream_expires_before_it(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="one ")))
    bot.server.advance(301)
    await outlet.write(stream(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"
    assert [button.label for button in message.buttons] == ["Sources", "Regenerate", "Good", "Bad"]


async def test_the_scheduler_may_change_to_edits_while_the_stream_is_open(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    ts = await outlet.write(stream(Page(text="one ")))
    assert await outlet.write(edit(Page(text="one two"))) == ts
    await outlet.write(edit(FINAL, final=True))
    (message,) = ours(bot.server)
    assert not message.streaming
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"


async def test_a_person_who_stops_the_stream_sees_no_more_until_the_end(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    ts = await outlet.write(stream(Page(text="one ")))
    await bot.server.user_stops_stream(ts)
    for write in (stream(Page(text="one two ")), edit(Page(text="one two three "))):
        with pytest.raises(Stopped):
            await outlet.write(write)
    assert ours(bot.server)[0].text == "one "
    await outlet.write(edit(FINAL, final=True))
    assert ours(bot.server)[0].text == f"{FINAL.text}\n{FINAL.footer}"


async def test_a_lost_answer_doubles_and_loses_nothing(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="one ")))
    bot.server.fail("chat.appendStream", lost=True, applied=True)
    with pytest.raises(Unreachable):
        await outlet.write(stream(Page(text="one two ")))
    await outlet.write(stream(Page(text="one two ")))
    await outlet.write(stream(Page(text="one two three"), final=True))
    (message,) = ours(bot.server)
    assert message.text == "one two three"


async def test_a_stream_that_nothing_can_be_added_to_is_left_and_its_end_is_paid_for(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="one ")))
    assert outlet.routes[0].lifetime > 60
    bot.server.fail("chat.appendStream", lost=True, applied=False)
    with pytest.raises(Unreachable):
        await outlet.write(stream(Page(text="one two ")))
    assert [(route.name, route.lifetime > 0) for route in outlet.routes] == [
        ("stream", False),
        ("edit", True),
    ]
    await outlet.write(edit(Page(text="one two three ")))
    assert [route.name for route in outlet.routes] == ["edit"]
    (message,) = ours(bot.server)
    assert message.text == "one two three "
    assert not message.streaming


@pytest.mark.parametrize("applied", [True, False])
async def test_a_stream_is_opened_once_although_the_answer_is_lost(bot: Bot, applied: bool) -> None:
    outlet = (await asked(bot)).outlet()
    bot.server.fail("chat.startStream", lost=True, applied=applied)
    with pytest.raises(Unreachable):
        await outlet.write(stream(SEARCHING))
    await outlet.write(stream(Page(text="one ")))
    await outlet.write(stream(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"


@pytest.mark.parametrize("applied", [True, False])
async def test_a_stream_is_ended_once_although_the_answer_is_lost(bot: Bot, applied: bool) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(Page(text="You ")))
    bot.server.fail("chat.stopStream", lost=True, applied=applied)
    with pytest.raises(Unreachable):
        await outlet.write(stream(FINAL, final=True))
    await outlet.write(stream(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"
    assert not message.streaming


async def test_where_slack_does_not_stream_the_message_is_posted(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    bot.server.fail(
        "chat.startStream",
        status=200,
        body=b'{"ok": false, "error": "unknown_method"}',
        headers={"Content-Type": "application/json"},
    )
    await outlet.write(stream(SEARCHING))
    assert [route.name for route in outlet.routes] == ["edit"]
    await outlet.write(stream(FINAL, final=True))
    (message,) = ours(bot.server)
    assert message.text == f"{FINAL.text}\n{FINAL.footer}"


async def test_direct_messages_outside_threads_and_settings_without_streams_are_edited(
    server: SlackServer,
) -> None:
    async with running(server, streams=False) as bot:
        room = await asked(bot)
        assert [route.name for route in room.outlet().routes] == ["edit"]
    async with running(server) as bot:
        alice = server.world.users["UALICE"]
        await server.user_says(alice, server.direct(alice), "hello")
        _, room = await bot.next()
        assert [route.name for route in room.outlet().routes] == ["edit"]


async def test_twelve_thousand_characters_fit(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    words = "word " * 2400
    page = Page(text=words[:11_000], footer="x" * 990)
    await outlet.write(stream(Page(text=words[:6000])))
    await outlet.write(stream(page, final=True))
    await outlet.write(edit(page, part=1, final=True))
    first, second = ours(bot.server)
    assert first.text == second.text == f"{page.text}\n{page.footer}"


async def test_random_writes_lose_and_double_nothing(bot: Bot) -> None:
    chance = random.Random(5)
    room = await asked(bot)
    for number in range(12):
        outlet = room.outlet()
        text = f"{number}: " + "".join(chance.choice("abc \n") for _ in range(2000)).strip()
        shown = 0
        while shown < len(text):
            shown += chance.randrange(1, 500)
            fault = chance.choice(["", "", "", "lost", "applied", "expired", "edit"])
            if fault in ("lost", "applied"):
                for method in ("chat.appendStream", "chat.update", "chat.startStream", "chat.postMessage"):
                    bot.server.fail(method, lost=True, applied=fault == "applied")
            if fault == "expired":
                bot.server.advance(301)
            write = (edit if fault == "edit" else stream)(Page(text=text[:shown]))
            await _surely(outlet, write)
            bot.server.mend()
            bot.server.advance(60)
        await _surely(outlet, stream(Page(text=text), final=True))
        assert ours(bot.server)[-1].text == text
    assert len(ours(bot.server)) == 12


async def _surely(outlet: Outlet, write: Write) -> None:
    """As the scheduler does: again until it is done."""
    for _ in range(5):
        try:
            await outlet.write(write)
        except Unreachable:
            continue
        return
    raise AssertionError("the write could not be done")


# --- posting and editing ------------------------------------------------------------------------------------------------


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


async def test_an_answer_goes_on_in_messages_that_are_there(bot: Bot) -> None:
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


async def test_what_is_gone_and_what_is_not_allowed_is_told_apart(bot: Bot) -> None:
    room = await asked(bot)
    outlet = room.outlet()
    ts = await outlet.write(edit(SEARCHING))
    del bot.server.world.messages[ts]
    with pytest.raises(Gone):
        await outlet.write(edit(FINAL, final=True))
    bot.server.scopes.discard("chat:write")
    with pytest.raises(Refused, match="chat:write"):
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
