"""Messages in channels, threads and direct conversations."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Button, File, Gone, Room, Throttled, Unreachable, Write, WriteRefused
from tests.doubles.discord_double.world import CREATE_PUBLIC_THREADS
from tests.unit.adapters.discord.conftest import Recorder, running, write

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer

STOP = Button(name="stop", label="Stop", value="turn1", style="danger")


@pytest.fixture
async def asked(server: DiscordServer, service: Recorder, bot: object) -> tuple[Room, str]:
    """The room and id of a question in #general."""
    question = f"{server.bot.mention} What does **clause 7** say?\nIn short, please."
    message = await server.user_says(server.add_user("anna"), server.general, question)
    return (await service.next())[1], message


async def test_an_answer_is_in_a_thread_and_grows(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, question = asked
    outlet = room.outlet()
    assert (outlet.limits.characters, outlet.limits.dialect) == (2000, "discord")
    await write(outlet, "", status="Searching…")
    message = await write(outlet, "Clause", buttons=[STOP])
    await write(outlet, "Clause 7 says no.", final=True, footer="-# [1] contract.pdf")
    shown = server.shown(message)
    assert shown.thread == question
    assert [text.text for text in shown.texts] == [
        "Searching…",
        "Clause",
        "Clause 7 says no.\n\n-# [1] contract.pdf",
    ]
    assert shown.buttons == ()
    assert server.world.channels[question].name == "What does clause 7 say?"
    assert server.violations == []


async def test_parts_of_a_long_answer_are_messages_of_the_same_thread(
    server: DiscordServer, asked: tuple[Room, str]
) -> None:
    room, question = asked
    outlet = room.outlet()
    await write(outlet, "one" * 600)
    second = await write(outlet, "two", part=1)
    assert [each.text for each in server.ours()] == ["one" * 600, "two"]
    assert {each.thread for each in server.ours()} == {question}
    assert await outlet.write(Write(part=1, page=None, route="edit")) == second
    assert [each.text for each in server.ours()] == ["one" * 600]
    await write(outlet, "three", part=1)
    assert [each.text for each in server.ours()] == ["one" * 600, "three"]


async def test_nothing_pings_and_nothing_unfolds(server: DiscordServer, asked: tuple[Room, str]) -> None:
    ben = server.add_user("ben")
    outlet = asked[0].outlet()
    evil = f"@everyone @here {ben.mention} https://evil.example"
    message = await write(outlet, evil)
    await write(outlet, evil + "!", final=True)
    assert server.pings == []
    assert server.message(message).flags & (1 << 2)


async def test_a_message_posted_twice_is_one(server: DiscordServer, asked: tuple[Room, str]) -> None:
    """The response is lost after Discord did the call."""
    outlet = asked[0].outlet()
    server.fail("create_message", lost=True, applied=True)
    with pytest.raises(Unreachable):
        await write(outlet, "Searching…")
    message = await write(outlet, "Found it.")
    assert [each.id for each in server.ours()] == [message]
    assert server.shown(message).text == "Found it."


async def test_a_message_posted_again_after_a_restart_is_one(server: DiscordServer) -> None:
    anna, before, after = server.add_user("anna"), Recorder(), Recorder()
    async with running(server, before):
        question = await server.user_says(anna, server.general, f"{server.bot.mention} why?")
        _, room = await before.next()
        await write(room.outlet(), "Half an ans")
    async with running(server, after):
        await server.redeliver(question)
        _, room = await after.next()
        message = await write(room.outlet(), "The answer.", final=True)
    assert [(each.id, each.text) for each in server.ours()] == [(message, "The answer.")]


async def test_two_outlets_of_one_event_write_two_messages(
    server: DiscordServer, asked: tuple[Room, str]
) -> None:
    room, _ = asked
    await write(room.outlet(), "report.pdf: reading…")
    await write(room.outlet(), "An answer.")
    assert [each.text for each in server.ours()] == ["report.pdf: reading…", "An answer."]


async def test_existing_messages_are_continued(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, _ = asked
    first = await write(room.outlet(), "Half")
    again = room.outlet(posted=(first,))
    assert await write(again, "Whole.", final=True) == first
    assert [each.text for each in server.ours()] == ["Whole."]


async def test_an_existing_thread_is_used(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, question = asked
    server.add_thread(server.add_user("ben"), question)
    message = await write(room.outlet(), "An answer.")
    assert server.shown(message).thread == question


async def test_creating_the_thread_fails_halfway_and_only_one_is_made(
    server: DiscordServer, asked: tuple[Room, str]
) -> None:
    room, question = asked
    outlet = room.outlet()
    server.fail("create_thread", status=502, applied=True)
    with pytest.raises(Unreachable):
        await write(outlet, "Searching…")
    await write(outlet, "Searching…")
    assert [(each.thread, each.text) for each in server.ours()] == [(question, "Searching…")]


async def test_without_the_permission_it_answers_by_reply(
    server: DiscordServer, service: Recorder, bot: object
) -> None:
    server.set_rights(server.general, server.bot, deny=CREATE_PUBLIC_THREADS)
    anna = server.add_user("anna")
    question = await server.user_says(anna, server.general, f"{server.bot.mention} why?")
    event, room = await service.next()
    assert event.place.thread == ""
    outlet = room.outlet()
    message = await write(outlet, "Because.")
    await write(outlet, "Moreover.", part=1)
    assert server.shown(message).thread == ""
    assert server.message(message).reference == (server.general.id, question)
    assert server.message(server.ours()[1].id).reference is None
    assert server.pings == []


async def test_a_permission_that_is_revoked_meanwhile(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, question = asked
    server.fail(
        "create_thread",
        status=403,
        body=b'{"code": 50013, "message": "no"}',
        headers={"Content-Type": "application/json", "Via": "1.1 google"},
    )
    outlet = room.outlet()
    message = await write(outlet, "Because.")
    assert server.shown(message).thread == ""
    assert server.message(message).reference == (server.general.id, question)
    again = room.outlet(posted=(message,))
    await write(again, "Because so.", final=True)
    assert server.shown(message).text == "Because so."


async def test_threads_switched_off(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service, threads=False):
        question = await server.user_says(
            server.add_user("anna"), server.general, f"{server.bot.mention} why?"
        )
        event, room = await service.next()
        assert event.place.thread == ""
        await server.user_deletes(question)
        message = await write(room.outlet(), "The question is gone; the answer is not refused.")
        assert server.shown(message).thread == ""


async def test_an_archived_thread_is_opened_again(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, question = asked
    outlet = room.outlet()
    message = await write(outlet, "Half")
    server.set_thread(server.world.channels[question], archived=True)
    await write(outlet, "Whole.", final=True)
    assert server.shown(message).text == "Whole."


async def test_edits_of_a_deleted_message_raise_gone(server: DiscordServer, asked: tuple[Room, str]) -> None:
    room, _ = asked
    outlet = room.outlet()
    message = await write(outlet, "Half")
    await server.user_deletes(message)
    with pytest.raises(Gone):
        await write(outlet, "Whole.", final=True)


async def test_a_question_that_was_deleted_before_the_answer(
    server: DiscordServer, asked: tuple[Room, str]
) -> None:
    room, question = asked
    await server.user_deletes(question)
    with pytest.raises(Gone):
        await write(room.outlet(), "Too late.")
    assert server.ours() == []


async def test_too_many_requests_raise_at_once(server: DiscordServer, asked: tuple[Room, str]) -> None:
    outlet = asked[0].outlet()
    await write(outlet, "Half")
    server.fail("edit_message", status=429, retry_after=1.5)
    async with asyncio.timeout(1):
        with pytest.raises(Throttled) as caught:
            await write(outlet, "Whole.")
    assert caught.value.seconds == 1.5
    await write(outlet, "Whole.", final=True)


@pytest.mark.parametrize(("headers", "seconds"), [({}, 60.0), ({"Retry-After": "5"}, 5.0)])
async def test_a_ban_before_discord_is_waited_out(
    server: DiscordServer, asked: tuple[Room, str], headers: dict[str, str], seconds: float
) -> None:
    """Long, as no length is announced."""
    outlet = asked[0].outlet()
    await write(outlet, "Half")
    server.fail("edit_message", status=429, body=b"<html>", headers=headers)
    with pytest.raises(Throttled) as caught:
        await write(outlet, "Whole.")
    assert caught.value.seconds == seconds


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_faults_of_discord_raise_at_once(
    server: DiscordServer, asked: tuple[Room, str], status: int
) -> None:
    outlet = asked[0].outlet()
    await write(outlet, "Half")
    server.fail("edit_message", status=status)
    async with asyncio.timeout(1):
        with pytest.raises(Unreachable):
            await write(outlet, "Whole.")
    await write(outlet, "Whole.", final=True)
    assert server.ours()[0].text == "Whole."


async def test_a_silent_discord_is_unreachable(server: DiscordServer, service: Recorder) -> None:
    async with running(server, service, call_seconds=0.3):
        await server.user_says(server.add_user("anna"), server.general, f"{server.bot.mention} why?")
        _, room = await service.next()
        outlet = room.outlet()
        await write(outlet, "Half")
        let_go = server.silence("edit_message")
        with pytest.raises(Unreachable):
            await write(outlet, "Whole.")
        let_go.set()


async def test_private_answers_are_direct_messages(
    server: DiscordServer, service: Recorder, bot: object
) -> None:
    anna = server.add_user("anna")
    await server.user_says(anna, server.general, f"{server.bot.mention} why?")
    event, room = await service.next()
    message = await write(room.outlet(private=event.person), "For you alone.")
    assert server.shown(message).channel == server.direct(anna).id
    server.closed_to_us.add(anna.id)
    with pytest.raises(WriteRefused, match="allow direct messages"):
        await write(room.outlet(private=event.person), "For you alone.")
    assert [each.text for each in server.ours()] == ["For you alone."]


async def test_a_direct_message_is_answered_in_its_conversation(
    server: DiscordServer, service: Recorder, bot: object
) -> None:
    anna = server.add_user("anna")
    await server.user_says(anna, anna.id, "Why?")
    event, room = await service.next()
    for outlet in (room.outlet(), room.outlet(private=event.person)):
        message = await write(outlet, "Because.")
        assert server.shown(message).channel == event.place.channel
        assert server.message(message).reference is None


async def test_files_are_sent_with_the_final_write(server: DiscordServer, asked: tuple[Room, str]) -> None:
    outlet = asked[0].outlet()
    await write(outlet, "Half")
    picture = File(name="page-3.png", media_type="image/png", content=b"\x89PNG", description="Page 3")
    message = await write(outlet, "Whole.", final=True, files=(picture,))
    assert [(file.name, file.size) for file in server.shown(message).files] == [("page-3.png", 4)]
    await write(outlet, "Other.", final=True)
    assert server.shown(message).files == ()


async def test_an_empty_page(server: DiscordServer, asked: tuple[Room, str]) -> None:
    message = await write(asked[0].outlet(), "")
    assert server.shown(message).text == "…"


async def test_writes_at_the_pace_of_the_budgets_never_wait(
    server: DiscordServer, asked: tuple[Room, str]
) -> None:
    outlet = asked[0].outlet()
    (route,) = outlet.routes
    clock: Any = asyncio.get_running_loop().time
    started = clock()
    await write(outlet, "0")
    for number in range(1, route.edit.calls + 1):
        await write(outlet, str(number))
    assert clock() - started < 2
    assert server.violations == []
    assert route.create.name != route.edit.name
    assert route.edit.name == route.finish.name


async def test_an_answer_to_a_deleted_question_is_deleted(
    server: DiscordServer, asked: tuple[Room, str], service: Recorder
) -> None:
    room, question = asked
    message = await write(room.outlet(), "An answer.", final=True)
    await server.user_deletes(question)
    event, after = await service.next()
    assert event.place.thread == question
    await after.outlet(posted=(message,)).write(Write(part=0, page=None, route="edit"))
    assert server.ours() == []


async def test_an_answer_in_the_channel_is_deleted_too(
    server: DiscordServer, asked: tuple[Room, str], service: Recorder
) -> None:
    room, question = asked
    server.fail(
        "create_thread",
        status=403,
        body=b'{"code": 50013, "message": "no"}',
        headers={"Content-Type": "application/json", "Via": "1.1 google"},
    )
    message = await write(room.outlet(), "An answer.", final=True)
    await server.user_deletes(question)
    _, after = await service.next()
    await after.outlet(posted=(message,)).write(Write(part=0, page=None, route="edit"))
    assert server.ours() == []
