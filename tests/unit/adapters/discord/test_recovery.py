"""Questions recalled after a restart, and unrecorded messages of their answers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Button, ChatError, IncomingMessage, MessageEdited, Outlet, Room, Write
from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.world import CREATE_PUBLIC_THREADS, READ_MESSAGE_HISTORY
from tests.unit.adapters.discord.conftest import Recorder, running, write

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import Channel, User

STOP = Button(name="stop", label="Stop", value="turn1", style="danger")
AGAIN = Button(name="regenerate", label="Regenerate", value="turn1")
OTHER = Button(name="stop", label="Stop", value="turn2", style="danger")
FORGOTTEN_SECONDS = 600.0


@asynccontextmanager
async def before(server: DiscordServer, **settings: Any) -> AsyncIterator[Recorder]:
    """The earlier process."""
    service = Recorder()
    async with running(server, service, **settings):
        yield service


@asynccontextmanager
async def after(
    server: DiscordServer, event: IncomingMessage, *, recorded: tuple[str, ...] = (), **settings: Any
) -> AsyncIterator[tuple[IncomingMessage | None, Room]]:
    """The next process, with the recalled question."""
    service = Recorder(recorded=set(recorded))
    async with running(server, service, **settings):
        recall = await service.recall()
        yield await recall(replace(event, attachments=()))


async def says(server: DiscordServer, service: Recorder, who: User, where: Channel | str) -> Any:
    await server.user_says(who, where, f"{server.bot.mention} why?")
    return await service.next()


def texts(server: DiscordServer) -> list[str]:
    return [each.text for each in server.ours()]


async def removed(outlet: Outlet, part: int) -> None:
    await outlet.write(Write(part=part, page=None, route=outlet.routes[-1].name))


# --- the question ---


async def test_recall_returns_the_current_question(server: DiscordServer, anna: User) -> None:
    file = Upload(name="plan.md", content=b"# Plan", media_type="text/markdown")
    async with before(server) as service:
        question = await server.user_uploads(anna, server.general, file, text=f"{server.bot.mention} why?")
        event, _ = await service.next()
    await server.user_edits(question, f"{server.bot.mention} why not?")
    kept = replace(event, person=replace(event.person, language="de"))
    async with after(server, kept) as (now, _):
        assert now is not None
        assert (now.id, now.text, now.place, now.at) == (event.id, "why not?", event.place, event.at)
        assert (now.person, now.handle, now.addressed) == (kept.person, event.handle, True)
        assert b"".join([block async for block in now.attachments[0].open()]) == b"# Plan"


@pytest.mark.parametrize("gone", ["message", "channel"])
async def test_a_question_that_was_deleted(server: DiscordServer, anna: User, gone: str) -> None:
    channel = server.add_channel("plans")
    async with before(server) as service:
        event, room = await says(server, service, anna, channel)
        message = await write(room.outlet(), "Searching…", buttons=[STOP])
    if gone == "message":
        await server.user_deletes(event.id)
    else:
        server.delete_channel(channel)
    async with after(server, event) as (now, room):
        assert now is None
        await removed(room.outlet(posted=(message,)), 0)
        assert texts(server) == []


async def test_an_unrecorded_answer_to_a_deleted_question_is_deleted(
    server: DiscordServer, anna: User
) -> None:
    """Without a page there are no buttons to compare, and no thread is opened."""
    async with before(server) as service:
        event, room = await says(server, service, anna, server.general)
        unanswered, _ = await says(server, service, anna, server.general)
        await write(room.outlet(), "Searching…", buttons=[STOP])
    for question in (event, unanswered):
        await server.user_deletes(question.id)
        async with after(server, question) as (now, room):
            assert now is None
            threads = len(server.calls_of("create_thread"))
            await removed(room.outlet(), 0)
            assert texts(server) == []
            assert len(server.calls_of("create_thread")) == threads


async def test_an_unreadable_question_is_recalled_as_stored(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        event, _ = await says(server, service, anna, server.general)
    server.set_rights(server.general, server.bot, deny=READ_MESSAGE_HISTORY)
    async with after(server, event) as (now, room):
        assert now == event
        await write(room.outlet(), "An answer.", buttons=[AGAIN])
        assert texts(server) == ["An answer."]


async def test_recall_raises_while_discord_fails(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        event, _ = await says(server, service, anna, server.general)
    service = Recorder()
    async with running(server, service):
        recall = await service.recall()
        server.fail("get_message", status=503)
        with pytest.raises(ChatError):
            await recall(event)
        now, _ = await recall(event)
        assert now is not None


async def test_a_post_of_a_forum(server: DiscordServer, anna: User) -> None:
    """A forum post's first message has the id of its thread."""
    forum = server.add_channel("help", "forum")
    async with before(server) as service:
        post = await server.user_posts(anna, forum, "A title", f"{server.bot.mention} why?")
        event, room = await service.next()
        assert (event.id, event.place.thread) == (post, post)
        message = await write(room.outlet(), "Half", buttons=[STOP])
    await server.user_edits(post, f"{server.bot.mention} why not?")
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event) as (now, room):
        assert now is not None
        assert now.text == "why not?"
        assert await write(room.outlet(), "Whole.", final=True, buttons=[AGAIN]) == message
        assert [(each.thread, each.text) for each in server.ours()] == [(post, "Whole.")]


# --- what stands there without being recorded ---


async def test_within_minutes_the_nonce_finds_the_message(server: DiscordServer, anna: User) -> None:
    """Also if the history cannot be read."""
    server.set_rights(server.general, server.bot, deny=READ_MESSAGE_HISTORY | CREATE_PUBLIC_THREADS)
    async with before(server, threads=False) as service:
        event, room = await says(server, service, anna, server.general)
        await write(room.outlet(), "Searching…")
    async with after(server, event) as (_, room):
        await write(room.outlet(private=event.person), "That file is not taken.")
        await write(room.outlet(), "An answer.", final=True)
        assert sorted(texts(server)) == ["An answer.", "That file is not taken."]


async def test_the_nonce_finds_the_answer_to_an_edited_question(server: DiscordServer, anna: User) -> None:
    server.set_rights(server.general, server.bot, deny=READ_MESSAGE_HISTORY | CREATE_PUBLIC_THREADS)
    async with before(server) as service:
        question = await server.user_says(anna, server.general, "why?")
        await service.next()
        await server.user_edits(question, f"{server.bot.mention} why?")
        edited, room = await service.next()
        assert isinstance(edited, MessageEdited)
        await write(room.outlet(), "Searching…")
    async with after(server, edited.message) as (_, room):
        await write(room.outlet(), "An answer.", final=True)
        assert texts(server) == ["An answer."]


@pytest.mark.parametrize("where", ["its thread", "a thread", "the channel", "direct messages"])
async def test_later_the_message_is_found_in_the_channel(
    server: DiscordServer, anna: User, where: str
) -> None:
    if where == "the channel":
        server.set_rights(server.general, server.bot, deny=CREATE_PUBLIC_THREADS)
    thread = None
    if where == "a thread":
        thread = server.add_thread(anna, await server.user_says(anna, server.general, "a topic")).id
    async with before(server) as service:
        question = f"{server.bot.mention} why?"
        place = anna.id if where == "direct messages" else server.general
        await server.user_says(anna, place, question, thread=thread)
        event, room = await service.next()
        message = await write(room.outlet(), "", status="Searching…", buttons=[STOP])
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event) as (_, room):
        assert await write(room.outlet(), "An answer.", final=True, buttons=[AGAIN]) == message
        assert texts(server) == ["An answer."]


@pytest.mark.parametrize("where", ["its thread", "the channel"])
async def test_a_message_without_buttons_is_found(server: DiscordServer, anna: User, where: str) -> None:
    """By its reference to the question, or as the first in the question's thread."""
    if where == "the channel":
        server.set_rights(server.general, server.bot, deny=CREATE_PUBLIC_THREADS)
    async with before(server) as service:
        event, room = await says(server, service, anna, server.general)
        message = await write(room.outlet(), "There are no files here.", final=True)
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event) as (_, room):
        assert await write(room.outlet(), "An answer.", final=True, buttons=[AGAIN]) == message
        assert texts(server) == ["An answer."]


async def test_messages_of_other_answers_are_left_alone(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        event, _ = await says(server, service, anna, anna.id)
        _, other = await says(server, service, anna, anna.id)
        first = await write(other.outlet(), "Theirs", buttons=[OTHER])
        second = await write(other.outlet(), "without buttons", part=1)
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event, recorded=(first, second)) as (_, room):
        await write(room.outlet(), "", status="Searching…", buttons=[STOP])
        assert texts(server) == ["Theirs", "without buttons", "Searching…"]


@pytest.mark.parametrize("buttons", [[STOP], []])
async def test_an_unrecorded_later_part_is_deleted(
    server: DiscordServer, anna: User, buttons: list[Button]
) -> None:
    """The new answer may be shorter."""
    async with before(server) as service:
        event, room = await says(server, service, anna, server.general)
        outlet = room.outlet()
        first = await write(outlet, "One")
        await write(outlet, "Two", part=1, buttons=buttons)
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event, recorded=(first,)) as (_, room):
        outlet = room.outlet(posted=(first,))
        await write(outlet, "", status="Searching…", buttons=[STOP])
        assert texts(server) == ["Searching…"]
        await write(outlet, "One again")
        await write(outlet, "Two again", part=1, final=True, buttons=[AGAIN])
        assert texts(server) == ["One again", "Two again"]


async def test_a_recorded_message_is_not_taken_for_a_later_part(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        event, room = await says(server, service, anna, anna.id)
        _, other = await says(server, service, anna, anna.id)
        first = await write(room.outlet(), "Mine")
        second = await write(other.outlet(), "Theirs")
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event, recorded=(first, second)) as (_, room):
        await write(room.outlet(posted=(first,)), "Mine again")
        assert texts(server) == ["Mine again", "Theirs"]


async def test_a_look_up_that_fails_is_repeated_before_anything_is_posted(
    server: DiscordServer, anna: User
) -> None:
    async with before(server) as service:
        event, room = await says(server, service, anna, anna.id)
        message = await write(room.outlet(), "Half", buttons=[STOP])
    server.advance(FORGOTTEN_SECONDS)
    async with after(server, event) as (_, room):
        outlet = room.outlet()
        server.fail("list_messages", status=503)
        with pytest.raises(ChatError):
            await write(outlet, "Searching…", buttons=[STOP])
        assert await write(outlet, "Searching…", buttons=[STOP]) == message


async def test_a_redelivered_question_is_searched_too(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        event, room = await says(server, service, anna, server.general)
        message = await write(room.outlet(), "Half", buttons=[STOP])
    server.advance(FORGOTTEN_SECONDS)
    async with before(server) as service:
        await server.redeliver(event.id)
        _, room = await service.next()
        assert await write(room.outlet(), "Whole.", final=True, buttons=[AGAIN]) == message


async def test_recovery_starts_once(server: DiscordServer, anna: User) -> None:
    async with before(server) as service:
        await service.recall()
        await says(server, service, anna, server.general)
        await server.broken_frame()
        await says(server, service, anna, server.general)  # found when the second session is ready
        assert server.gateway.identified == 2
        assert service.recalls.empty()
