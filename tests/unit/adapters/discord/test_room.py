"""Earlier messages, links, and who can read what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bot.port import ChatError, IncomingMessage, Place, Room
from tests.doubles.chat_server import Upload
from tests.doubles.discord_double.world import (
    ADMINISTRATOR,
    MANAGE_GUILD,
    PRIVATE_THREAD,
    READ_MESSAGE_HISTORY,
    VIEW_CHANNEL,
)
from tests.unit.adapters.discord.conftest import Recorder, write

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User

pytestmark = pytest.mark.usefixtures("bot")


async def _room(server: DiscordServer, service: Recorder, user: User, **where: Any) -> Room:
    channel = where.pop("channel", server.general)
    asked = await server.user_says(user, channel, f"{server.bot.mention} ?", **where)
    while True:
        event, room = await service.next()
        if isinstance(event, IncomingMessage) and event.id == asked:
            return room


async def test_discord_has_no_search_of_messages_for_bots(server: DiscordServer, service: Recorder) -> None:
    room = await _room(server, service, server.add_user("anna"))
    assert not room.finds_messages
    assert list(await room.find_messages("Who?", limit=5)) == []


# --- where the answer stands ------------------------------------------------------------------------------------------


def _no_threads(server: DiscordServer) -> None:
    """As if its permissions had just changed."""
    server.fail(
        "create_thread",
        status=403,
        body=b'{"code": 50013, "message": "no"}',
        headers={"Content-Type": "application/json", "Via": "1.1 google"},
    )


async def test_the_thread_of_an_answer_is_opened_once(server: DiscordServer, service: Recorder) -> None:
    room = await _room(server, service, server.add_user("anna"))
    settled = await room.open_thread()
    assert settled.channel == server.general.id
    assert settled.thread in server.world.channels
    assert await room.open_thread() == settled
    message = await write(room.outlet(), "An answer.", final=True)
    assert server.shown(message).thread == settled.thread
    assert len(server.calls_of("create_thread")) == 1


async def test_without_a_thread_the_answer_is_in_the_channel(
    server: DiscordServer, service: Recorder
) -> None:
    room = await _room(server, service, server.add_user("anna"))
    _no_threads(server)
    settled = await room.open_thread()
    assert (settled.channel, settled.thread) == (server.general.id, "")
    message = await write(room.outlet(), "An answer.", final=True)
    assert server.shown(message).thread == ""
    assert await room.open_thread() == settled
    assert len(server.calls_of("create_thread")) == 1


async def test_a_thread_opened_by_the_outlet_is_the_place(server: DiscordServer, service: Recorder) -> None:
    room = await _room(server, service, server.add_user("anna"))
    _no_threads(server)
    await write(room.outlet(), "An answer.", final=True)
    assert (await room.open_thread()).thread == ""
    assert len(server.calls_of("create_thread")) == 1


async def test_nothing_is_opened_in_a_thread_or_for_a_direct_message(
    server: DiscordServer, service: Recorder
) -> None:
    anna = server.add_user("anna")
    thread = server.add_thread(anna, await server.user_says(anna, server.general, "Numbers"))
    room = await _room(server, service, anna, thread=thread)
    assert (await room.open_thread()).thread == thread.id
    await server.user_says(anna, anna.id, "Why?")
    event, room = await service.next()
    assert await room.open_thread() == event.place
    assert server.calls_of("create_thread") == []


async def test_a_thread_that_cannot_be_opened_now_is_opened_by_the_outlet(
    server: DiscordServer, service: Recorder
) -> None:
    anna = server.add_user("anna")
    room = await _room(server, service, anna)
    server.fail("create_thread", status=400)
    settled = await room.open_thread()
    message = await write(room.outlet(), "An answer.", final=True)
    assert server.shown(message).thread == settled.thread != ""


# --- earlier -----------------------------------------------------------------------------------------------------------


async def test_earlier_messages_of_a_channel(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    for number in range(5):
        await server.user_says(anna if number % 2 else ben, server.general, f"message {number}")
    room = await _room(server, service, anna)
    await server.user_says(anna, server.general, "later")
    found = await room.earlier(limit=3)
    assert [(each.text, each.person.name) for each in found] == [
        ("message 2", "ben"),
        ("message 3", "anna"),
        ("message 4", "ben"),
    ]


async def test_earlier_messages_of_a_thread_begin_with_the_one_it_was_made_from(
    server: DiscordServer, service: Recorder
) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    file = Upload(name="march.csv", content=b"a,b", media_type="text/csv")
    start = await server.user_uploads(ben, server.general, file, text="Numbers for March")
    thread = server.add_thread(ben, start)
    await server.user_says(ben, server.general, "They are final.", thread)
    room = await _room(server, service, anna, thread=thread)
    await write(room.outlet(), "An answer.", final=True)
    room = await _room(server, service, anna, thread=thread)
    found = await room.earlier(limit=20)
    assert [(each.text, each.ours) for each in found] == [
        ("Numbers for March", False),
        ("They are final.", False),
        ("?", False),
        ("An answer.", True),
    ]
    assert [each.name for each in found[0].attachments] == ["march.csv"]
    assert len(await room.earlier(limit=2)) == 2


async def test_a_thread_whose_first_message_was_deleted(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    start = await server.user_says(anna, server.general, "Gone soon")
    thread = server.add_thread(anna, start)
    await server.user_says(anna, server.general, "Still here", thread)
    await server.user_deletes(start)
    room = await _room(server, service, anna, thread=thread)
    assert [each.text for each in await room.earlier(limit=20)] == ["Still here"]


# --- links -------------------------------------------------------------------------------------------------------------


def _link(server: DiscordServer, channel: str, message: str) -> str:
    return f"https://discord.com/channels/{server.guild.id}/{channel}/{message}"


async def test_a_permalink_is_fetched(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    other = server.add_channel("plans")
    file = Upload(name="plan.md", content=b"# Plan", media_type="text/markdown")
    message = await server.user_uploads(anna, other, file, text="The plan")
    thread = server.add_thread(anna, message)
    inside = await server.user_says(anna, other, "Its detail", thread)
    room = await _room(server, service, anna)
    found = await room.fetch(f"<{_link(server, other.id, message)}>")
    assert found is not None
    assert (found.text, found.place.channel, found.place.thread) == ("The plan", other.id, "")
    assert [each.name for each in found.attachments] == ["plan.md"]
    found = await room.fetch(_link(server, thread.id, inside))
    assert found is not None
    assert (found.text, found.place.channel, found.place.thread) == ("Its detail", other.id, thread.id)


async def test_foreign_permalinks_give_none(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    elsewhere = server.add_guild("Elsewhere")
    foreign = server.add_channel("general", guild=elsewhere)
    server.joins(anna, elsewhere)
    away = await server.user_says(anna, foreign, "Elsewhere")
    hidden = server.add_channel("hidden", only=[ben], bot=False)
    secret = await server.user_says(ben, hidden, "Hidden from the bot")
    direct = await server.user_says(ben, ben.id, "To the bot alone")
    gone = await server.user_says(anna, server.general, "Gone")
    await server.user_deletes(gone)
    room = await _room(server, service, anna)
    for link in (
        f"https://discord.com/channels/{elsewhere.id}/{foreign.id}/{away}",
        _link(server, foreign.id, away),
        _link(server, hidden.id, secret),
        _link(server, server.general.id, gone),
        f"https://discord.com/channels/@me/{server.direct(ben).id}/{direct}",
        _link(server, server.direct(ben).id, direct),
        "https://example.org/channels/1/2/3",
        "no link",
    ):
        assert await room.fetch(link) is None, link


async def test_a_private_thread_is_read_in_itself_only(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    thread = server.world.thread(server.general, "secret", anna.id, private=True)
    thread.members.add(server.bot.id)
    server._channel_changed(thread, "THREAD_CREATE")
    assert thread.kind == PRIVATE_THREAD
    message = await server.user_says(anna, server.general, "The secret", thread)
    outside = await _room(server, service, anna)
    inside = await _room(server, service, anna, thread=thread)
    assert await outside.fetch(_link(server, thread.id, message)) is None
    found = await inside.fetch(_link(server, thread.id, message))
    assert found is not None
    assert found.text == "The secret"
    directory = outside.directory
    assert not await directory.may_read(thread.id, person=anna.id)
    assert not await directory.may_read(thread.id, everyone_in=server.general.id)
    assert await directory.may_read(server.general.id, everyone_in=thread.id)
    assert (await directory.channel(thread.id)).kind == "private"


# --- who can read what --------------------------------------------------------------------------------------------------


async def test_channels_and_their_kinds(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    hidden = server.add_channel("hidden", only=[anna])
    quiet = server.add_channel("quiet")
    server.set_rights(quiet, server.everyone(), deny=READ_MESSAGE_HISTORY)  # type: ignore[arg-type]
    directory = (await _room(server, service, anna)).directory
    assert (await directory.channel(server.general.id)).name == "general"
    kinds = [(await directory.channel(each.id)).kind for each in (server.general, hidden, quiet)]
    assert kinds == ["public", "private", "private"]
    with pytest.raises(ChatError):
        await directory.channel("1")
    with pytest.raises(ChatError):
        await directory.channel("nonsense")


async def test_what_a_person_can_read(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    team = server.add_role("team")
    boss = server.add_user("boss")
    server.gives_role(boss, server.add_role("boss", ADMINISTRATOR))
    server.gives_role(anna, team)
    hidden = server.add_channel("hidden", only=[team])
    directory = (await _room(server, service, anna)).directory
    assert await directory.may_read(hidden.id, person=anna.id)
    assert await directory.may_read(hidden.id, person=boss.id)
    assert not await directory.may_read(hidden.id, person=ben.id)
    assert not await directory.may_read(hidden.id, person="123456789012345678")
    assert not await directory.may_read(hidden.id, person="nobody")
    assert not await directory.may_read(hidden.id)
    assert not await directory.may_read("123456789012345678", person=anna.id)


async def test_what_everyone_in_a_channel_can_read(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    team = server.add_role("team")
    plans = server.add_channel("plans")
    first = server.add_channel("first", only=[team])
    second = server.add_channel("second", only=[team, anna])
    third = server.add_channel("third", only=[anna])
    directory = (await _room(server, service, ben)).directory

    async def may(target: Any, source: Any) -> bool:
        return await directory.may_read(target.id, everyone_in=source.id)

    assert await may(plans, server.general)
    assert await may(server.general, first)
    assert await may(second, first)
    assert await may(second, third)
    assert await may(first, first)
    assert not await may(first, second)
    assert not await may(first, server.general)
    assert not await may(third, second)


async def test_changed_permissions_count_at_once(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    plans = server.add_channel("plans")
    directory = (await _room(server, service, anna)).directory
    assert await directory.may_read(plans.id, everyone_in=server.general.id)
    server.set_rights(plans, server.everyone(), deny=VIEW_CHANNEL)  # type: ignore[arg-type]
    directory = (await _room(server, service, anna)).directory
    assert not await directory.may_read(plans.id, everyone_in=server.general.id)


async def test_standing(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    server.gives_role(anna, server.add_role("librarians"))
    server.gives_role(ben, server.add_role("managers", MANAGE_GUILD))
    directory = (await _room(server, service, anna)).directory
    assert (await directory.membership(anna.id)).roles == {"librarians"}
    assert not (await directory.membership(anna.id)).admin
    assert (await directory.membership(ben.id)).admin
    assert (await directory.membership(server.guild.owner)).admin
    assert not (await directory.membership("123456789012345678")).admin
    assert len(server.calls_of("get_member")) == 4


async def test_who_is_present_is_asked_again(server: DiscordServer, service: Recorder) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    hidden = server.add_channel("hidden", only=[anna])
    secret = server.world.thread(server.general, "secret", anna.id, private=True)
    secret.members |= {server.bot.id, anna.id}
    server._channel_changed(secret, "THREAD_CREATE")
    directory = (await _room(server, service, anna)).directory
    guild = server.guild.id

    async def present(person: Any, channel: Any, thread: str = "") -> bool:
        place = Place(platform="discord", workspace=guild, channel=channel.id, thread=thread)
        return await directory.present(place, person.id)

    assert await present(ben, server.general)
    assert await present(ben, server.general, "123456789012345678")  # a thread that was not opened
    assert [await present(each, hidden) for each in (anna, ben)] == [True, False]
    assert [await present(each, server.general, secret.id) for each in (anna, ben)] == [True, False]
    assert (await directory.membership(ben.id)).member
    server.leaves(ben)
    assert not await present(ben, server.general)
    gone = Place(platform="discord", workspace=guild, channel="123456789012345678")
    assert not await directory.present(gone, anna.id)
    server.fail("get_member", status=503, times=-1)
    with pytest.raises(ChatError):
        await present(anna, server.general)


async def test_a_direct_message_leads_to_the_servers_that_the_bot_is_in(
    server: DiscordServer, service: Recorder
) -> None:
    anna, ben = server.add_user("anna"), server.add_user("ben")
    hidden = server.add_channel("hidden", only=[anna])
    await server.user_says(ben, ben.id, "hello")
    event, room = await service.next()
    direct = room.directory
    assert (direct.home, await direct.joined(ben.id, {server.general.id})) == ("", frozenset())
    assert not await direct.are_members(person=ben.id)
    assert await direct.present(event.place, ben.id)
    assert not await direct.present(event.place, anna.id)
    for nowhere in ("@me", "T1", "123456789012345678"):
        assert direct.of_workspace(nowhere) is None
    guild = direct.of_workspace(server.guild.id)
    assert guild is not None
    channels = {server.general.id, hidden.id, "123456789012345678"}
    assert await guild.joined(ben.id, channels) == {server.general.id}
    assert await guild.joined(anna.id, channels) == {server.general.id, hidden.id}
    assert await guild.are_members(person=ben.id)
    assert await guild.are_members(everyone_in=hidden.id)
    assert not await guild.are_members(person="123456789012345678")
    assert await guild.joined("123456789012345678", channels) == frozenset()


async def test_failed_directory_calls_raise(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    room = await _room(server, service, anna)
    server.fail("get_member", status=503)
    with pytest.raises(ChatError):
        await room.directory.membership(anna.id)
    server.fail("list_messages", status=503)
    with pytest.raises(ChatError):
        await room.earlier(limit=5)


async def test_only_a_thread_that_the_bot_opened_is_renamed(server: DiscordServer, service: Recorder) -> None:
    anna = server.add_user("anna")
    room = await _room(server, service, anna)
    assert not room.can_be_renamed
    thread = (await room.open_thread()).thread
    assert room.can_be_renamed
    await room.rename("Notice\nperiods")
    assert server.world.channels[thread].name == "Notice"
    server.fail("edit_channel", status=403, body=b'{"code": 50013, "message": "no"}')
    with pytest.raises(ChatError):
        await room.rename("Again")
    there = await _room(server, service, anna, channel=server.world.channels[thread])
    await there.open_thread()
    assert not there.can_be_renamed
    await there.rename("Else")
    assert len(server.calls_of("edit_channel")) == 2
