"""What people do in Slack, as events of `bot.port`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest

from bot.port import Action, Command, IncomingMessage, MessageDeleted, MessageEdited, WriteRefused
from tests.doubles.slack_double.server import SlackServer, Upload
from tests.unit.adapters.slack.conftest import Bot, Service, running

PDF = Upload(name="report.pdf", content=b"%PDF-1.7 report", media_type="application/pdf")
TXT = Upload(name="notes.txt", content=b"notes", media_type="text/plain")


async def _read(attachment: object) -> bytes:
    return b"".join([block async for block in attachment.open()])  # pyright: ignore[reportAttributeAccessIssue]


async def test_a_mention_is_a_message_that_opens_a_thread(bot: Bot) -> None:
    alice = bot.server.add_user("alice", locale="de-DE")
    general = bot.server.add_channel("general", [alice])
    ts = await bot.server.user_says(
        alice, general, f"{bot.server.mention} what is <https://a.example|this> &amp; *that*?"
    )
    message, _ = await bot.next()
    assert isinstance(message, IncomingMessage)
    assert message.text == "what is [this](https://a.example) & **that**?"
    assert (message.id, message.place.channel, message.place.thread) == (ts, general.id, ts)
    assert (message.place.platform, message.place.workspace) == ("slack", "TACME")
    assert (message.person.id, message.person.name, message.person.language) == (alice.id, "alice", "de")
    assert message.addressed
    assert not message.in_thread
    assert not message.to_others
    assert message.uri == f"https://acme.slack.com/archives/{general.id}/p{ts.replace('.', '')}"
    assert message.at == float(ts)


@pytest.mark.parametrize("mention_first", [True, False])
async def test_no_file_of_a_mention_is_lost_whichever_of_its_two_events_comes_first(
    bot: Bot, mention_first: bool
) -> None:
    bot.server.mention_first = mention_first
    bot.server.subscriptions.discard("file_shared")
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_uploads(alice, general, PDF, TXT, text=f"{bot.server.mention} look")
    message, _ = await bot.next()
    assert [each.name for each in message.attachments] == ["report.pdf", "notes.txt"]
    assert [await _read(each) for each in message.attachments] == [PDF.content, TXT.content]
    assert message.attachments[0].media_type == "application/pdf"
    assert message.attachments[0].size == len(PDF.content)
    assert message.attachments[0].uri == message.uri


async def test_a_mention_alone_is_looked_up_for_its_files(server: SlackServer) -> None:
    server.subscriptions = {"app_mention"}
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as bot:
        root = await server.user_says(alice, general, "hello")
        await server.user_uploads(alice, general, PDF, text=f"{server.mention} this", thread=root)
        message, _ = await bot.next()
    assert [each.name for each in message.attachments] == ["report.pdf"]
    assert message.in_thread
    assert message.place.thread == root


async def test_a_failed_look_up_leaves_a_message_without_files(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.subscriptions = {"app_mention"}
    server.fail("conversations.history", status=429, retry_after=30)
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as bot:
        await server.user_says(alice, general, f"{server.mention} the secret question")
        message, _ = await bot.next()
    assert message.text == "the secret question"
    assert "looked up" in caplog.text
    assert "secret" not in caplog.text


async def test_a_direct_message_is_addressed_and_opens_no_thread(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    await bot.server.user_says(alice, bot.server.direct(alice), "hello")
    message, _ = await bot.next()
    assert message.addressed
    assert message.place.thread == ""


async def test_a_reply_says_whom_it_is_for(bot: Bot) -> None:
    alice, berta = bot.server.add_user("alice"), bot.server.add_user("berta")
    general = bot.server.add_channel("general", [alice, berta])
    root = await bot.server.user_says(alice, general, "hello")
    first, _ = await bot.next()
    await bot.server.user_says(alice, general, f"<@{berta.id}> and you?", thread=root)
    second, _ = await bot.next()
    assert not first.addressed
    assert not second.addressed
    assert second.to_others
    assert second.in_thread
    assert second.text == "@berta and you?"
    assert second.uri.endswith(f"?thread_ts={root}&cid={general.id}")


async def test_messages_of_other_bots_are_marked(bot: Bot) -> None:
    other = bot.server.add_bot("otherbot")
    general = bot.server.add_channel("general", [other])
    await bot.server.bot_says(other, general, "beep")
    message, _ = await bot.next()
    assert message.by_bot
    assert message.person.id == other.id


async def test_joins_and_topics_are_acknowledged_and_ignored(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, "alice has joined", subtype="channel_join")
    bot.server.user_joins(bot.server.add_user("berta"), general)
    await bot.server.user_opens_home(alice, tab="messages")
    await bot.server.user_says(alice, general, "now")
    message, _ = await bot.next()
    assert message.text == "now"
    await bot.server.wait_for(lambda: all(each.done.is_set() for each in bot.server.wire.deliveries))
    assert {len(each.sent) for each in bot.server.wire.deliveries} == {1}


async def test_edits_are_reported_and_link_previews_are_not(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    ts = await bot.server.user_says(alice, general, "see https://example.org")
    await bot.next()
    await bot.server.unfurl(ts)
    await bot.server.user_edits(ts, f"{bot.server.mention} see what?")
    edited, _ = await bot.next()
    assert isinstance(edited, MessageEdited)
    assert (edited.message.id, edited.message.text, edited.message.addressed) == (ts, "see what?", True)


async def test_deletions_are_reported_also_as_tombstones(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    plain = await bot.server.user_says(alice, general, "one")
    root = await bot.server.user_says(alice, general, "two")
    await bot.server.user_says(alice, general, "reply", thread=root)
    for _ in range(3):
        await bot.next()
    await bot.server.user_deletes(plain)
    first, _ = await bot.next()
    await bot.server.user_deletes(root)
    second, _ = await bot.next()
    assert [type(first), type(second)] == [MessageDeleted, MessageDeleted]
    assert [first.id, second.id] == [plain, root]
    assert first.place.channel == general.id


async def test_our_own_messages_are_ignored(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_says(bot.server.world.bot, general, "mine")
    await bot.server.user_says(alice, general, "hers")
    message, _ = await bot.next()
    assert message.text == "hers"


async def test_a_repeated_event_without_its_text_is_looked_up(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    ts = await bot.server.user_says(alice, general, "the text")
    await bot.next()
    delivery = bot.server.wire.deliveries[-1]
    delivery.payload["event"].pop("text")
    await bot.server.redeliver(ts)
    message, room = await bot.next()
    assert (message.id, message.text) == (ts, "the text")
    assert cast("Any", room).target.doubtful


async def test_a_file_stub_in_a_shared_channel_is_looked_up(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    shared = bot.server.add_channel("shared", [alice], external=True)
    await bot.server.user_uploads(alice, shared, PDF)
    message, _ = await bot.next()
    (attachment,) = message.attachments
    assert (attachment.name, attachment.size, attachment.refusal) == ("report.pdf", len(PDF.content), "")


async def test_a_slash_command_is_acknowledged_at_once(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    delivery = await bot.server.user_commands(
        alice, general, f"/kb bind <#{general.id}|general> &amp; <https://a.example/b>"
    )
    command, _ = await bot.next()
    assert isinstance(command, Command)
    assert (command.name, command.line) == ("kb", f"bind <#{general.id}> & https://a.example/b")
    assert (command.place.channel, command.place.thread, command.person.id) == (general.id, "", alice.id)
    assert command.id
    others = [await bot.server.user_commands(alice, general, "/kb list") for _ in range(4)]
    # A busy machine may delay one of them.
    assert min(each.seconds for each in (delivery, *others)) < 0.1


async def test_the_shortcut_asks_about_a_message_in_private(bot: Bot) -> None:
    alice, berta = bot.server.add_user("alice"), bot.server.add_user("berta")
    general = bot.server.add_channel("general", [alice, berta])
    ts = await bot.server.user_says(alice, general, "how many days of leave?")
    first, _ = await bot.next()
    await bot.server.user_shortcut(berta, ts, "ask_about_this")
    message, _ = await bot.next()
    assert (message.text, message.person.id) == ("how many days of leave?", berta.id)
    assert message.private
    assert message.addressed
    assert message.id != first.id
    await bot.server.user_shortcut(berta, ts, "something_else")
    await bot.server.user_says(alice, general, "next")
    following, _ = await bot.next()
    assert following.text == "next"


async def test_service_errors_are_logged_and_harm_no_other_event(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(event: object, room: object) -> None:
        raise RuntimeError("boom")

    service = Service(answer=fails)
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    with caplog.at_level(logging.ERROR):
        async with running(server, service) as bot:
            await server.user_says(alice, general, "one")
            await bot.next()
            await server.user_says(alice, general, "two")
            await bot.next()
    assert "boom" in caplog.text


async def test_a_bad_token_ends_the_start_with_one_sentence(server: SlackServer) -> None:
    server.bot_token = "xoxb-other"
    with pytest.raises(WriteRefused, match="SLACK_BOT_TOKEN"):
        async with running(server, bot_token="xoxb-bad"):
            pass


async def test_a_bad_app_token_ends_the_start(server: SlackServer) -> None:
    with pytest.raises(WriteRefused, match="SLACK_APP_TOKEN"):
        async with running(server, app_token="xapp-bad"):
            pass


async def test_without_app_token_and_signing_secret_nothing_starts(server: SlackServer) -> None:
    with pytest.raises(WriteRefused, match="SLACK_APP_TOKEN"):
        async with running(server, app_token=None, signing_secret=None):
            pass


async def test_cancelling_ends_running_events(server: SlackServer) -> None:
    cancelled = asyncio.Event()

    async def waits(event: object, room: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server, Service(answer=waits)) as bot:
        await server.user_says(alice, general, "one")
        await bot.next()
    assert cancelled.is_set()


async def test_buttons_come_back_with_their_name_and_value(bot: Bot) -> None:
    from bot.port import Button, Page, Write

    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, f"{bot.server.mention} hi")
    message, room = await bot.next()
    buttons = (
        Button(name="page", label="Before", value="1"),
        Button(name="page", label="After", value="3"),
        Button(name="rate", label="Good", value="t1 up", feedback=True),
        Button(name="rate", label="Bad", value="t1 down", feedback=True),
    )
    ts = await room.outlet().write(
        Write(part=0, page=Page(text="answer", buttons=buttons), route="edit", final=True)
    )
    while not bot.service.events.empty():
        await bot.next()
    for label in ("After", "Bad"):
        await bot.server.user_clicks(alice, ts, label)
    pressed = []
    while len(pressed) < 2:
        event, _ = await bot.next()
        pressed += [event] if isinstance(event, Action) else []
    assert {(each.name, each.value) for each in pressed} == {("page", "3"), ("rate", "t1 down")}
    assert {(each.message, each.place.thread, each.person.id) for each in pressed} == {
        (ts, message.place.thread, alice.id)
    }
