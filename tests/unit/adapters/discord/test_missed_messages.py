"""Questions asked while no process ran."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.doubles.discord_double import payloads
from tests.doubles.discord_double.server import serve
from tests.doubles.discord_double.world import READ_MESSAGE_HISTORY
from tests.unit.adapters.discord.conftest import Recorder, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User


async def says(server: DiscordServer, who: User, where: Any, text: str = "why?", **more: Any) -> str:
    return await server.user_says(who, where, f"{server.bot.mention} {text}", **more)


@asynccontextmanager
async def started(
    server: DiscordServer,
    *,
    heard: float,
    faults: list[str] | None = None,
    direct: tuple[str, ...] = (),
    **more: Any,
) -> AsyncIterator[Recorder]:
    """A process that starts after one that last saw a message at that time."""
    service = Recorder(heard_at=heard, direct=list(direct))
    async with running(server, service, faults=faults, **more):
        await service.recall()
        yield service


async def are_told(server: DiscordServer, service: Recorder, who: User, *messages: str) -> None:
    """Exactly these messages are reported."""
    assert {(await service.next())[0].id for _ in messages} == set(messages)
    last = await says(server, who, server.general, "last?")
    assert (await service.next())[0].id == last


async def test_missed_questions_of_every_kind_of_channel(anna: User, server: DiscordServer) -> None:
    topic = await server.user_says(anna, server.general, "a topic")
    thread = server.add_thread(anna, topic)
    forum, voice = server.add_channel("help", "forum"), server.add_channel("stand-up", "voice")
    async with started(server, heard=0.0):
        pass  # threads are only known from these
    heard = server.wall() - 0.01
    asked = [
        await says(server, anna, server.general),
        await says(server, anna, server.general, thread=thread),
        await says(server, anna, voice),
        await server.user_posts(anna, forum, "A title", f"{server.bot.mention} why?"),
        await server.user_says(anna, anna.id, "in private?"),
    ]
    new = server.add_thread(anna, await server.user_says(anna, server.general, "another topic"))
    asked += [new.id, await says(server, anna, server.general, thread=new)]
    faults: list[str] = []
    direct = (server.direct(anna).id,)
    async with started(server, heard=heard, faults=faults, direct=direct) as service:
        await are_told(server, service, anna, topic, *asked)
        assert faults == ["gap"]


async def test_a_first_run_has_no_missed_messages(server: DiscordServer, anna: User) -> None:
    await says(server, anna, server.general)
    async with started(server, heard=0.0) as service:
        await are_told(server, service, anna)
        assert server.calls_of("list_messages") == []


@pytest.mark.parametrize(
    ("look_back", "found"), [(3600.0, ["late"]), (0.0, []), (86_400.0, ["early", "late"])]
)
async def test_the_look_back_is_limited(look_back: float, found: list[str]) -> None:
    async with serve(behind=3 * 3600) as server:
        anna, heard = server.add_user("anna"), server.wall()
        asked = {"early": await says(server, anna, server.general)}
        server.advance(2.5 * 3600)
        asked["late"] = await says(server, anna, server.general)
        server.advance(0.5 * 3600)
        async with started(server, heard=heard - 60, look_back_seconds=look_back) as service:
            await are_told(server, service, anna, *(asked[each] for each in found))


async def test_recently_seen_messages_are_repeated_and_are_no_gap(server: DiscordServer, anna: User) -> None:
    """The latest messages may not have been handled."""
    async with serve(behind=300) as server:
        anna = server.add_user("anna")
        await says(server, anna, server.general)
        server.advance(240)
        question = await says(server, anna, server.general)
        server.advance(30)
        heard = server.wall()
        server.advance(30)
        faults: list[str] = []
        async with started(server, heard=heard, faults=faults) as service:
            await are_told(server, service, anna, question)
            assert faults == []


async def test_a_missed_message_that_was_edited_is_also_an_edit(server: DiscordServer, anna: User) -> None:
    question = await says(server, anna, server.general)
    await server.user_edits(question, f"{server.bot.mention} why not?")
    async with started(server, heard=server.wall() - 1) as service:
        events = [(await service.next())[0] for _ in range(2)]
        assert sorted(type(event).__name__ for event in events) == ["IncomingMessage", "MessageEdited"]
        assert {getattr(event, "message", event).text for event in events} == {"why not?"}


async def test_a_channel_that_fails_at_first_is_retried(server: DiscordServer, anna: User) -> None:
    other = server.add_channel("other")
    asked = {await says(server, anna, server.general), await says(server, anna, other)}
    server.fail("list_messages", lost=True, times=3)
    async with started(server, heard=server.wall() - 1) as service:
        assert {(await service.next())[0].id for _ in asked} == asked


async def test_a_forbidden_channel_hides_no_other(server: DiscordServer, anna: User) -> None:
    hidden = server.add_channel("hidden")
    await says(server, anna, hidden)
    asked = await says(server, anna, server.general)
    server.set_rights(hidden, server.bot, deny=READ_MESSAGE_HISTORY)
    async with started(server, heard=server.wall() - 1) as service:
        assert (await service.next())[0].id == asked


async def test_a_session_that_ends_before_the_search(server: DiscordServer, anna: User) -> None:
    """A message can be newer than a missed one."""
    missed = await says(server, anna, server.general)
    heard = server.wall() - 1

    async def end_it() -> str:
        await server.connected()
        seen = await says(server, anna, server.general)
        await server.broken_frame()
        return seen

    ending = asyncio.create_task(end_it())
    async with started(server, heard=heard) as service:
        seen = await ending
        assert server.gateway.identified == 2
        told = {(await service.next())[0].id for _ in range(2)}
        assert told == {missed, seen}


async def test_a_channel_that_discord_returns_late(server: DiscordServer, anna: User) -> None:
    """Unknown threads are looked up with retries."""
    thread = server.add_thread(anna, await server.user_says(anna, server.general, "a topic"))
    async with started(server, heard=0.0) as service:
        deleted = payloads.thread(thread)
        server.gateway.dispatch("THREAD_DELETE", lambda _: deleted)
        server.fail("get_channel", lost=True, times=2)
        await says(server, anna, server.general, thread=thread)
        event, _ = await service.next()
        assert event.place.thread == thread.id
        assert len(server.calls_of("get_channel")) == 3
