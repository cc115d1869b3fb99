"""Events keep arriving by Socket Mode and HTTP, whatever happens to the connection."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from typing import TYPE_CHECKING

import aiohttp
import pytest
from pydantic import SecretStr

from bot.port import Command, WriteRefused
from tests.unit.adapters.slack.conftest import Bot, Service, running, server

if TYPE_CHECKING:
    from tests.doubles.slack_double.server import SlackServer

__all__ = ["server"]


async def _heard(bot: Bot, text: str) -> None:
    """New messages arrive."""
    world = bot.server.world
    alice = world.users.get("UALICE") or bot.server.add_user("alice")
    general = world.channels.get("CGENERAL") or bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, text)
    message, _ = await bot.next()
    while message.text != text:
        message, _ = await bot.next()


async def test_two_connections_leave_no_gap_while_one_is_renewed(server: SlackServer) -> None:
    async with running(server, connections=2) as bot:
        await server.connected(2)
        assert bot.facts["events"] == "Socket Mode"
        for round_ in range(4):
            opened = server.wire.opened
            await server.disconnect("refresh_requested")
            await _heard(bot, f"round {round_}")
            await server.wait_for(lambda before=opened: server.wire.opened > before)
        await server.connected(2)
    await server.wait_for(lambda: not server.wire.connections)


async def test_a_cut_connection_is_opened_again_at_once(server: SlackServer) -> None:
    async with running(server, ping_seconds=20.0) as bot:
        await _heard(bot, "before")
        server.drop_connection()
        async with asyncio.timeout(4):
            await server.connected()
            await _heard(bot, "after")


async def test_a_dead_ticket_is_given_up(server: SlackServer) -> None:
    async with running(server) as bot:
        await _heard(bot, "before")
        server.wire.dead_tickets = 2
        server.drop_connection()
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults == ["dead_ticket"]
        await _heard(bot, "after")


async def test_a_ticket_that_is_dead_from_the_start_is_given_up(server: SlackServer) -> None:
    server.wire.dead_tickets = 1
    async with running(server) as bot:
        await _heard(bot, "heard")


async def test_a_connection_that_delivers_nothing_is_renewed(server: SlackServer) -> None:
    async with running(server, ping_seconds=0.2, idle_seconds=0.5) as bot:
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults[0] == "silent_session"
        await _heard(bot, "still here")


async def test_a_connection_with_unanswered_pings_is_renewed(server: SlackServer) -> None:
    """The connection is open on our side only."""
    async with running(server, ping_seconds=0.4) as bot:
        await _heard(bot, "before")
        server.wire.freeze()
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults == ["ping_unanswered"]
        await _heard(bot, "after")


async def test_a_handshake_that_hangs_is_given_up(server: SlackServer) -> None:
    async with running(server, dead_seconds=0.3) as bot:
        await _heard(bot, "before")
        server.wire.hung_handshakes = 1
        server.drop_connection()
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults == ["unreachable"]
        await _heard(bot, "after")


async def test_a_connection_that_is_passed_over_is_renewed(server: SlackServer) -> None:
    async with running(server, connections=2) as bot:
        await server.connected(2)
        server.wire.passed_over = {2}
        for number in range(25):
            await _heard(bot, f"message {number}")
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults == ["passed_over"]
        assert server.wire.opened == 3


async def test_too_many_connections_are_reported_and_reopened_with_pauses(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.CRITICAL):
        async with running(server) as bot:
            for _ in range(3):
                await server.connected()
                await server.disconnect("too_many_websockets")
            await bot.signals.until(lambda: len(bot.signals.faults) == 3)
            opened = [call.at for call in server.calls_of("apps.connections.open")]
            assert bot.signals.troubles == bot.signals.faults == ["too_many_websockets"] * 3
            assert opened[3] - opened[1] > 1.0
            await _heard(bot, "after")


async def test_disabled_socket_mode_is_reported(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(server) as bot:
        await _heard(bot, "before")
        refused = {
            "headers": {"Content-Type": "application/json"},
            "body": b'{"ok": false, "error": "forbidden"}',
        }
        server.fail("apps.connections.open", status=200, times=1, **refused)
        await server.disconnect("link_disabled")
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.troubles == ["link_disabled", "refused"]
        assert "Socket Mode is off" in caplog.text
        await _heard(bot, "after")


async def test_a_response_without_a_ticket_is_retried(server: SlackServer) -> None:
    async with running(server) as bot:
        await _heard(bot, "before")
        empty = {"headers": {"Content-Type": "application/json"}, "body": b'{"ok": true}'}
        server.fail("apps.connections.open", status=200, **empty)
        server.drop_connection()
        await bot.signals.until(lambda: bot.signals.faults)
        assert bot.signals.faults == ["unreachable"]
        await _heard(bot, "after")


async def test_rate_limited_tickets_are_waited_for(server: SlackServer) -> None:
    async with running(server) as bot:
        await _heard(bot, "before")
        server.fail("apps.connections.open", status=429, retry_after=0.5)
        server.drop_connection()
        await bot.signals.until(lambda: bot.signals.live == [1, 0, 1])
        assert bot.signals.faults == ["rate_limited"]
        await _heard(bot, "after")


async def test_a_revoked_token_ends_the_run(server: SlackServer) -> None:
    async with running(server, heartbeat_seconds=0.05) as bot:
        await server.wait_for(lambda: len(server.calls_of("auth.test")) >= 3)
        server.fail("auth.test", status=503)
        await server.wait_for(lambda: len(server.calls_of("auth.test")) >= 6)
        server.bot_token = "xoxb-new"
        with pytest.raises(WriteRefused, match="SLACK_BOT_TOKEN"):
            async with asyncio.timeout(5):
                await bot.task


async def test_an_outage_at_the_start_is_retried(server: SlackServer) -> None:
    server.fail("auth.test", status=503)
    server.fail("apps.connections.open", status=429, retry_after=0.05)
    async with running(server) as bot:
        await _heard(bot, "heard")


async def test_connection_tickets_are_not_logged(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        server.wire.dead_tickets = 1
        async with running(server, ping_seconds=0.2, dead_seconds=0.4) as bot:
            await _heard(bot, "the secret text")
    assert "answers a ticket with status 403" in caplog.text
    said = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("adapters"))
    assert re.search(r"ticket=[0-9a-f]", caplog.text) is None
    for secret in (server.bot_token, server.app_token, "secret text"):
        assert secret not in said


async def test_tokens_in_the_environment_cause_no_warning(
    server: SlackServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", server.bot_token)
    with caplog.at_level(logging.WARNING):
        async with running(server) as bot:
            await _heard(bot, "heard")
    assert not [record for record in caplog.records if record.name.startswith("adapters")]


# --- by HTTP ---------------------------------------------------------------------------------------------------------------


async def test_events_and_commands_come_by_signed_posts(server: SlackServer) -> None:
    secret = SecretStr(server.wire.signing_secret)
    async with running(server, signing_secret=secret, http_port=0) as bot:
        server.wire.request_url = bot.facts["address"]
        await _heard(bot, "by post")
        delivery = await server.user_commands("UALICE", "CGENERAL", "/kb list")
        command, _ = await bot.next()
        assert isinstance(command, Command)
        assert (command.name, command.line) == ("kb", "list")
        others = [await server.user_commands("UALICE", "CGENERAL", "/kb list") for _ in range(4)]
        # A busy machine may delay one of them.
        assert min(each.seconds for each in (delivery, *others)) < 0.5


async def test_unsigned_late_and_foreign_posts_are_refused(server: SlackServer) -> None:
    secret = SecretStr(server.wire.signing_secret)
    body = '{"type": "event_callback", "team_id": "TACME", "event": {"type": "message", "channel": "C1", "ts": "1.1", "text": "x", "user": "U1"}}'
    async with running(server, signing_secret=secret, http_port=0) as bot, aiohttp.ClientSession() as client:
        good = server.wire.signed(body)
        late = server.wire.signed(body, at=server.world.time() - 600)
        for headers in ({}, late, {**good, "X-Slack-Signature": "v0=00"}):
            kind = {"Content-Type": "application/json"}
            async with client.post(bot.facts["address"], data=body, headers=headers | kind) as response:
                assert response.status == 401
        assert bot.signals.troubles == ["bad_signature"] * 3
        challenge = '{"type": "url_verification", "challenge": "abc"}'
        headers = server.wire.signed(challenge) | {"Content-Type": "application/json"}
        async with client.post(bot.facts["address"], data=challenge, headers=headers) as response:
            assert "abc" in await response.text()
        assert bot.service.events.empty()


async def test_rate_limited_events_are_reported(
    server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    secret = SecretStr(server.wire.signing_secret)
    body = '{"type": "app_rate_limited", "team_id": "TACME", "minute_rate_limited": 1518467820, "api_app_id": "AFOOTNOTE"}'
    async with running(server, signing_secret=secret, http_port=0) as bot, aiohttp.ClientSession() as client:
        kind = {"Content-Type": "application/json"}
        headers = server.wire.signed(body) | kind
        async with client.post(bot.facts["address"], data=body, headers=headers) as response:
            assert response.status == 200
        assert (bot.signals.live, bot.signals.troubles) == ([1], ["app_rate_limited"])
        async with client.post(bot.facts["address"], data=body, headers=kind) as response:
            assert response.status == 401
        assert bot.signals.troubles == ["app_rate_limited", "bad_signature"]
    assert "Slack dropped events" in caplog.text


async def test_a_taken_port_ends_the_start_with_one_sentence(server: SlackServer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(WriteRefused, match="cannot be received on"):
            async with running(server, signing_secret=SecretStr("s"), http_port=taken.getsockname()[1]):
                pass


async def test_acknowledgements_are_fast_and_nothing_is_sent_twice(server: SlackServer) -> None:
    forever = asyncio.Event()

    async def slow(event: object, room: object) -> None:
        await forever.wait()

    async with running(server, Service(answer=slow)) as bot:
        for number in range(20):
            await _heard(bot, f"message {number}")
        await server.wait_for(lambda: all(each.done.is_set() for each in server.wire.deliveries))
        assert max(each.seconds for each in server.wire.deliveries) < 0.1
        assert all(len(each.sent) == 1 for each in server.wire.deliveries)
