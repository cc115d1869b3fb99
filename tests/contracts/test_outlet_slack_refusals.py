"""The outlet of Slack on a Slack that does not stream, or does not take the blocks of a message."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import pytest

from adapters.slack.outlets.stream import StreamSupport
from bot.port import Action, Button, Page, Throttled, Write
from tests.contracts.test_outlet_slack import FINAL, SEARCHING, asked, edit, ours, stream
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["bot", "server"]  # fixtures


def refused(code: str) -> dict[str, Any]:
    """The fault of a Slack that answers with that word."""
    body = json.dumps({"ok": False, "error": code, "needed": "some:scope"}).encode()
    return {"status": 200, "body": body, "headers": {"Content-Type": "application/json"}}


@pytest.mark.parametrize("code", ["unknown_method", "not_allowed", "missing_scope", "feature_not_enabled"])
async def test_a_slack_that_refuses_to_stream_is_not_asked_again_with_every_answer(
    bot: Bot, code: str
) -> None:
    bot.server.fail("chat.startStream", times=-1, **refused(code))
    first, at_once = await asked(bot), (await asked(bot)).outlet()
    for outlet in (first.outlet(), at_once, first.outlet(), (await asked(bot)).outlet()):
        await outlet.write(stream(SEARCHING) if outlet.routes[0].name == "stream" else edit(SEARCHING))
        await outlet.write(edit(FINAL, final=True))
    assert len(bot.server.calls_of("chat.startStream")) == 1
    assert [each.text for each in ours(bot.server)] == [f"{FINAL.text}\n{FINAL.footer}"] * 4
    assert [route.name for route in first.outlet().routes] == ["edit"]


async def test_what_slack_says_of_one_place_or_one_message_does_not_end_streams_elsewhere(bot: Bot) -> None:
    room = await asked(bot)
    bot.server.fail("chat.startStream", **refused("invalid_blocks"))
    await room.outlet().write(stream(SEARCHING))
    assert [route.name for route in room.outlet().routes] == ["stream", "edit"]
    bot.server.fail("chat.startStream", **refused("channel_type_not_supported"))
    await room.outlet().write(stream(SEARCHING))
    assert [route.name for route in room.outlet().routes] == ["edit"]
    assert [route.name for route in (await asked(bot, channel="other")).outlet().routes] == ["stream", "edit"]


FAULTS: dict[str, dict[str, Any]] = {
    "internal_error": refused("internal_error"),
    "fatal_error": refused("fatal_error"),
    "503": {"status": 503},
    "500 with a page": {"status": 500, "body": b"<html>", "headers": {"Content-Type": "text/html"}},
    "404": {"status": 404, "body": b"not found", "headers": {"Content-Type": "text/plain"}},
    "no ts": {"status": 200, "body": b'{"ok": true}', "headers": {"Content-Type": "application/json"}},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_a_failing_start_of_a_stream_costs_no_placeholder(bot: Bot, fault: dict[str, Any]) -> None:
    bot.server.fail("chat.startStream", times=-1, **fault)
    room = await asked(bot)
    outlet = room.outlet()
    await outlet.write(stream(SEARCHING))  # the very write that failed
    (message,) = ours(bot.server)
    assert SEARCHING.status in message.text
    assert [route.name for route in outlet.routes] == ["edit"]
    await outlet.write(edit(FINAL, final=True))
    assert [route.name for route in room.outlet().routes] == ["edit"], "remembered"
    assert [route.name for route in (await asked(bot, channel="other")).outlet().routes] == ["edit"]
    assert len(bot.server.calls_of("chat.startStream")) == 1
    assert len(ours(bot.server)) == 1
    assert bot.signals.faults == ["stream_failed"]


async def test_a_stream_that_started_in_spite_of_its_error_is_not_posted_again(bot: Bot) -> None:
    bot.server.fail("chat.startStream", status=503, applied=True)
    outlet = (await asked(bot)).outlet()
    await outlet.write(stream(SEARCHING))
    await outlet.write(edit(FINAL, final=True))
    (message,) = ours(bot.server)
    assert (message.text, message.streaming) == (f"{FINAL.text}\n{FINAL.footer}", False)


def test_slack_is_asked_for_streams_again_after_five_minutes_of_faults() -> None:
    at = 100.0
    streaming = StreamSupport(now=lambda: at)
    streaming.record_fault("internal_error")
    at += 299
    assert not streaming.is_offered("C1")
    at += 1
    assert streaming.is_offered("C1")


def test_slack_is_asked_for_streams_again_after_an_hour() -> None:
    at = 100.0
    streaming = StreamSupport(now=lambda: at)
    streaming.record_refusal("C1", "not_allowed")
    streaming.record_refusal("C2", "restricted_action")
    at += 3599
    assert not streaming.is_offered("C1")
    assert not streaming.is_offered("C3")
    at += 1
    assert streaming.is_offered("C1")
    assert streaming.is_offered("C2")


# --- blocks that Slack does not take --------------------------------------------------------------------------------------

TABLES = Page(
    text="| a | b |\n| --- | --- |\n| 1 & 2 | <!channel> |\n\nand\n\n| c |\n| --- |\n| 3 |\n\n"
    + "word " * 900,
    footer=FINAL.footer,
    buttons=FINAL.buttons,
)


def formatted(arguments: Mapping[str, Any]) -> bool:
    return any(block["type"] == "markdown" for block in arguments.get("blocks") or ())


def with_blocks(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments.get("blocks"))


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("code", ["invalid_blocks", "invalid_attachments"])
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_text_that_slack_cannot_format_arrives_as_it_was_written(
    bot: Bot, method: str, code: str
) -> None:
    outlet = (await asked(bot)).outlet()
    if method == "chat.update":
        await outlet.write(edit(SEARCHING))
    bot.server.fail(method, times=-1, when=formatted, **refused(code))
    await outlet.write(edit(TABLES, final=True))
    (message,) = ours(bot.server)
    assert squeezed(message.text) == squeezed(TABLES.text + TABLES.footer)
    assert [button.label for button in message.buttons] == ["Sources", "Regenerate", "Good", "Bad"]
    assert bot.server.pings == []
    assert len(bot.server.calls_of(method)) == 2


@pytest.mark.parametrize("code", ["invalid_blocks", "msg_blocks_too_long"])
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_text_arrives_alone_where_slack_takes_no_blocks(bot: Bot, method: str, code: str) -> None:
    outlet = (await asked(bot)).outlet()
    if method == "chat.update":
        await outlet.write(edit(SEARCHING))
    bot.server.fail(method, times=-1, when=with_blocks, **refused(code))
    await outlet.write(edit(TABLES, final=True))
    (message,) = ours(bot.server)
    assert html.unescape(squeezed(message.text)) == squeezed(TABLES.text + TABLES.footer)
    assert bot.server.pings == []
    assert message.buttons == ()


async def test_text_that_grows_is_not_tried_again_in_the_form_that_was_refused(bot: Bot) -> None:
    outlet = (await asked(bot)).outlet()
    await outlet.write(edit(SEARCHING))
    bot.server.fail("chat.update", times=2, when=formatted, **refused("invalid_blocks"))
    for text in (TABLES.text[:100], TABLES.text[:200], TABLES.text[:300]):
        await outlet.write(edit(Page(text=text)))
    assert len(bot.server.calls_of("chat.update")) == 4
    await outlet.write(edit(FINAL, final=True))  # meets the second fault
    await outlet.write(edit(FINAL, final=True))
    assert formatted(bot.server.calls_of("chat.update")[-1].arguments)
    assert ours(bot.server)[0].text == f"{FINAL.text}\n{FINAL.footer}"


@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream"])
async def test_a_stream_whose_next_piece_slack_refuses_becomes_a_whole_message(bot: Bot, method: str) -> None:
    outlet = (await asked(bot)).outlet()
    ts = await outlet.write(stream(Page(text=TABLES.text[:10])))
    bot.server.fail(method, **refused("invalid_blocks"))
    await outlet.write(stream(Page(text=TABLES.text[:50])))
    await outlet.write(stream(TABLES, final=True))
    (message,) = ours(bot.server)
    assert (message.id, message.streaming) == (ts, False)
    assert squeezed(message.text) == squeezed(TABLES.text + TABLES.footer)
    assert [button.label for button in message.buttons] == ["Sources", "Regenerate", "Good", "Bad"]


# --- for one person's eyes -------------------------------------------------------------------------------------------------


def privately(page: Page, route: str = "respond") -> Write:
    return Write(part=0, page=page, route=route, final=True)


@pytest.mark.parametrize("wherever", [formatted, with_blocks])
@pytest.mark.parametrize("method", ["response_url", "chat.postEphemeral"])
async def test_a_private_answer_arrives_whole_although_its_blocks_are_refused(
    bot: Bot, method: str, wherever: Any
) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    if method == "response_url":
        await bot.server.user_commands(alice, general, "/ask what?")
    else:
        await bot.server.user_says(alice, general, "what?")
    event, room = await bot.next()
    bot.server.fail(method, times=-1, when=wherever, **refused("invalid_blocks") | _status(method))
    await room.outlet(private=event.person).write(privately(TABLES))
    (message,) = [each for each in ours(bot.server) if each.only_for == alice.id]
    assert html.unescape(squeezed(message.text)) == squeezed(TABLES.text + TABLES.footer)
    assert bool(message.buttons) is (wherever is formatted)
    assert bot.server.pings == []


def _status(method: str) -> dict[str, Any]:
    """An address answers in HTTP, a method in its body."""
    return {"status": 400} if method == "response_url" else {}


@pytest.mark.parametrize(
    "fault", [{"status": 429, "retry_after": 1}, refused("invalid_blocks") | {"status": 400}]
)
async def test_a_private_message_is_still_replaced_after_slack_refused_to(
    bot: Bot, fault: dict[str, Any]
) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_commands(alice, general, "/kb list")
    command, room = await bot.next()
    first = Page(text="1", buttons=(Button(name="page", label="More", value="2"),))
    await room.outlet(private=command.person).write(privately(first))
    (shown,) = ours(bot.server)
    await bot.server.user_clicks(alice, shown.id, "More")
    action, room = await bot.next()
    assert isinstance(action, Action)
    outlet = room.outlet(private=action.person, posted=(action.message,))
    bot.server.fail("response_url", **fault)
    try:
        await outlet.write(privately(Page(text="2")))
    except Throttled:
        await outlet.write(privately(Page(text="2")))
    assert [each.text for each in ours(bot.server)] == ["2"]
