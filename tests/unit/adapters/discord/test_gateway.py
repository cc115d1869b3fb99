"""A gateway connection that ends, hangs or goes silent is replaced."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from discord.gateway import KeepAliveHandler

from adapters import discord
from adapters.discord.connection.identify_budget import next_wait
from tests.unit.adapters.discord.conftest import Recorder, settings_for
from tests.unit.adapters.recording import RecordedSignals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.discord_double.server import DiscordServer

DAY_SECONDS = 86_400
SESSIONS_A_DAY = 1000


@asynccontextmanager
async def watched(
    server: DiscordServer, service: Recorder, **settings: Any
) -> AsyncIterator[RecordedSignals]:
    """The running adapter's signals."""
    ready = asyncio.Event()
    signals = RecordedSignals(lambda _: ready.set())
    task = asyncio.create_task(discord.run(settings_for(server, **settings), service, signals=signals))
    try:
        async with asyncio.timeout(10):
            await ready.wait()
        yield signals
    finally:
        task.cancel()
        async with asyncio.timeout(5):
            await asyncio.wait({task})


async def _answers(server: DiscordServer, service: Recorder, text: str) -> None:
    """New messages arrive."""
    await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} {text}")
    while (await service.next())[0].text != text:
        continue


async def test_a_silent_gateway_is_replaced_and_the_session_resumed(
    server: DiscordServer, service: Recorder
) -> None:
    server.gateway.heartbeat = 200
    async with watched(server, service, silent_seconds=0.6):
        server.gateway.acknowledges = False
        await server.wait_for(lambda: server.gateway.resumed)
        server.gateway.acknowledges = True
        await _answers(server, service, "there?")
        assert server.gateway.identified == 1


async def test_an_end_that_discord_py_does_not_handle_is_recovered(
    server: DiscordServer, service: Recorder
) -> None:
    async with watched(server, service) as signals:
        await signals.until(lambda: signals.live == [1])
        await server.broken_frame()
        await signals.until(lambda: signals.faults)
        assert (signals.live, signals.faults) == ([1, 0, 1], ["gateway_ended"])
        await _answers(server, service, "there?")


async def test_a_connection_without_hello_is_given_up(server: DiscordServer, service: Recorder) -> None:
    async with watched(server, service, dead_seconds=0.5) as signals:
        await signals.until(lambda: signals.live == [1])
        server.gateway.mute = 1
        await server.drop_connection(4000)
        await signals.until(lambda: signals.faults)
        assert (signals.live, signals.faults) == ([1, 0, 1], ["gateway_stuck"])
        await _answers(server, service, "there?")


async def test_a_client_that_backs_off_too_long_is_restarted(
    server: DiscordServer, service: Recorder
) -> None:
    async with watched(server, service, dead_seconds=0.3) as signals:
        await signals.until(lambda: signals.live == [1])
        server.gateway.refusals = 6
        await server.drop_connection(4000)
        await signals.until(lambda: signals.faults, seconds=15)
        assert signals.faults == ["gateway_stuck"]
        await _answers(server, service, "there?")


async def test_refused_sessions_are_not_restarted_without_end(
    server: DiscordServer, service: Recorder
) -> None:
    """discord.py would start one every five seconds, up to the daily thousand."""
    async with watched(server, service) as signals:
        await signals.until(lambda: signals.live == [1])
        server.gateway.unwelcome = 1
        await server.lose_session()
        await signals.until(lambda: signals.faults, seconds=20)
        assert signals.faults == ["sessions_refused"]
        assert server.gateway.identified == 3
        await _answers(server, service, "there?")
        threads = [each for each in threading.enumerate() if isinstance(each, KeepAliveHandler)]
        ours = [each for each in threads if each.ws.loop is asyncio.get_running_loop()]
        assert [each.ws.open for each in ours if not each._stop_ev.is_set()] == [True]


def test_the_daily_sessions_last_if_each_ends_at_once() -> None:
    """Each attempt costs three sessions."""
    begun: list[float] = []
    now = 0.0
    while now < 2 * DAY_SECONDS:
        begun += [now, now + 5, now + 10]
        now += 10 + next_wait(begun, now + 10, first=5)
    assert max(sum(at <= each < at + DAY_SECONDS for each in begun) for at in begun) < SESSIONS_A_DAY


def test_occasional_trouble_means_short_waits() -> None:
    """A session that ends every minute for hours."""
    begun: list[float] = []
    for minute in range(290):
        begun.append(minute * 60.0)
        assert next_wait(begun, begun[-1], first=5) <= 30
    assert next_wait(begun[:1], begun[0], first=5) == 5
