"""The doubled Slack with the real clients."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.chat_server import Upload
from tests.doubles.slack_double.server import SlackServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer.serving() as server:
        ada = server.add_user("ada", admin=True)
        ben = server.add_user("ben")
        server.add_channel("general", [ada, ben])
        yield server


@pytest.fixture
async def client(slack: SlackServer) -> AsyncIterator[AsyncWebClient]:
    async with aiohttp.ClientSession() as session:
        yield AsyncWebClient(slack.bot_token, base_url=slack.api_url, session=session, retry_handlers=[])


@asynccontextmanager
async def bolt(slack: SlackServer, client: AsyncWebClient) -> AsyncGenerator[AsyncApp]:
    app = AsyncApp(client=client)
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=1)
    await handler.connect_async()
    await slack.connected()
    try:
        yield app
    finally:
        await handler.close_async()


async def error_of(call: Any) -> str:
    with pytest.raises(SlackApiError) as refused:
        await call
    return refused.value.response["error"]


async def test_a_mention_is_sent_twice_and_answered_in_its_thread(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    async with bolt(slack, client) as app:

        @app.event("app_mention")
        async def answer(event: dict[str, Any], say: Any) -> None:
            await say(text="Two weeks.", thread_ts=event["ts"])

        @app.event("message")
        async def nothing() -> None: ...

        question = await slack.user_says("UADA", "CGENERAL", f"{slack.mention} how long?")
        shown = await slack.wait_for(lambda: slack.visible("UBEN", "CGENERAL", question)[1:])
        await slack.wait_for(lambda: all(each.done.is_set() for each in slack.wire.deliveries))

    assert [(each.name, each.text, each.ours) for each in shown] == [("footnote", "Two weeks.", True)]
    about = [each.payload["event"] for each in slack.wire.deliveries]
    assert [each["type"] for each in about if each["ts"] == question] == ["app_mention", "message"]
    assert len({each.payload["event_id"] for each in slack.wire.deliveries}) == len(slack.wire.deliveries)
    assert all(each.seconds < 1 for each in slack.wire.deliveries)


async def test_unacknowledged_events_are_sent_again(slack: SlackServer, client: AsyncWebClient) -> None:
    slack.wire.ack_seconds = 0.05
    async with bolt(slack, client):
        await slack.user_says("UADA", "CGENERAL", "nobody listens for this")
        delivery = slack.wire.deliveries[0]
        await slack.wait_for(lambda: len(delivery.sent) == 4)
    assert not delivery.done.is_set()


async def test_a_connection_that_is_dropped_or_renewed_comes_back_and_loses_nothing(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    seen: list[str] = []
    async with bolt(slack, client) as app:

        @app.event("message")
        async def note(event: dict[str, Any]) -> None:
            seen.append(event["text"])
            slack.changed()

        for number, trouble in enumerate(("drop", "renew")):
            if trouble == "drop":
                slack.drop_connection()
            else:
                await slack.disconnect("refresh_requested")
            await slack.user_says("UADA", "CGENERAL", f"message {number}")
            await slack.wait_for(lambda number=number: f"message {number}" in seen)
    assert slack.wire.opened == 3


async def test_a_stream_grows_ends_with_blocks_and_refuses_what_slack_refuses(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    question = await slack.user_says("UADA", "CGENERAL", "how long?")
    where = {"channel": "CGENERAL", "thread_ts": question}
    assert await error_of(client.chat_startStream(**where)) == "missing_recipient_team_id"
    stream = await client.chat_stream(
        **where, recipient_team_id="TACME", recipient_user_id="UADA", buffer_size=1
    )
    await stream.append(
        chunks=[{"type": "task_update", "id": "1", "title": "Searching", "status": "in_progress"}]
    )
    await stream.append(markdown_text="Two ")
    await stream.append(markdown_text="weeks.")
    open_stream = {"channel": "CGENERAL", "ts": str(stream.ts)}
    assert await error_of(client.chat_update(**open_stream, text="x")) == "streaming_state_conflict"
    assert (
        await error_of(client.chat_appendStream(**open_stream, markdown_text="x" * 12_001)) == "msg_too_long"
    )
    await stream.stop(markdown_text=" [1]", blocks=[{"type": "divider"}])

    shown = slack.shown(str(stream.ts))
    assert [each.text for each in shown.texts] == ["", "Two ", "Two weeks.", "Two weeks. [1]\n---"]
    assert shown.tasks == ("Searching",)
    late = client.chat_appendStream(**open_stream, markdown_text="more")
    assert await error_of(late) == "message_not_in_streaming_state"


async def test_a_stream_that_is_too_old_can_only_be_updated(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    question = await slack.user_says("UADA", "CGENERAL", "how long?")
    to = {"recipient_team_id": "TACME", "recipient_user_id": "UADA"}
    begun = await client.chat_startStream(channel="CGENERAL", thread_ts=question, **to, markdown_text="One")
    stream = {"channel": "CGENERAL", "ts": begun["ts"]}
    slack.advance(301)
    assert await error_of(client.chat_stopStream(**stream)) == "message_not_in_streaming_state"
    await client.chat_update(**stream, text="One and all")
    assert slack.shown(begun["ts"]).text == "One and all"


async def test_limits_answer_429_and_are_counted(slack: SlackServer, client: AsyncWebClient) -> None:
    for _ in range(10):
        sent = await client.chat_postMessage(channel="CGENERAL", text="hello")
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel="CGENERAL", text="hello")
    assert refused.value.response.status_code == 429
    assert 1 <= int(refused.value.response.headers["Retry-After"]) <= 10
    for _ in range(50):
        await client.chat_update(channel="CGENERAL", ts=sent["ts"], text="hello again")
    assert await error_of(client.chat_update(channel="CGENERAL", ts=sent["ts"], text="x")) == "ratelimited"
    assert slack.windows.violations == [("chat.postMessage", "CGENERAL"), ("chat.update",)]
    slack.advance(60)
    await client.chat_update(channel="CGENERAL", ts=sent["ts"], text="x")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"text": ""}, "no_text"),
        ({"channel": "CNOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": "CELSEWHERE", "text": "x"}, "not_in_channel"),
        ({"channel": "CHIDDEN", "text": "x"}, "channel_not_found"),
        ({"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
        ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}]}, "invalid_blocks"),
        (
            {"blocks": [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]},
            "invalid_blocks",
        ),
        ({"blocks": [{"type": "markdown", "text": "x" * 7_000}] * 2}, "invalid_blocks"),
        ({"blocks": [{"type": "divider", "block_id": "b"}] * 2}, "invalid_blocks"),
        (
            {"blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}]},
            "invalid_blocks",
        ),
        (
            {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2_700}}] * 5},
            "msg_blocks_too_long",
        ),
    ],
)
async def test_messages_that_slack_refuses(
    slack: SlackServer, client: AsyncWebClient, arguments: dict[str, Any], error: str
) -> None:
    slack.add_channel("elsewhere", bot=False)
    slack.add_channel("hidden", kind="private", bot=False)
    sent = {"channel": "CGENERAL", "text": "" if "markdown_text" in arguments else "x"} | arguments
    assert await error_of(client.api_call("chat.postMessage", json=sent)) == error
    assert not slack.world.messages


async def test_private_messages_are_seen_by_one_person_and_cannot_be_updated(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    sent = await client.chat_postEphemeral(channel="CGENERAL", user="UADA", text="for you")
    assert [each.text for each in slack.visible("UADA", "CGENERAL")] == ["for you"]
    assert slack.visible("UBEN", "CGENERAL") == []
    gone = client.chat_update(channel="CGENERAL", ts=sent["message_ts"], text="x")
    assert await error_of(gone) == "message_not_found"


async def test_files_need_the_token_and_others_get_a_login_page(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    await slack.user_uploads("UADA", "CGENERAL", Upload(name="notes.txt", content=b"Two weeks."))
    event = next(each.payload["event"] for each in slack.wire.deliveries if "files" in each.payload["event"])
    told = (await client.files_info(file=event["files"][0]["id"]))["file"]
    assert (told["mimetype"], told["size"]) == ("text/plain", 10)
    bearer = {"Authorization": f"Bearer {slack.bot_token}"}
    async with aiohttp.ClientSession() as http:
        async with http.get(told["url_private_download"], headers=bearer) as with_token:
            assert await with_token.read() == b"Two weeks."
        async with http.get(told["url_private_download"]) as without:
            assert (without.status, without.content_type) == (200, "text/html")


async def test_files_are_uploaded_into_a_thread(slack: SlackServer, client: AsyncWebClient) -> None:
    question = await slack.user_says("UADA", "CGENERAL", "show me")
    await client.files_upload_v2(
        content=b"picture",
        filename="page.png",
        channel="CGENERAL",
        thread_ts=question,
        initial_comment="Page 3",
    )
    shown = slack.visible("UADA", "CGENERAL", question)[1]
    assert (shown.text, [each.name for each in shown.files]) == ("Page 3", ["page.png"])


async def test_buttons_commands_shortcuts_and_response_urls(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    button = {
        "type": "button",
        "action_id": "stop",
        "text": {"type": "plain_text", "text": "Stop"},
        "value": "7",
    }
    async with bolt(slack, client) as app:

        @app.action("stop")
        async def stop(ack: Any, respond: Any, action: dict[str, Any]) -> None:
            await ack()
            await respond(f"Stopped {action['value']}.", replace_original=False)

        @app.command("/kb")
        async def kb(ack: Any, command: dict[str, Any]) -> None:
            await ack(f"You said {command['text']}.")

        @app.shortcut("ask")
        async def ask(ack: Any, shortcut: dict[str, Any], client: AsyncWebClient) -> None:
            await ack()
            modal = {"type": "modal", "title": {"type": "plain_text", "text": "Ask"}, "blocks": []}
            await client.views_open(trigger_id=shortcut["trigger_id"], view=modal)

        @app.event("message")
        async def nothing() -> None: ...

        blocks = [{"type": "actions", "elements": [button]}]
        sent = await client.chat_postMessage(channel="CGENERAL", text="Working", blocks=blocks)
        await slack.user_clicks("UBEN", sent["ts"], "Stop")
        await slack.wait_for(
            lambda: [each.text for each in slack.visible("UBEN", "CGENERAL")][1:] == ["Stopped 7."]
        )
        await slack.user_commands("UADA", "CGENERAL", "/kb list")
        assert slack.visible("UADA", "CGENERAL")[-1].text == "You said list."
        await slack.user_shortcut("UADA", sent["ts"], "ask")
        modal = await slack.wait_for(lambda: list(slack.views.modals.values()))
        assert modal[0].user == "UADA"
    assert [each.only_for for each in slack.visible("UADA", "CGENERAL")] == ["", "UADA"]


async def test_edits_previews_and_deletions_are_sent(slack: SlackServer) -> None:
    first = await slack.user_says("UADA", "CGENERAL", "one")
    await slack.user_edits(first, "two")
    await slack.unfurl(first)
    await slack.user_says("UBEN", "CGENERAL", "reply", thread=first)
    await slack.user_deletes(first)
    alone = await slack.user_says("UADA", "CGENERAL", "alone")
    await slack.user_deletes(alone)
    events = [each.payload["event"] for each in slack.wire.deliveries]
    assert [each.get("subtype", "") for each in events] == [
        "",
        "message_changed",
        "message_changed",
        "",
        "message_changed",
        "",
        "message_deleted",
    ]
    assert [each["message"]["text"] for each in events[1:3]] == ["two", "two"]
    assert events[4]["message"]["subtype"] == "tombstone"


async def test_pings_and_links_that_slack_would_show_are_found(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    await client.chat_postMessage(channel="CGENERAL", text="&lt;!channel&gt; `https://quoted.example`")
    assert (slack.pings, slack.links) == ([], [])
    await client.chat_postMessage(
        channel="CGENERAL",
        text="<!channel> <@UADA> <https://a.example|here> http://b.example/x. www.c.example",
    )
    await client.chat_postMessage(
        channel="CGENERAL",
        markdown_text="<!here> [a](https://d.example) ![b](https://e.example) https://f.example",
    )
    assert [each.target for each in slack.pings] == ["<!channel>", "<@UADA>", "<!here>"]
    assert [each.url for each in slack.links] == [
        "https://a.example",
        "http://b.example/x",
        "www.c.example",
        "https://d.example",
        "https://e.example",
        "https://f.example",
    ]


async def test_a_lost_response_still_takes_effect(slack: SlackServer, client: AsyncWebClient) -> None:
    slack.fail("chat.postMessage", lost=True, applied=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel="CGENERAL", text="once")
    assert [each.text for each in slack.visible("UADA", "CGENERAL")] == ["once"]


async def test_a_delayed_response_is_released(slack: SlackServer, client: AsyncWebClient) -> None:
    hold = slack.silence("auth.test")
    asking = asyncio.create_task(client.auth_test())
    await slack.wait_for(lambda: slack.calls_of("auth.test"))
    assert not asking.done()
    hold.set()
    told = await asking
    assert "chat:write" in told.headers["x-oauth-scopes"]


async def test_events_are_posted_and_signed_where_the_bot_has_an_address(slack: SlackServer) -> None:
    from aiohttp import web
    from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

    heard: list[str] = []
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.bot_token, base_url=slack.api_url, session=session)
        app = AsyncApp(client=client, signing_secret=slack.wire.signing_secret)

        @app.event("app_mention")
        async def answer(event: dict[str, Any]) -> None:
            heard.append(event["text"])
            slack.changed()

        @app.event("message")
        async def nothing() -> None: ...

        async def handle(request: web.Request) -> web.Response:
            return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

        site = web.Application()
        site.router.add_post("/slack/events", handle)
        runner = web.AppRunner(site)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        slack.wire.request_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
        try:
            await slack.user_says("UADA", "CGENERAL", f"{slack.mention} hello")
            await slack.wait_for(lambda: heard and all(each.done.is_set() for each in slack.wire.deliveries))
        finally:
            await runner.cleanup()
    assert heard == [f"{slack.mention} hello"]
