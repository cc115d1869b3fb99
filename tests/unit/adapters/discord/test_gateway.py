"""A connection to the gateway that ends, hangs or goes silent: taken up again, and told."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from discord.gateway import KeepAliveHandler

from adapters import discord as adapter
from adapters.discord.sessions import pause
from tests.unit.adapters.discord.conftest import Recorder, settings_for
from tests.unit.adapters.told import Told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.discord_server import DiscordServer

DAY_SECONDS = 86_400
SESSIONS_A_DAY = 1000


@asynccontextmanager
async def watched(server: DiscordServer, service: Recorder, **settings: Any) -> AsyncIterator[Told]:
    """The adapter at work, and what it tells of itself."""
    ready = asyncio.Event()
    told = Told(lambda _: ready.set())
    task = asyncio.create_task(adapter.run(settings_for(server, **settings), service, signals=told))
    try:
        async with asyncio.timeout(10):
            await ready.wait()
        yield told
    finally:
        task.cancel()
        async with asyncio.timeout(5):
            await asyncio.wait({task})


async def _answers(server: DiscordServer, service: Recorder, text: str) -> None:
    """What is said now is heard."""
    await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} {text}")
    while (await service.next())[0].text != text:
        continue


async def test_a_gateway_that_goes_silent_is_left_and_the_session_goes_on(
    server: DiscordServer, service: Recorder
) -> None:
    server.gateway.heartbeat = 200
    async with watched(server, service, silent_seconds=0.6):
        server.gateway.acknowledges = False
        await server.wait_for(lambda: server.gateway.resumed)
        server.gateway.acknowledges = True
        await _answers(server, service, "there?")
        assert server.gateway.identified == 1


async def test_an_end_that_discord_py_does_not_mend_is_told_with_its_mending(
    server: DiscordServer, service: Recorder
) -> None:
    async with watched(server, service) as told:
        await told.until(lambda: told.live == [1])
        await server.unparsable_dispatch()
        await told.until(lambda: told.faults)
        assert (told.live, told.faults) == ([1, 0, 1], ["gateway_ended"])
        await _answers(server, service, "there?")


async def test_a_connection_that_is_never_greeted_is_given_up(
    server: DiscordServer, service: Recorder
) -> None:
    async with watched(server, service, dead_seconds=0.5) as told:
        await told.until(lambda: told.live == [1])
        server.gateway.mute = 1
        await server.drop_connection(4000)
        await told.until(lambda: told.faults)
        assert (told.live, told.faults) == ([1, 0, 1], ["gateway_stuck"])
        await _answers(server, service, "there?")


async def test_a_client_that_waits_ever_longer_is_begun_anew(
    server: DiscordServer, service: Recorder
) -> None:
    async with watched(server, service, dead_seconds=0.3) as told:
        await told.until(lambda: told.live == [1])
        server.gateway.refusals = 6
        await server.drop_connection(4000)
        await told.until(lambda: told.faults, seconds=15)
        assert told.faults == ["gateway_stuck"]
        await _answers(server, service, "there?")


async def test_sessions_that_are_refused_one_after_the_other_are_not_begun_for_ever(
    server: DiscordServer, service: Recorder
) -> None:
    """discord.py would begin one each five seconds, until the thousand of the day are used up."""
    async with watched(server, service) as told:
        await told.until(lambda: told.live == [1])
        server.gateway.unwelcome = 1
        await server.lose_session()
        await told.until(lambda: told.faults, seconds=20)
        assert told.faults == ["sessions_refused"]
        assert server.gateway.identified == 3
        await _answers(server, service, "there?")
        threads = [each for each in threading.enumerate() if isinstance(each, KeepAliveHandler)]
        ours = [each for each in threads if each.ws.loop is asyncio.get_running_loop()]
        assert [each.ws.open for each in ours if not each._stop_ev.is_set()] == [True]


def test_the_sessions_of_a_day_last_however_often_each_ends_at_once() -> None:
    """Each attempt costs three sessions, in as little time as discord.py takes for them."""
    begun: list[float] = []
    now = 0.0
    while now < 2 * DAY_SECONDS:
        begun += [now, now + 5, now + 10]
        now += 10 + pause(begun, now + 10, first=5)
    assert max(sum(at <= each < at + DAY_SECONDS for each in begun) for at in begun) < SESSIONS_A_DAY


def test_trouble_now_and_then_keeps_nobody_waiting_for_long() -> None:
    """A session that ends each minute, for hours: an event that cannot be read, again and again."""
    begun: list[float] = []
    for minute in range(290):
        begun.append(minute * 60.0)
        assert pause(begun, begun[-1], first=5) <= 30
    assert pause(begun[:1], begun[0], first=5) == 5
