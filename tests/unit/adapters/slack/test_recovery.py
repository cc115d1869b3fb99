"""After a restart: questions recalled, and unconfirmed messages of their answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import Command, Gone, IncomingMessage, Page, Recall, Room, Unreachable, Write
from tests.doubles.slack_double.server import Upload
from tests.unit.adapters.slack.conftest import Bot, bot, running, server

if TYPE_CHECKING:
    from tests.doubles.chat_server import Shown
    from tests.doubles.slack_double.server import SlackServer

__all__ = ["bot", "server"]

TXT = Upload(name="notes.txt", content=b"notes", media_type="text/plain")
SEARCHING = Page(status="Searching…")
FINAL = Page(text="You have **30** days.")


def kept(message: IncomingMessage) -> IncomingMessage:
    """The stored question."""
    return IncomingMessage(
        id=message.id,
        place=message.place,
        person=message.person,
        text=message.text,
        in_thread=message.in_thread,
        private=message.private,
        about=message.about,
        handle=message.handle,
        at=message.at,
    )


async def asked(bot: Bot, text: str = "how many days?", *files: Upload, thread: str = "") -> IncomingMessage:
    alice = bot.server.world.users.get("UALICE") or bot.server.add_user("alice")
    general = bot.server.world.channels.get("CGENERAL") or bot.server.add_channel("general", [alice])
    await bot.server.user_says(alice, general, text, files=files, thread=thread)
    message, _ = await bot.next()
    return message


async def way_back(bot: Bot) -> Recall:
    return await bot.service.recalls.get()


def ours(server: SlackServer) -> list[Shown]:
    return [shown for ts in sorted(server.world.messages) if (shown := server.shown(ts)).ours]


async def finish(room: Room, *posted: str) -> str:
    outlet = room.outlet(posted=posted)
    return await outlet.write(Write(part=0, page=FINAL, route=outlet.routes[-1].name, final=True))


# --- the question ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_question_is_recalled_in_its_current_form(bot: Bot, in_thread: bool) -> None:
    root = (await asked(bot, "before")).id if in_thread else ""
    message = await asked(bot, "how many?", TXT, thread=root)
    await bot.server.user_edits(message.id, "how many days?")
    now, room = await (await way_back(bot))(kept(message))
    assert now is not None
    assert (now.id, now.place, now.person, now.text) == (
        message.id,
        message.place,
        message.person,
        "how many days?",
    )
    assert [each.name for each in now.attachments] == ["notes.txt"]
    assert now.in_thread == in_thread
    assert (await room.open_thread()) == message.place


@pytest.mark.parametrize("answered", [False, True])
async def test_a_deleted_question_is_recalled_as_none(bot: Bot, answered: bool) -> None:
    message = await asked(bot)
    recall = await way_back(bot)
    if answered:  # a tombstone stays
        _, room = await recall(kept(message))
        await finish(room)
    await bot.server.user_deletes(message.id)
    now, _ = await recall(kept(message))
    assert now is None


async def test_recall_raises_gone_for_a_closed_channel(bot: Bot) -> None:
    message = await asked(bot)
    bot.server.world.channels["CGENERAL"].members.discard(bot.server.world.bot.id)
    with pytest.raises(Gone):
        await (await way_back(bot))(kept(message))


async def test_an_unreadable_question_is_answered_as_stored(bot: Bot) -> None:
    message = await asked(bot)
    recall = await way_back(bot)
    _, room = await recall(kept(message))
    posted = await room.outlet().write(Write(part=0, page=SEARCHING, route="edit"))
    body = b'{"ok": false, "error": "missing_scope", "needed": "channels:history"}'
    headers = {"Content-Type": "application/json"}
    for method in ("conversations.history", "conversations.replies"):
        bot.server.fail(method, status=200, body=body, headers=headers, times=-1)
    now, room = await recall(kept(message))
    assert now == kept(message)
    assert await finish(room, posted) == posted
    assert [each.text for each in ours(bot.server)] == [FINAL.text]


async def test_a_server_without_the_read_methods_holds_no_answer_up(bot: Bot) -> None:
    message = await asked(bot)
    recall = await way_back(bot)
    for method in ("conversations.history", "conversations.replies"):
        bot.server.fail(method, status=404, times=-1)
    now, room = await recall(kept(message))
    assert now == kept(message)
    outlet = room.outlet()
    write = Write(part=0, page=FINAL, route=outlet.routes[-1].name, final=True)
    for _ in range(2):
        with pytest.raises(Unreachable, match="does not know"):
            await outlet.write(write)
    await outlet.write(write)
    assert [each.text for each in ours(bot.server)] == [FINAL.text]


# --- our messages under it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["stream", "edit"])
@pytest.mark.parametrize("direct", [False, True])
async def test_messages_of_the_previous_process_are_continued(
    server: SlackServer, route: str, direct: bool
) -> None:
    async with running(server) as before:
        alice = server.add_user("alice")
        place = server.direct(alice) if direct else server.add_channel("general", [alice])
        await server.user_says(alice, place, "how many days?")
        message, room = await before.next()
        outlet = room.outlet()
        way = route if len(outlet.routes) > 1 else "edit"
        lost = await outlet.write(Write(part=0, page=SEARCHING, route=way))
    async with running(server) as after:
        _, room = await (await way_back(after))(kept(message))
        assert await finish(room) == lost
    (message,) = ours(server)
    assert (message.text, message.streaming) == (FINAL.text, False)


async def test_a_stream_of_another_answer_is_not_taken(server: SlackServer) -> None:
    async with running(server) as before:
        first = await asked(before)
        second = await asked(before, "and Ben?", thread=first.id)
        recall = await way_back(before)
        outlet = (await recall(kept(first)))[1].outlet()
        other = await outlet.write(Write(part=0, page=SEARCHING, route="stream"))
    async with running(server) as after:
        after.service.answers = frozenset({other})
        _, room = await (await way_back(after))(kept(second))
        assert await finish(room) != other
    assert len(ours(server)) == 2


async def test_two_unconfirmed_answers_in_one_thread_stay_two(server: SlackServer) -> None:
    """Streams carry no mark, and neither answer takes the other's."""
    async with running(server) as before:
        root = await asked(before)
        questions = [await asked(before, text, thread=root.id) for text in ("and Ann?", "and Ben?")]
        recall = await way_back(before)
        lost = set[str]()
        for question in questions:
            outlet = (await recall(kept(question)))[1].outlet()
            write = Write(part=0, page=SEARCHING, route="stream")
            lost.add(await outlet.write(write))
    async with running(server) as after:
        recall = await way_back(after)
        rooms = [(await recall(kept(question)))[1] for question in questions]
        assert set(await asyncio.gather(*map(finish, rooms))) == lost
    assert [(each.text, each.streaming) for each in ours(server)] == [(FINAL.text, False)] * 2


async def test_a_stream_being_opened_is_not_taken_by_another_answer(server: SlackServer) -> None:
    async with running(server) as bot:
        root = await asked(bot)
        questions = [await asked(bot, text, thread=root.id) for text in ("and Ann?", "and Ben?")]
        recall = await way_back(bot)
        first, second = [(await recall(kept(question)))[1] for question in questions]
        held = asyncio.Event()
        server.fail("chat.startStream", withheld=held)
        opening = asyncio.create_task(
            first.outlet().write(Write(part=0, page=SEARCHING, route="stream")), name="opening"
        )
        await server.wait_for(lambda: ours(server))
        looking = asyncio.create_task(finish(second), name="looking")
        looks = len(server.calls_of("conversations.replies"))
        held.set()
        assert await looking != await opening
        assert len(server.calls_of("conversations.replies")) == looks + 1
    assert len(ours(server)) == 2


async def test_unconfirmed_later_parts_are_deleted(server: SlackServer) -> None:
    async with running(server) as before:
        message = await asked(before)
        _, room = await (await way_back(before))(kept(message))
        outlet = room.outlet()
        posted = [await outlet.write(Write(part=part, page=FINAL, route="edit")) for part in range(3)]
    async with running(server) as after:
        _, room = await (await way_back(after))(kept(message))
        assert await finish(room, *posted[:2]) == posted[0]
    assert [each.id for each in ours(server)] == posted[:2]


async def test_an_unconfirmed_answer_to_a_deleted_question_is_deleted(server: SlackServer) -> None:
    async with running(server) as before:
        message = await asked(before)
        _, room = await (await way_back(before))(kept(message))
        await room.outlet().write(Write(part=0, page=SEARCHING, route="edit"))
    await server.user_deletes(message.id)
    async with running(server) as after:
        now, room = await (await way_back(after))(kept(message))
        assert now is None
        await room.outlet().write(Write(part=0, page=None, route="edit", final=True))
    assert ours(server) == []


# --- what only one person sees -----------------------------------------------------------------------------------------


def private_question(command: Command) -> IncomingMessage:
    return IncomingMessage(
        id=f"command:{command.id}",
        place=command.place,
        person=command.person,
        text="how many days?",
        private=True,
        handle=command.handle,
    )


@pytest.mark.parametrize("expired", [False, True])
async def test_a_private_answer_finds_its_person_after_a_restart(server: SlackServer, expired: bool) -> None:
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as before:
        await server.user_commands(alice, general, "/ask how many days?")
        command, _ = await before.next()
    if expired:
        server.advance(1801)
    async with running(server) as after:
        message = private_question(command)
        now, room = await (await way_back(after))(message)
        assert now == message
        outlet = room.outlet(private=message.person)
        await outlet.write(Write(part=0, page=FINAL, route="respond", final=True))
    (shown,) = [each for each in server.visible(alice, general) if each.ours]
    assert (shown.text, shown.only_for) == (FINAL.text, alice.id)
    assert bool(server.calls_of("chat.postEphemeral")) == expired


async def test_a_public_answer_to_a_command_is_found_after_a_restart(server: SlackServer) -> None:
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as before:
        await server.user_commands(alice, general, "/ask --where channel how many days?")
        command, _ = await before.next()
        message = replace(private_question(command), private=False)
        _, room = await (await way_back(before))(message)
        lost = await room.outlet().write(Write(part=0, page=SEARCHING, route="edit"))
    async with running(server) as after:
        _, room = await (await way_back(after))(message)
        assert await finish(room) == lost


async def test_the_message_that_was_asked_about_is_read_again(server: SlackServer) -> None:
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as before:
        ts = await server.user_says(alice, general, "the plan", files=(TXT,))
        await before.next()
        await server.user_shortcut(alice, ts, "ask_about_this")
        message, _ = await before.next()
    async with running(server) as after:
        now, room = await (await way_back(after))(kept(message))
        assert now is not None
        assert (now.id, now.about, now.private) == (message.id, ts, True)
        assert [each.name for each in now.attachments] == ["notes.txt"]
        outlet = room.outlet(private=message.person)
        await outlet.write(Write(part=0, page=FINAL, route="respond", final=True))
    assert [each.only_for for each in ours(server)] == [alice.id]


async def test_a_private_status_is_not_sent_again_after_a_restart(server: SlackServer) -> None:
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server) as at_work:
        await server.user_commands(alice, general, "/ask how many days?")
        command, room = await at_work.next()
        first = room.outlet(private=command.person)
        posted = await first.write(Write(part=0, page=SEARCHING, route="respond"))
        _, room = await (await way_back(at_work))(private_question(command))
        outlet = room.outlet(private=command.person, posted=(posted,))
        await outlet.write(Write(part=0, page=SEARCHING, route="respond"))
        await outlet.write(Write(part=0, page=FINAL, route="respond", final=True))
    (message,) = ours(server)
    assert [text.text for text in message.texts] == [SEARCHING.status, "You have **30** days."], "replaced"
