"""From start to stop, through faults of Discord and the network."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters import discord
from bot.port import CommandSpec, Room, WriteRefused
from tests.doubles.discord_double.server import serve
from tests.unit.adapters.discord.conftest import SPECS, Recorder, running, settings_for, write
from tests.unit.adapters.recording import RecordedSignals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.discord_double.server import DiscordServer


async def _says(server: DiscordServer, text: str = "why?") -> str:
    return await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} {text}")


def _identifies(server: DiscordServer) -> int:
    return server.gateway.identified


async def test_ready_reports_bot_and_servers(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service) as facts:
        assert facts["bot"].startswith("Footnote")
        assert (facts["servers"], facts["commands"]) == ("1", "registered")


async def test_nothing_is_said_about_voice(
    server: DiscordServer, service: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(server, service):
        assert "voice" not in caplog.text


async def test_commands_are_registered_only_when_they_changed(server: DiscordServer) -> None:
    async with running(server, Recorder()):
        pass
    assert len(server.calls_of("put_commands")) == 1
    async with running(server, Recorder()) as facts:
        assert facts["commands"] == "unchanged"
    assert len(server.calls_of("put_commands")) == 1
    more = (*SPECS, CommandSpec(name="help", description="What I can do"))
    async with running(server, Recorder(commands=more)):
        pass
    assert len(server.calls_of("put_commands")) == 2
    assert server.command_creates == 5


async def test_commands_that_cannot_be_registered_do_not_stop_it(
    server: DiscordServer, service: Recorder
) -> None:
    body = b'{"code": 30034, "message": "Max number of daily application command creates"}'
    server.fail("put_commands", status=400, body=body, headers={"Content-Type": "application/json"})
    async with running(server, service) as facts:
        assert facts["commands"] == "not registered"
        await _says(server)
        await service.next()


async def _refused(server: DiscordServer, **settings: Any) -> str:
    def ready(facts: Mapping[str, str]) -> None:
        raise AssertionError("it cannot be ready")

    async with asyncio.timeout(5):
        with pytest.raises(WriteRefused) as caught:
            await discord.run(settings_for(server, **settings), Recorder(), signals=RecordedSignals(ready))
    return str(caught.value)


async def test_a_bad_token_ends_with_one_sentence(server: DiscordServer) -> None:
    said = await _refused(server, token=SecretStr("MTIzNDU2Nzg5MDEyMzQ1Njc4.bad.token"))
    assert said == (
        "Discord rejects the bot's token: on https://discord.com/developers/applications/123456789012345678,"
        " under Bot, choose Reset Token and put the new one into DISCORD_TOKEN."
    )


async def test_a_refused_intent_ends_with_its_fix() -> None:
    async with serve(privileged_intents=0) as strict:
        said = await _refused(strict)
        assert "switch on Message Content Intent" in said
        assert "MESSAGE_CONTENT=false" in said


async def test_an_outage_at_the_start_is_retried_on_discord(server: DiscordServer, service: Recorder) -> None:
    server.fail("application", lost=True, times=4)
    async with running(server, service):
        await _says(server)
        await service.next()


async def test_an_event_that_discord_py_cannot_parse(
    server: DiscordServer, service: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    """It ends `Client.connect()`; the bot reconnects and continues its writes."""
    go_on = asyncio.Event()

    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet()
        await write(outlet, "Half")
        await go_on.wait()
        await write(outlet, "Whole.", final=True)

    service.deal = deal
    async with running(server, service):
        await _says(server)
        await server.wait_for(server.ours)
        before = _identifies(server)
        with caplog.at_level(logging.CRITICAL):
            await server.broken_frame()
            await server.wait_for(lambda: _identifies(server) > before)
            await server.connected()
        go_on.set()
        await service.next()
        assert [each.text for each in server.ours()] == ["Whole."]
        service.deal = None
        await _says(server, "and now?")
        event, _ = await service.next()
        assert event.text == "and now?"


async def test_a_question_between_two_sessions_is_answered(server: DiscordServer, service: Recorder) -> None:
    """Discord does not replay it: the bot searches for it."""
    async with running(server, service):
        anna, other = server.add_user("anna"), server.add_channel("other")
        await server.user_says(anna, server.general, "old")
        await service.next()
        await server.broken_frame()
        asked = [
            await server.user_says(anna, server.general, f"{server.bot.mention} first?"),
            await server.user_says(anna, server.general, f"{server.bot.mention} second?"),
            await server.user_says(anna, other, f"{server.bot.mention} third?"),
        ]
        events = [(await service.next())[0] for _ in asked]
        assert {event.id for event in events} == set(asked)
        assert server.gateway.identified == 2


async def test_of_many_missed_messages_the_latest_are_handled(
    server: DiscordServer, service: Recorder
) -> None:
    async with running(server, service):
        anna = server.add_user("anna")
        await server.user_says(anna, server.general, "old")
        await service.next()
        await server.broken_frame()
        said = [await server.user_says(anna, server.general, f"number {number}") for number in range(210)]
        told = [(await service.next())[0].id for _ in range(200)]
        assert told == said[-200:]
        assert service.events.empty()


async def test_missed_direct_messages_and_voice_channel_texts_are_handled(
    server: DiscordServer, service: Recorder
) -> None:
    async with running(server, service):
        anna, stage = server.add_user("anna"), server.add_channel("stand-up", "voice")
        await server.user_says(anna, anna.id, "old")
        await service.next()
        await server.broken_frame()
        asked = {
            await server.user_says(anna, stage, f"{server.bot.mention} aloud?"): stage.id,
            await server.user_says(anna, anna.id, "in private?"): server.direct(anna).id,
        }
        events = [(await service.next())[0] for _ in asked]
        assert {event.id: event.place.channel for event in events} == asked
        assert [event.addressed for event in events] == [True, True]
        assert server.gateway.identified == 2


async def test_a_dropped_connection_loses_nothing(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service):
        await server.drop_connection(4000)
        await _says(server, "in the gap")
        event, _ = await service.next()
        assert event.text == "in the gap"
        await server.reconnect_requested()
        await _says(server, "in another gap")
        event, _ = await service.next()
        assert event.text == "in another gap"
        assert _identifies(server) == 1


async def test_a_token_reset_ends_the_run(server: DiscordServer) -> None:
    ended = asyncio.get_running_loop().create_future()
    ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        discord.run(settings_for(server), Recorder(), signals=RecordedSignals(ready.set_result))
    )
    task.add_done_callback(lambda done: ended.set_result(done.exception()))
    async with asyncio.timeout(5):
        await ready
        await server.drop_connection(4004)
        error = await ended
    assert isinstance(error, WriteRefused)
    assert "token" in str(error)


async def test_one_event_that_fails_does_not_stop_the_others(
    server: DiscordServer, service: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    async def deal(event: Any, room: Room) -> None:
        if event.text == "break":
            raise ValueError("a bug")

    service.deal = deal
    async with running(server, service):
        with caplog.at_level(logging.ERROR):
            await _says(server, "break")
            await _says(server, "go on")
            event, _ = await service.next()
        assert event.text == "go on"
    assert "failed" in caplog.text


async def test_stopping_finishes_writes_and_takes_no_new_events(
    server: DiscordServer, service: Recorder
) -> None:
    began = asyncio.Event()

    async def deal(event: Any, room: Room) -> None:
        outlet = room.outlet()
        await write(outlet, "Half")
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await write(outlet, "Half\n\nStopped while answering.", final=True)

    service.deal = deal
    async with running(server, service):
        await _says(server)
        async with asyncio.timeout(5):
            await began.wait()
    assert [each.text for each in server.ours()] == ["Half\n\nStopped while answering."]
    await _says(server, "anybody?")
    assert not server.gateway.connected
    assert service.events.empty()


async def test_the_token_and_messages_are_not_in_the_log(
    server: DiscordServer, service: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with running(server, service):
            await _says(server, "the secret plan")
            _, room = await service.next()
            await write(room.outlet(), "a secret answer", final=True)
            await server.broken_frame()
            await server.wait_for(lambda: _identifies(server) > 1)
    for secret in (server.token, "secret plan", "secret answer"):
        assert secret not in caplog.text
    assert server.token not in repr(settings_for(server))


async def test_many_questions_keep_the_global_rate_limit(server: DiscordServer, service: Recorder) -> None:
    """Two calls each: a thread and a message."""

    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(), "Searching…")

    service.deal = deal
    async with running(server, service):
        for number in range(40):
            await _says(server, str(number))
        for _ in range(40):
            await service.next()
        assert len(server.ours()) == 40
        assert server.violations == []


async def test_the_least_intents(server: DiscordServer) -> None:
    guilds, guild_messages, direct_messages, content = 1 << 0, 1 << 9, 1 << 12, 1 << 15
    for wanted, extra in ((True, content), (False, 0)):
        async with running(server, Recorder(), message_content=wanted):
            session = list(server.gateway.sessions.values())[-1]
            assert session.intents == guilds | guild_messages | direct_messages | extra


async def test_an_event_that_cannot_be_read_costs_only_itself(
    server: DiscordServer, service: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(server, service):
        before = _identifies(server)
        await server.unparsable_dispatch()
        await _says(server, "and now?")
        event, _ = await service.next()
        assert event.text == "and now?"
        assert _identifies(server) == before
    (line,) = [each.getMessage() for each in caplog.records if "skipped" in each.getMessage()]
    assert "MESSAGE_CREATE" in line
    assert "is missing" in line
