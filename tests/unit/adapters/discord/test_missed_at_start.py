"""Questions that came while no process ran: nobody replays them, so the next one looks for them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.doubles import discord_payloads as payloads
from tests.doubles.discord_server import serve
from tests.doubles.discord_world import READ_MESSAGE_HISTORY
from tests.unit.adapters.discord.conftest import Recorder, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.discord_server import DiscordServer
    from tests.doubles.discord_world import User


@pytest.fixture
def anna(server: DiscordServer) -> User:
    return server.add_user("anna")


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
    """A process that starts after one before it had looked at a message of that time."""
    service = Recorder(heard_at=heard, direct=list(direct))
    async with running(server, service, faults=faults, **more):
        await service.recall()
        yield service


async def are_told(server: DiscordServer, service: Recorder, who: User, *messages: str) -> None:
    """These messages are told of, and no others."""
    assert {(await service.next())[0].id for _ in messages} == set(messages)
    last = await says(server, who, server.general, "last?")
    assert (await service.next())[0].id == last


async def test_wherever_they_were_asked(anna: User, server: DiscordServer) -> None:
    topic = await server.user_says(anna, server.general, "a topic")
    thread = server.add_thread(anna, topic)
    forum, voice = server.add_channel("help", "forum"), server.add_channel("stand-up", "voice")
    async with started(server, heard=0.0):
        pass  # what is known of threads is known of these
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


async def test_nothing_where_no_process_ever_ran(server: DiscordServer, anna: User) -> None:
    await says(server, anna, server.general)
    async with started(server, heard=0.0) as service:
        await are_told(server, service, anna)
        assert server.calls_of("list_messages") == []


@pytest.mark.parametrize(
    ("look_back", "found"), [(3600.0, ["late"]), (0.0, []), (86_400.0, ["early", "late"])]
)
async def test_only_so_far_back(look_back: float, found: list[str]) -> None:
    async with serve(behind=3 * 3600) as server:
        anna, heard = server.add_user("anna"), server.wall()
        asked = {"early": await says(server, anna, server.general)}
        server.advance(2.5 * 3600)
        asked["late"] = await says(server, anna, server.general)
        server.advance(0.5 * 3600)
        async with started(server, heard=heard - 60, look_back_seconds=look_back) as service:
            await are_told(server, service, anna, *(asked[each] for each in found))


async def test_what_was_seen_shortly_before_is_told_again_without_being_a_gap(
    server: DiscordServer, anna: User
) -> None:
    """A question that was asked before the latest that was looked at may not have been taken up."""
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


async def test_one_that_was_edited_meanwhile_comes_as_an_edit_too(server: DiscordServer, anna: User) -> None:
    question = await says(server, anna, server.general)
    await server.user_edits(question, f"{server.bot.mention} why not?")
    async with started(server, heard=server.wall() - 1) as service:
        events = [(await service.next())[0] for _ in range(2)]
        assert sorted(type(event).__name__ for event in events) == ["IncomingMessage", "MessageEdited"]
        assert {getattr(event, "message", event).text for event in events} == {"why not?"}


async def test_a_channel_that_cannot_be_read_at_first(server: DiscordServer, anna: User) -> None:
    other = server.add_channel("other")
    asked = {await says(server, anna, server.general), await says(server, anna, other)}
    server.fail("list_messages", lost=True, times=3)
    async with started(server, heard=server.wall() - 1) as service:
        assert {(await service.next())[0].id for _ in asked} == asked


async def test_one_that_may_not_be_read_hides_no_other(server: DiscordServer, anna: User) -> None:
    hidden = server.add_channel("hidden")
    await says(server, anna, hidden)
    asked = await says(server, anna, server.general)
    server.set_rights(hidden, server.bot, deny=READ_MESSAGE_HISTORY)
    async with started(server, heard=server.wall() - 1) as service:
        assert (await service.next())[0].id == asked


async def test_a_session_that_ends_before_anybody_looked_back(server: DiscordServer, anna: User) -> None:
    """What it has seen is newer than what it has missed."""
    missed = await says(server, anna, server.general)
    heard = server.wall() - 1

    async def end_it() -> str:
        await server.connected()
        seen = await says(server, anna, server.general)
        await server.unparsable_dispatch()
        return seen

    ending = asyncio.create_task(end_it())
    async with started(server, heard=heard) as service:
        seen = await ending
        assert server.gateway.identified == 2
        told = {(await service.next())[0].id for _ in range(2)}
        assert told == {missed, seen}


async def test_a_place_that_discord_does_not_tell_of_at_once(server: DiscordServer, anna: User) -> None:
    """A thread that we do not know is asked for until Discord tells: nobody sends the question again."""
    thread = server.add_thread(anna, await server.user_says(anna, server.general, "a topic"))
    async with started(server, heard=0.0) as service:
        deleted = payloads.thread(thread)
        server.gateway.dispatch("THREAD_DELETE", lambda _: deleted)
        server.fail("get_channel", lost=True, times=2)
        await says(server, anna, server.general, thread=thread)
        event, _ = await service.next()
        assert event.place.thread == thread.id
        assert len(server.calls_of("get_channel")) == 3
