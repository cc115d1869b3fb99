"""Messages of Discord as the service sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.port import IncomingMessage, MessageDeleted, MessageEdited
from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.world import CREATE_PUBLIC_THREADS
from tests.unit.adapters.discord.conftest import Recorder, running, write

if TYPE_CHECKING:
    from bot.port import Room
    from tests.doubles.discord_double.server import DiscordServer

pytestmark = pytest.mark.usefixtures("bot")


async def test_a_mention_in_a_channel(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    other = server.add_user("ben")
    text = f"{server.bot.mention}, what did {other.mention} decide in <#{server.general.id}>? <:tada:123>"
    message = await server.user_says(anna, server.general, text)
    event, _ = await service.next()
    assert isinstance(event, IncomingMessage)
    assert event.id == message
    assert event.text == "what did @ben decide in #general? :tada:"
    assert (event.place.platform, event.place.workspace, event.place.channel, event.place.thread) == (
        "discord",
        server.guild.id,
        server.general.id,
        message,
    )
    assert (event.person.id, event.person.name) == (anna.id, "anna")
    assert event.addressed
    assert event.to_others
    assert not event.in_thread
    assert not event.by_bot
    assert event.uri == f"https://discord.com/channels/{server.guild.id}/{server.general.id}/{message}"
    assert abs(event.at - server.wall()) < 5


async def test_a_message_to_nobody_is_reported_but_not_addressed(
    server: DiscordServer, service: Recorder
) -> None:
    await server.user_says(server.add_user("anna"), server.general, "Has anybody seen the report?")
    event, _ = await service.next()
    assert (event.addressed, event.to_others) == (False, False)


async def test_direct_messages_are_addressed(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    await server.user_says(anna, anna.id, "What is our refund policy?")
    event, room = await service.next()
    assert event.addressed
    assert (event.place.workspace, event.place.thread) == ("@me", "")
    assert (await room.directory.channel(event.place.channel)).kind == "direct"
    assert await room.directory.may_read(event.place.channel, person=anna.id)
    assert not await room.directory.may_read(server.general.id, person=anna.id)


async def test_replies_to_us_are_addressed_and_replies_to_others_are_not(
    server: DiscordServer, service: Recorder
) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")

    async def deal(event: object, room: Room) -> None:
        if isinstance(event, IncomingMessage) and event.addressed:
            await write(room.outlet(), "An answer.", final=True)

    service.deal = deal
    await server.user_says(anna, anna.id, "Hello?")
    await service.next()
    ours = server.ours()[-1].id
    await server.user_says(anna, anna.id, "And then?", reply_to=ours, ping=False)
    assert (await service.next())[0].to_others is False

    asked = await server.user_says(anna, server.general, "Lunch?")
    await service.next()
    await server.user_says(ben, server.general, "Yes", reply_to=asked)
    event, _ = await service.next()
    assert (event.addressed, event.to_others) == (False, True)
    await server.user_says(anna, server.general, "At one, I mean", reply_to=asked)
    event, _ = await service.next()
    assert (event.addressed, event.to_others) == (False, False)


async def test_a_reply_to_our_message_in_a_channel_is_addressed(
    server: DiscordServer, service: Recorder
) -> None:
    async def deal(event: object, room: Room) -> None:
        if isinstance(event, IncomingMessage) and event.addressed:
            await write(room.outlet(), "An answer.", final=True)

    service.deal = deal
    anna = server.add_user("anna")
    server.set_rights(server.general, server.bot, deny=CREATE_PUBLIC_THREADS)
    await server.user_says(anna, server.general, f"{server.bot.mention} hello")
    event, _ = await service.next()
    assert event.place.thread == ""
    (ours,) = server.ours()
    await server.user_says(anna, server.general, "and why?", reply_to=ours.id, ping=False)
    event, _ = await service.next()
    assert (event.addressed, event.to_others) == (True, False)


async def test_threads(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    start = await server.user_says(anna, server.general, "Numbers for March")
    await service.next()
    thread = server.add_thread(anna, start)
    await server.user_says(anna, server.general, "Is it final?", thread)
    event, _ = await service.next()
    assert (event.place.channel, event.place.thread) == (server.general.id, thread.id)
    assert event.in_thread
    assert not event.addressed


async def test_other_bots_are_marked_and_our_own_messages_ignored(
    server: DiscordServer, service: Recorder
) -> None:
    robot = server.add_bot("Robot", server.guild)

    async def deal(event: object, room: Room) -> None:
        await write(room.outlet(), "Beep.", final=True)

    service.deal = deal
    await server.user_says(robot, server.general, f"{server.bot.mention} beep")
    event, _ = await service.next()
    assert event.by_bot
    await server.user_says(server.add_user("anna"), server.general, "Hm.")
    event, _ = await service.next()
    assert event.text == "Hm."


async def test_edits_that_change_the_text_and_no_others(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    message = await server.user_says(anna, server.general, "https://example.org and the budgte?")
    await service.next()
    await server.unfolds(message)
    await server.user_edits(message, "https://example.org and the budget?")
    event, _ = await service.next()
    assert isinstance(event, MessageEdited)
    assert event.message.id == message
    assert event.message.text.endswith("budget?")
    await server.user_deletes(message)
    event, _ = await service.next()
    assert isinstance(event, MessageDeleted)
    assert (event.id, event.place.workspace, event.place.channel) == (
        message,
        server.guild.id,
        server.general.id,
    )


async def test_all_files_of_a_message(server: DiscordServer, service: Recorder) -> None:
    files = [Upload(name=f"{n}.txt", content=b"text" * n, media_type="text/plain") for n in (1, 2, 3)]
    message = await server.user_uploads(server.add_user("anna"), server.general, *files)
    event, _ = await service.next()
    assert [each.name for each in event.attachments] == ["1.txt", "2.txt", "3.txt"]
    assert [each.size for each in event.attachments] == [4, 8, 12]
    assert {each.media_type for each in event.attachments} == {"text/plain"}
    assert len({each.id for each in event.attachments}) == 3
    assert event.attachments[0].uri.endswith(message)
    assert not any(each.refusal for each in event.attachments)


async def test_a_voice_message_is_known_as_one(server: DiscordServer, service: Recorder) -> None:
    await server.user_speaks(server.add_user("anna"), server.general)
    event, _ = await service.next()
    [voice] = event.voices
    assert (voice.refusal, event.files, event.text) == ("", (), "")
    assert voice.size == len([1 async for block in voice.open() for _ in block])


async def test_mentions_are_read_without_the_intent(server: DiscordServer, service: Recorder) -> None:
    """A second adapter, on a Discord without the intent."""
    from tests.doubles.discord_double.server import serve

    async with serve(privileged_intents=0) as strict:
        other = Recorder()
        async with running(strict, other, message_content=False):
            anna = strict.add_user("anna")
            await strict.user_says(anna, strict.general, f"{strict.bot.mention} who signs?")
            event, _ = await other.next()
            assert (event.text, event.addressed) == ("who signs?", True)
            await strict.user_says(anna, strict.general, "secret")
            event, _ = await other.next()
            assert (event.text, event.addressed) == ("", False)
