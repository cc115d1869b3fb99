"""The outlet of Slack: what people see of one message, write by write, on a Slack that refuses and loses calls."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bot.port import Outlet, Page, Stopped, Unreachable, Write
from rag_engine.research.findings import PlanStep
from tests.contracts.slack_outlet import FINAL, SEARCHING, asked, edit, methods, ours, stream, texts
from tests.unit.adapters.slack.conftest import Bot, bot, running, server

if TYPE_CHECKING:
    from rag_engine.research.findings import StepState
    from tests.doubles.slack_double.server import SlackServer

__all__ = ["bot", "server"]  # fixtures


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


async def test_each_step_of_a_plan_is_a_task_of_its_own(bot: Bot) -> None:
    def page(*states: StepState, text: str = "") -> Page:
        steps = tuple(PlanStep(text=f"{n}. Part", state=state) for n, state in enumerate(states, 1))
        status = "\n".join(("Researching…", *(step.text for step in steps)))
        return Page(text=text, status="" if text else status, steps=steps)

    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(page()))
    await outlet.write(stream(page("running", "running")))
    await outlet.write(stream(page("done", "running")))
    await outlet.write(stream(page("done", "failed", "running")))
    await outlet.write(stream(page("done", "failed", "running", text="You have ")))
    await outlet.write(stream(Page(text="You have 30 days."), final=True))
    sent = [
        [(chunk["id"], chunk["status"]) for chunk in call.arguments["chunks"] if "status" in chunk]  # pyright: ignore[reportGeneralTypeIssues, reportIndexIssue, reportUnknownVariableType]
        for call in bot.server.calls
        if call.method.endswith("Stream")
    ]
    assert sent == [
        [("status", "in_progress")],
        [("step-1", "in_progress"), ("step-2", "in_progress")],
        [("step-1", "complete")],
        [("step-2", "error"), ("step-3", "in_progress")],
        [("status", "complete")],
        [("step-3", "complete")],
    ]
    (message,) = ours(bot.server)
    assert message.text == "You have 30 days."


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


async def test_an_expired_stream_continues_by_edits_with_the_whole_text(bot: Bot) -> None:
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
            bot.server.repair()
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
