"""Invitations, the pane for agents, the home tab, and marks on messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Arrival, Page, Write
from tests.unit.adapters.slack.conftest import Bot, running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.slack_double.server import SlackServer
    from tests.doubles.slack_double.world import Channel, User

PROMPTS = "assistant.threads.setSuggestedPrompts"
ACTIVITY = ("assistant.threads.setStatus", "assistant.threads.setTitle")


@pytest.fixture
def alice(server: SlackServer) -> User:
    return server.add_user("alice", locale="de-DE")


@pytest.fixture
def general(server: SlackServer, alice: User) -> Channel:
    return server.add_channel("general", [alice])


def refused(code: str) -> dict[str, Any]:
    body = json.dumps({"ok": False, "error": code}).encode()
    return {"status": 200, "body": body, "headers": {"Content-Type": "application/json"}}


def arguments(server: SlackServer, method: str) -> Mapping[str, Any]:
    (call,) = server.calls_of(method)
    return call.arguments


async def test_being_invited_is_an_arrival_with_its_inviter(bot: Bot, alice: User, general: Channel) -> None:
    ours = {"type": "member_joined_channel", "user": bot.server.world.bot.id, "channel": general.id}
    stamp = bot.server.world.stamp()
    bot.server.user_joins(bot.server.add_user("berta"), general)
    bot.server.tell(general, ours | {"inviter": alice.id, "event_ts": stamp})
    arrival, room = await bot.next()
    assert isinstance(arrival, Arrival)
    assert (arrival.kind, arrival.id, arrival.place.channel) == (
        "joined",
        f"{general.id}:{stamp}",
        general.id,
    )
    assert (arrival.person.id, arrival.person.language) == (alice.id, "de")
    assert bot.service.events.empty(), "others who join are not greeted"
    greeting = Write(part=0, page=Page(text="Hello!"), route="edit", final=True)
    await room.outlet().write(greeting)
    bot.server.tell(general, ours | {"inviter": alice.id, "event_ts": stamp})
    _, room = await bot.next()
    await room.outlet().write(greeting)
    assert [each.text for each in bot.server.visible(alice, general)] == ["Hello!"], "also when told again"


async def test_the_home_tab_shows_the_overview(bot: Bot, alice: User) -> None:
    await bot.server.user_opens_home(alice)
    view = (await bot.server.wait_for(lambda: bot.server.views.homes.get(alice.id))).content
    assert view["type"] == "home"
    texts = [block["text"]["text"] for block in view["blocks"]]
    assert texts == ["Hello!", "Known", "• legal: 2 documents"]


async def test_opening_a_conversation_suggests_questions_about_the_documents(bot: Bot, alice: User) -> None:
    await bot.server.user_opens_home(alice, "messages")
    await bot.server.wait_for(lambda: bot.server.calls_of(PROMPTS))
    sent = arguments(bot.server, PROMPTS)
    assert sent["prompts"] == [{"title": "Summarize a.md", "message": "Summarize a.md"}]
    assert "thread_ts" not in sent, "with it the call fails silently for agents"


async def test_the_older_pane_is_greeted_in_its_thread(bot: Bot, alice: User) -> None:
    direct = bot.server.direct(alice)
    root = await bot.server.user_says(alice, direct, "root")
    await bot.next()
    thread = {"user_id": alice.id, "channel_id": direct.id, "thread_ts": root, "context": {}}
    bot.server.subscriptions.add("assistant_thread_started")
    bot.server.tell(direct, {"type": "assistant_thread_started", "assistant_thread": thread})
    arrival, _ = await bot.next()
    assert (arrival.kind, arrival.id, arrival.place.thread) == ("opened", root, root)
    await bot.server.wait_for(lambda: bot.server.calls_of(PROMPTS))
    assert arguments(bot.server, PROMPTS)["thread_ts"] == root


async def test_a_question_in_the_pane_gets_title_and_status(bot: Bot, alice: User, general: Channel) -> None:
    direct = bot.server.direct(alice)
    root = await bot.server.user_says(alice, direct, "root")
    for _ in range(2):
        await bot.server.user_says(alice, direct, "how many days?", thread=root)
    await bot.next()
    for _ in range(2):
        _, room = await bot.next()
        await room.show_activity(title="how  many\ndays?", status="Looking…")
    assert bot.server.status(direct, root) == "Looking…"
    assert len(bot.server.calls_of(ACTIVITY[0])) == 2
    assert arguments(bot.server, ACTIVITY[1])["title"] == "how many days?", "once"
    await bot.server.user_says(alice, general, f"{bot.server.mention} x")
    _, room = await bot.next()
    await room.show_activity(title="x", status="Looking…")
    assert len(bot.server.calls_of(ACTIVITY[0])) == 2, "channels have no pane"


@pytest.mark.parametrize("method", [*ACTIVITY, PROMPTS, "views.publish", "reactions.add"])
@pytest.mark.parametrize("code", ["missing_scope", "internal_error"])
async def test_what_is_refused_costs_nothing_else(bot: Bot, alice: User, method: str, code: str) -> None:
    bot.server.fail(method, times=-1, **refused(code))
    direct = bot.server.direct(alice)
    root = await bot.server.user_says(alice, direct, "root")
    await bot.server.user_says(alice, direct, "one", thread=root)
    await bot.next()
    _, room = await bot.next()
    for _ in range(2):
        await bot.server.user_opens_home(alice)
        await bot.server.user_opens_home(alice, "messages")
        await room.show_activity(title="one", status="Looking…")
        assert await room.mark_read() is (method != "reactions.add")
    await bot.server.user_says(alice, direct, "two")
    assert (await bot.next())[0].text == "two"
    await bot.server.wait_for(lambda: bot.server.calls_of(method))
    if code == "missing_scope" and method != PROMPTS and method != "views.publish":
        assert len(bot.server.calls_of(method)) == 1, "not asked again for an hour"


async def test_a_read_message_is_marked_once(bot: Bot, alice: User, general: Channel) -> None:
    ts = await bot.server.user_says(alice, general, f"{bot.server.mention} look")
    _, room = await bot.next()
    assert await room.mark_read()
    assert await room.mark_read(), "it has the mark already"
    assert bot.server.world.messages[ts].reactions == {"white_check_mark": {bot.server.world.bot.id}}


async def test_a_command_has_no_message_to_mark(server: SlackServer, alice: User, general: Channel) -> None:
    async with running(server) as bot:
        await server.user_commands(alice, general, "/kb list")
        _, room = await bot.next()
        assert not await room.mark_read()


async def test_only_a_thread_with_the_bot_is_renamed(bot: Bot, alice: User, general: Channel) -> None:
    direct = bot.server.direct(alice)
    root = await bot.server.user_says(alice, direct, "root")
    await bot.server.user_says(alice, direct, "how many days?", thread=root)
    await bot.next()
    _, room = await bot.next()
    assert room.can_be_renamed
    await room.rename("Days \n of leave")
    sent = arguments(bot.server, ACTIVITY[1])
    assert (sent["title"], sent["thread_ts"]) == ("Days of leave", root)
    bot.server.fail(ACTIVITY[1], times=-1, **refused("internal_error"))
    await room.rename("Another")
    await bot.server.user_says(alice, general, f"{bot.server.mention} x")
    _, room = await bot.next()
    assert not room.can_be_renamed
