"""Earlier messages, links, files, and who can read what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from adapters.slack.api import is_trusted
from adapters.slack.directory import RecentResults, SlackDirectory
from bot.port import ChatError, Gone, IncomingMessage, Membership, Place, Throttled, Unreachable, WriteRefused
from tests.doubles.slack_double.server import SlackServer, Upload, User
from tests.unit.adapters.slack.conftest import Bot, bot, server, settings

if TYPE_CHECKING:
    from bot.port import Attachment, Directory, Room

__all__ = ["bot", "server"]
PDF = Upload(name="report.pdf", content=b"%PDF" + b"x" * 200_000, media_type="application/pdf")


async def _asked(
    bot: Bot, user: User, channel: object, text: str = "hi", **more: object
) -> tuple[IncomingMessage, Room]:
    ts = await bot.server.user_says(user, channel, text, **more)  # pyright: ignore[reportArgumentType]
    while True:
        event, room = await bot.next()
        if event.id == ts:
            return event, room


async def _read(attachment: Attachment) -> bytes:
    return b"".join([block async for block in attachment.open()])


# --- what was said before ------------------------------------------------------------------------------------------------


async def test_a_thread_is_read_from_its_beginning_and_ours_is_marked(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    root, _ = await _asked(bot, alice, general, "root")
    await bot.server.user_says(bot.server.world.bot, general, "our answer", thread=root.id)
    await bot.server.user_uploads(alice, general, PDF, text="a file", thread=root.id)
    _, room = await _asked(bot, alice, general, "and now?", thread=root.id)
    earlier = await room.earlier(limit=10)
    assert [(each.text, each.ours) for each in earlier] == [
        ("root", False),
        ("our answer", True),
        ("a file", False),
    ]
    assert [file.name for file in earlier[2].attachments] == ["report.pdf"]
    assert [each.text for each in await room.earlier(limit=2)] == ["our answer", "a file"]


async def test_outside_threads_the_channel_is_read(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    for text in ("one", "two", "three"):
        await _asked(bot, alice, general, text)
    _, room = await _asked(bot, alice, general, f"{bot.server.mention}")
    assert [each.text for each in await room.earlier(limit=2)] == ["two", "three"]


async def test_unreadable_history_is_an_error(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    _, room = await _asked(bot, alice, general)
    bot.server.scopes.discard("channels:history")
    with pytest.raises(ChatError, match="channels:history"):
        await room.earlier(limit=2)


# --- links -----------------------------------------------------------------------------------------------------------------


async def test_a_permalink_is_fetched_with_its_files(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    root, room = await _asked(bot, alice, general, "root")
    ts = await bot.server.user_uploads(alice, general, PDF, thread=root.id)
    reply, _ = await bot.next()
    while reply.id != ts:
        reply, _ = await bot.next()
    for link in (root.uri, reply.uri, f"<{reply.uri}>"):
        found = await room.fetch(link)
        assert found is not None
        assert found.uri in link
    assert [file.name for file in found.attachments] == ["report.pdf"]


async def test_foreign_and_unreadable_permalinks_give_none(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    secret = bot.server.add_channel("secret", [alice], kind="private", bot=False)
    root, room = await _asked(bot, alice, general)
    hidden = await bot.server.user_says(alice, secret, "hidden")
    links = [
        root.uri.replace("acme.", "other."),
        root.uri.replace(root.id.replace(".", ""), "1" * 16),
        f"https://acme.slack.com/archives/{secret.id}/p{hidden.replace('.', '')}",
        "https://acme.slack.com/archives/",
        "hello",
    ]
    assert [await room.fetch(link) for link in links] == [None] * len(links)


# --- files -------------------------------------------------------------------------------------------------------------------


async def _attachment(bot: Bot, file: Upload = PDF, **facts: object) -> Attachment:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice], **facts)
    await bot.server.user_uploads(alice, general, file)
    message, _ = await bot.next()
    return message.attachments[0]


async def test_a_file_is_looked_up_before_its_download(bot: Bot) -> None:
    attachment = await _attachment(bot)
    assert not bot.server.calls_of("download")
    assert await _read(attachment) == PDF.content
    assert bot.server.calls_of("files.info")


async def test_the_login_page_is_not_taken_for_the_file(bot: Bot) -> None:
    attachment = await _attachment(bot)
    bot.server.login_pages = True
    with pytest.raises(WriteRefused, match="The app lacks the permission files:read"):
        await _read(attachment)


async def test_a_real_html_file_is_read_and_the_login_page_in_its_place_is_not(bot: Bot) -> None:
    page = Upload(name="page.html", content=b"<!DOCTYPE html><p>Leave</p>", media_type="text/html")
    attachment = await _attachment(bot, page)
    assert await _read(attachment) == page.content
    bot.server.login_pages = True
    with pytest.raises(WriteRefused, match="files:read"):
        await _read(attachment)


async def test_a_missing_permission_is_named(bot: Bot) -> None:
    attachment = await _attachment(bot)
    bot.server.scopes.discard("files:read")
    with pytest.raises(WriteRefused, match="files:read"):
        await _read(attachment)


async def test_a_stub_without_permission_says_why_before_any_download(server: SlackServer) -> None:
    from tests.unit.adapters.slack.conftest import running

    server.scopes.discard("files:read")
    async with running(server) as bot:
        attachment = await _attachment(bot, external=True)
    assert "files:read" in attachment.refusal


async def test_a_file_that_was_deleted_is_refused_with_a_sentence(bot: Bot) -> None:
    attachment = await _attachment(bot)
    bot.server.world.files[attachment.id].deleted = True
    with pytest.raises(WriteRefused, match="no longer in Slack"):
        await _read(attachment)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 429, "retry_after": 3}, Throttled),
        ({"status": 502}, Unreachable),
        ({"status": 404}, Gone),
        ({"status": 403}, WriteRefused),
        ({"status": 200, "body": b"%PDF", "headers": {"Content-Type": "application/pdf"}}, Unreachable),
        (
            {"status": 200, "body": b"y" * 300_000, "headers": {"Content-Type": "application/pdf"}},
            WriteRefused,
        ),
        ({"lost": True}, Unreachable),
    ],
)
async def test_responses_that_are_not_the_file_are_refused(
    bot: Bot, fault: dict[str, object], error: type[Exception]
) -> None:
    attachment = await _attachment(bot)
    bot.server.fail("download", times=-1, **fault)
    with pytest.raises(error):
        await _read(attachment)


async def test_redirects_to_other_hosts_are_not_followed(bot: Bot) -> None:
    seen: list[str | None] = []

    async def foreign(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.Response(body=PDF.content, content_type="application/pdf")

    application = web.Application()
    application.router.add_get("/{tail:.*}", foreign)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        elsewhere = f"http://127.0.0.1:{runner.addresses[0][1]}/file"
        attachment = await _attachment(bot)
        bot.server.fail("download", status=302, headers={"Location": elsewhere})
        with pytest.raises(WriteRefused, match="not on Slack's servers"):
            await _read(attachment)
        bot.server.fail(
            "download", status=302, headers={"Location": f"{bot.server.base_url}/files-pri/none/x"}
        )
        with pytest.raises(Gone):
            await _read(attachment)
    finally:
        await runner.cleanup()
    assert seen == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a.pdf", True),
        ("https://acme.slack.com/x", True),
        ("https://files.slack.com:443/x", True),
        ("http://files.slack.com/x", False),
        ("https://files.slack.com:8443/x", False),
        ("https://slack.com.evil.example/x", False),
        ("https://evilslack.com/x", False),
        ("https://files.slack.com@evil.example/x", False),
        ("http://127.0.0.1:1/x", False),
    ],
)
def test_which_hosts_are_trusted(address: str, expected: bool) -> None:
    from adapters import slack

    assert is_trusted(address, slack.Settings(bot_token="x")) is expected  # pyright: ignore[reportArgumentType]


def test_the_configured_api_host_is_trusted(server: SlackServer) -> None:
    assert is_trusted(f"{server.base_url}/files-pri/a", settings(server))


@pytest.mark.parametrize(
    ("stub", "word"),
    [
        ({"is_external": True, "mode": "external"}, "outside Slack"),
        ({"mode": "hidden_by_limit"}, "storage limit"),
        ({"mode": "quip"}, "canvases"),
    ],
)
async def test_files_that_cannot_be_downloaded_are_refused_at_once(
    bot: Bot, stub: dict[str, object], word: str
) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    event = {
        "type": "message",
        "channel": general.id,
        "channel_type": "channel",
        "user": alice.id,
        "team": "TACME",
    }
    file = {"id": "F1", "name": "a", "mimetype": "application/pdf", "size": 3} | stub
    event |= {"ts": "1700000000.000100", "text": "", "files": [file, {"id": "F2", "mode": "tombstone"}]}
    bot.server.wire.send("events_api", {"type": "event_callback", "team_id": "TACME", "event": event})
    message, _ = await bot.next()
    (attachment,) = message.attachments
    assert word in attachment.refusal


async def test_a_forwarded_message_is_quoted_with_its_files(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    file = {"id": "F1", "name": "a.pdf", "mimetype": "application/pdf", "size": 3}
    event = {
        "type": "message",
        "channel": general.id,
        "channel_type": "channel",
        "user": alice.id,
        "team": "TACME",
    }
    shared = [{"is_share": True, "text": "*how* many?\nplease", "files": [file]}, {"text": "a preview"}]
    event |= {"ts": "1700000000.000100", "text": "this", "attachments": shared}
    bot.server.wire.send("events_api", {"type": "event_callback", "team_id": "TACME", "event": event})
    message, _ = await bot.next()
    assert message.text == "this\n\n> **how** many?\n> please"
    assert [each.name for each in message.attachments] == ["a.pdf"]


# --- who can read what ---------------------------------------------------------------------------------------------------------


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
