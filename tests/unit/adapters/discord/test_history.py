"""Pages of a channel's history on Discord: public threads belong to it, private ones do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.port import IncomingMessage, Room

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User
    from tests.unit.adapters.discord.conftest import Recorder

pytestmark = pytest.mark.usefixtures("bot")


async def asked(
    server: DiscordServer, service: Recorder, user: User, **where: object
) -> tuple[IncomingMessage, Room]:
    channel = where.pop("channel", server.general)
    message = await server.user_says(user, channel, "something said", **where)  # pyright: ignore[reportArgumentType]
    while True:
        event, room = await service.next()
        if isinstance(event, IncomingMessage) and event.id == message:
            return event, room


async def test_pages_go_back_to_the_beginning_without_a_gap(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    said = [await server.user_says(anna, server.general, f"said {number}") for number in range(130)]
    _, room = await asked(server, service, anna)
    first = await room.history()
    assert (len(first.seen), first.cursor) == (100, min(first.seen, key=int))
    second = await room.history(cursor=first.cursor)
    assert second.cursor == ""
    assert {*first.seen, *second.seen} >= set(said)
    assert not {*first.seen} & {*second.seen}
    until = await room.history(until=said[-2])
    assert [each.text for each in until.messages] == ["something said", "said 129"]


async def test_a_public_thread_is_part_of_its_channel_and_a_private_one_is_not(
    server: DiscordServer, service: Recorder
) -> None:
    anna = server.add_user("anna")
    root = await server.user_says(anna, server.general, "The root")
    thread = server.add_thread(anna, root)
    reply = await server.user_says(anna, server.general, "The reply", thread=thread)
    secret = server.world.thread(server.general, "secret", anna.id, private=True)
    secret.members.add(server.bot.id)
    server._channel_changed(secret, "THREAD_CREATE")
    hidden, inside = await asked(server, service, anna, thread=secret)
    assert hidden.restricted
    assert not (await asked(server, service, anna, thread=thread))[0].restricted
    _, room = await asked(server, service, anna)
    page = await room.history()
    assert root in page.threads
    assert secret.id not in page.threads
    read = await room.history(thread=thread.id)
    assert reply in read.seen
    assert [(each.text, each.in_thread) for each in read.messages] == [
        ("The reply", True),
        ("something said", True),
    ]
    for where in (room, inside):
        assert (await where.history(thread=secret.id)).messages == ()


async def test_a_thread_of_another_channel_and_one_that_is_gone_are_empty(
    server: DiscordServer, service: Recorder
) -> None:
    anna = server.add_user("anna")
    other = server.add_channel("other")
    thread = server.add_thread(anna, await server.user_says(anna, other, "The root"))
    await server.user_says(anna, other, "The reply", thread=thread)
    _, room = await asked(server, service, anna)
    assert (await room.history(thread=thread.id)).messages == ()
    assert (await room.history(thread="1234567890123456789")).messages == ()
