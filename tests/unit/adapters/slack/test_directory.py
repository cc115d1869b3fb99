"""Channels, members and who may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.slack.directory import RecentResults, SlackDirectory
from bot.port import IncomingMessage, Membership, Place, Unreachable, WriteRefused
from tests.unit.adapters.slack.conftest import Bot, bot, server

if TYPE_CHECKING:
    from bot.port import Directory, Room
    from tests.doubles.slack_double.server import User


__all__ = ["bot", "server"]


async def _asked(
    bot: Bot, user: User, channel: object, text: str = "hi", **more: object
) -> tuple[IncomingMessage, Room]:
    ts = await bot.server.user_says(user, channel, text, **more)  # pyright: ignore[reportArgumentType]
    while True:
        event, room = await bot.next()
        if event.id == ts:
            return event, room


async def _directory(bot: Bot) -> Directory:
    alice = bot.server.add_user("alice")
    _, room = await _asked(bot, alice, bot.server.add_channel("entrance", [alice]))
    return room.directory


async def test_channels_are_described(bot: Bot) -> None:
    directory = await _directory(bot)
    add = bot.server.add_channel
    alice = bot.server.world.users["UALICE"]
    channels = [
        add("open", [alice]),
        add("closed", [alice], kind="private"),
        add("few", [alice], kind="mpim"),
        bot.server.direct(alice),
        add("shared", [alice], external=True),
    ]
    told = [await directory.channel(channel.id) for channel in channels]
    assert [(each.kind, each.external) for each in told] == [
        ("public", False),
        ("private", False),
        ("group", False),
        ("direct", False),
        ("public", True),
    ]
    assert told[0].name == "open"


async def test_membership_has_administrators_and_user_groups(bot: Bot) -> None:
    directory = await _directory(bot)
    chief, member = bot.server.add_user("chief", admin=True), bot.server.add_user("member")
    bot.server.world.groups["S1"] = ("kb-admins", [member.id])
    assert (await directory.membership(chief.id)).admin
    standing = await directory.membership(member.id)
    assert not standing.admin
    assert standing.roles == {"kb-admins", "Kb-Admins"}
    assert standing.member


async def test_administrators_are_known_where_there_are_no_user_groups(bot: Bot) -> None:
    directory = await _directory(bot)
    chief = bot.server.add_user("chief", admin=True)
    told = {
        "headers": {"Content-Type": "application/json"},
        "body": b'{"ok": false, "error": "paid_teams_only"}',
    }
    bot.server.fail("usergroups.list", status=200, **told)
    standing = await directory.membership(chief.id)
    assert (standing.admin, standing.member, standing.roles) == (True, True, frozenset())


async def test_administrators_are_known_while_user_groups_cannot_be_read(bot: Bot) -> None:
    directory = await _directory(bot)
    chief, member = bot.server.add_user("chief", admin=True), bot.server.add_user("member")
    bot.server.fail("usergroups.list", status=404, times=20)
    assert (await directory.membership(chief.id)).admin
    with pytest.raises(Unreachable):
        await directory.membership(member.id)


async def test_an_administrator_of_another_organisation_has_no_rights(bot: Bot) -> None:
    directory = await _directory(bot)
    stranger = bot.server.add_user("stranger", admin=True, stranger=True)
    guest = bot.server.add_user("guest", guest=True)
    bot.server.world.groups["S1"] = ("kb-admins", [stranger.id, guest.id])
    for nobody in (stranger, guest):
        assert await directory.membership(nobody.id) == Membership()


async def test_members_read_their_channels_and_everyone_else_the_public_ones(bot: Bot) -> None:
    directory = await _directory(bot)
    alice = bot.server.world.users["UALICE"]
    berta, guest = bot.server.add_user("berta"), bot.server.add_user("guest", guest=True)
    stranger = bot.server.add_user("stranger", stranger=True)
    public = bot.server.add_channel("public", [alice])
    private = bot.server.add_channel("private", [alice], kind="private")
    shared = bot.server.add_channel("shared", [guest, stranger])
    unseen = bot.server.add_channel("unseen", [alice], kind="private", bot=False)
    expected = {
        (public.id, alice.id): True,
        (public.id, berta.id): True,
        (public.id, guest.id): False,
        (public.id, stranger.id): False,
        (private.id, alice.id): True,
        (private.id, berta.id): False,
        (shared.id, guest.id): True,
        (shared.id, stranger.id): True,
        (unseen.id, alice.id): False,
        (bot.server.direct(alice).id, alice.id): True,
        (bot.server.direct(alice).id, berta.id): False,
    }
    found = {
        (channel, person): await directory.may_read(channel, person=person) for channel, person in expected
    }
    assert found == expected
    assert not await directory.may_read(public.id)


async def test_everyone_in_a_channel_must_be_able_to_read_the_other(bot: Bot) -> None:
    directory = await _directory(bot)
    alice = bot.server.world.users["UALICE"]
    berta, guest = bot.server.add_user("berta"), bot.server.add_user("guest", guest=True)
    add = bot.server.add_channel
    public, other = add("public", [alice]), add("other", [alice, berta])
    with_guest = add("withguest", [alice, guest])
    both = add("both", [alice, berta], kind="private")
    one = add("one", [alice], kind="private")
    direct = bot.server.direct(alice)
    expected = {
        (public.id, other.id): True,
        (public.id, with_guest.id): False,
        (with_guest.id, public.id): True,
        (both.id, one.id): True,
        (one.id, both.id): False,
        (one.id, one.id): True,
        (one.id, other.id): False,
        (both.id, other.id): False,  # everyone else can read it too
        (one.id, direct.id): True,
        (direct.id, one.id): True,
        (both.id, direct.id): True,
        (direct.id, both.id): False,
        (public.id, both.id): True,
    }
    found = {pair: await directory.may_read(pair[0], everyone_in=pair[1]) for pair in expected}
    assert found == expected


@pytest.mark.parametrize(
    "fact",
    [
        {"is_shared": True},
        {"is_ext_shared": True},
        {"is_org_shared": True},
        {"is_pending_ext_shared": True},
        {"pending_shared": ["T2"]},
        {"connected_team_ids": ["TACME", "T2"]},
    ],
)
async def test_channels_shared_in_any_way_are_external(bot: Bot, fact: dict[str, object]) -> None:
    directory = await _directory(bot)
    alice = bot.server.world.users["UALICE"]
    shared = bot.server.add_channel("shared", [alice], facts=fact)
    alone = bot.server.add_channel(
        "alone", [alice], facts={"connected_team_ids": ["TACME"], "pending_shared": []}
    )
    assert (await directory.channel(shared.id)).external
    assert not (await directory.channel(alone.id)).external
    assert not await directory.are_members(everyone_in=shared.id)
    assert await directory.are_members(everyone_in=alone.id)


async def test_guests_and_strangers_are_no_members(bot: Bot) -> None:
    directory = await _directory(bot)
    alice, berta = bot.server.world.users["UALICE"], bot.server.add_user("berta")
    guest, stranger = bot.server.add_user("guest", guest=True), bot.server.add_user("stranger", stranger=True)
    group = bot.server.add_channel("group", [alice, berta], kind="mpim")
    with_guest = bot.server.add_channel("withguest", [alice, guest], kind="mpim")
    with_stranger = bot.server.add_channel("withstranger", [alice, stranger], kind="private")
    assert await directory.are_members(everyone_in=group.id)
    for channel in (with_guest, with_stranger):
        assert not await directory.are_members(everyone_in=channel.id)
    people = [await directory.are_members(person=each.id) for each in (alice, berta, guest, stranger)]
    assert people == [True, True, False, False]
    assert not await directory.are_members()


async def test_the_channels_of_a_person_come_from_one_call(bot: Bot) -> None:
    directory = await _directory(bot)
    alice, guest = bot.server.world.users["UALICE"], bot.server.add_user("guest", guest=True)
    add = bot.server.add_channel
    public, foreign = add("public", [alice, guest]), add("foreign", [])
    private, unseen = (
        add("private", [alice], kind="private"),
        add("unseen", [alice], kind="private", bot=False),
    )
    few, direct = add("few", [alice, guest], kind="mpim"), bot.server.direct(alice)
    asked = {each.id for each in (public, foreign, private, unseen, few, direct)}
    calls = len(bot.server.calls_of("conversations.info"))
    assert await directory.joined(alice.id, asked) == {public.id, private.id}
    assert await directory.joined(guest.id, asked) == {public.id}
    assert (await directory.channel(private.id)).kind == "private"
    assert await directory.joined(alice.id, {public.id}) == {public.id}
    assert len(bot.server.calls_of("users.conversations")) == 2
    assert len(bot.server.calls_of("conversations.info")) == calls


async def test_where_slack_does_not_list_them_the_members_of_each_channel_are_looked_up(bot: Bot) -> None:
    directory = await _directory(bot)
    alice = bot.server.world.users["UALICE"]
    public, foreign = bot.server.add_channel("public", [alice]), bot.server.add_channel("foreign", [])
    few = bot.server.add_channel("few", [alice], kind="mpim")
    unknown = {
        "headers": {"Content-Type": "application/json"},
        "body": b'{"ok": false, "error": "unknown_method"}',
    }
    bot.server.fail("users.conversations", status=200, times=-1, **unknown)
    assert await directory.joined(alice.id, {public.id, foreign.id, few.id, "CGONE"}) == {public.id}
    with pytest.raises(WriteRefused):
        await directory.joined(alice.id, {public.id, *(f"C{number}" for number in range(40))})
    bot.server.scopes.discard("channels:read")
    with pytest.raises(WriteRefused, match="channels:read"):
        await directory.joined(alice.id, {bot.server.add_channel("new", [alice]).id})


async def test_who_is_present_is_asked_again(bot: Bot) -> None:
    directory = await _directory(bot)
    alice, berta = bot.server.world.users["UALICE"], bot.server.add_user("berta")
    guest = bot.server.add_user("guest", guest=True)
    private = bot.server.add_channel("private", [alice, berta], kind="private")
    public = bot.server.add_channel("public", [alice, guest])

    def at(channel: str, thread: str = "") -> Place:
        return Place(platform="slack", workspace="TACME", channel=channel, thread=thread)

    for place in (at(private.id), at(private.id, "1.2"), at(public.id)):
        assert await directory.present(place, berta.id)
    assert await directory.present(at(public.id), guest.id)
    assert await directory.present(at(bot.server.direct(alice).id), alice.id)
    assert not await directory.present(at(bot.server.direct(alice).id), berta.id)
    private.members.discard(berta.id)
    public.members.discard(guest.id)
    assert not await directory.present(at(private.id), berta.id)
    assert not await directory.present(at(public.id), guest.id)
    assert not await directory.present(at("CGONE"), alice.id)
    bot.server.fail("conversations.info", status=503, times=-1)
    with pytest.raises(Unreachable):
        await directory.present(at(public.id), alice.id)


async def test_events_of_another_workspace_are_of_its_own_places(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    shared = bot.server.add_channel("shared", [alice], external=True)
    message = {
        "type": "message",
        "channel_type": "channel",
        "user": alice.id,
        "text": "hi",
        "client_msg_id": "1",
    }
    places: list[str] = []
    for number, (team, channel) in enumerate(
        [("TACME", general), ("TOTHER", general), ("TOTHER", shared), ("", general)]
    ):
        event = {**message, "channel": channel.id, "ts": f"1700000000.00010{number}"}
        body = {"type": "event_callback", "team_id": team, "event_id": f"Ev{number}", "event": event}
        bot.server.wire.send("events_api", body)
        got, room = await bot.next()
        places.append(got.place.workspace)
        assert room.directory.home == "TACME"
    assert places == ["TACME", "TOTHER", "TACME", "TACME"]
    command = {
        "command": "/kb",
        "text": "list",
        "channel_id": general.id,
        "user_id": alice.id,
        "trigger_id": "1.1",
    }
    bot.server.wire.send("slash_commands", {**command, "team_id": "TOTHER"})
    got, _ = await bot.next()
    assert got.place.workspace == "TOTHER"
    pressed = {"action_id": "sources", "value": "x", "action_ts": "1"}
    action = {
        "type": "block_actions",
        "team": {"id": "TOTHER"},
        "user": {"id": alice.id},
        "trigger_id": "2.2",
        "container": {"channel_id": general.id, "message_ts": "1700000000.000100"},
        "actions": [pressed],
    }
    bot.server.wire.send("interactive", action)
    got, _ = await bot.next()
    assert got.place.workspace == "TOTHER"


async def test_big_channels_are_compared_by_the_list_of_all_people(bot: Bot) -> None:
    directory = await _directory(bot)
    people = [bot.server.add_user(f"person{number}") for number in range(40)]
    big, public = bot.server.add_channel("big", people), bot.server.add_channel("public", [])
    assert await directory.may_read(public.id, everyone_in=big.id)
    assert len(bot.server.calls_of("users.info")) < 5
    guests = bot.server.add_channel("guests", [*people, bot.server.add_user("guest", guest=True)])
    fresh = SlackDirectory(directory._context)  # pyright: ignore[reportAttributeAccessIssue]
    assert not await fresh.may_read(public.id, everyone_in=guests.id)
    fresh.close()


async def test_failed_directory_calls_are_errors(bot: Bot) -> None:
    directory = await _directory(bot)
    public = bot.server.add_channel("public", [])
    bot.server.fail("conversations.info", status=503, times=-1)
    with pytest.raises(Unreachable):
        await directory.may_read(public.id, person="UALICE")
    bot.server.repair()
    assert await directory.may_read(public.id, person="UALICE")


async def test_results_are_cached_for_a_minute_and_shared() -> None:
    clock = [0.0]
    asked: list[int] = []

    async def load() -> int:
        asked.append(len(asked))
        if len(asked) == 3:
            raise Unreachable("down")
        return len(asked)

    recent = RecentResults(60, now=lambda: clock[0])
    assert [await recent.get("a", load), await recent.get("a", load)] == [1, 1]
    clock[0] = 60.0
    assert await recent.get("a", load) == 2
    clock[0] = 120.0
    with pytest.raises(Unreachable):
        await recent.get("a", load)
    assert await recent.get("a", load) == 4
