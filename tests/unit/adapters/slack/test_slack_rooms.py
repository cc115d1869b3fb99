"""The room of an event: what was said before, links, files, and who can read what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from adapters.slack.people import People, Recent
from adapters.slack.wire import trusted
from bot.port import ChatError, Gone, IncomingMessage, Refused, Standing, Throttled, Unreachable
from tests.doubles.slack_server import SlackServer, Upload, User
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


async def test_what_slack_does_not_give_is_an_error(bot: Bot) -> None:
    alice = bot.server.add_user("alice")
    general = bot.server.add_channel("general", [alice])
    _, room = await _asked(bot, alice, general)
    bot.server.scopes.discard("channels:history")
    with pytest.raises(ChatError, match="channels:history"):
        await room.earlier(limit=2)


# --- links -----------------------------------------------------------------------------------------------------------------


async def test_a_permalink_leads_to_its_message_with_files(bot: Bot) -> None:
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


async def test_links_elsewhere_and_into_closed_channels_give_nothing(bot: Bot) -> None:
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


async def test_a_file_comes_whole_and_is_looked_up_before(bot: Bot) -> None:
    attachment = await _attachment(bot)
    assert not bot.server.calls_of("download")
    assert await _read(attachment) == PDF.content
    assert bot.server.calls_of("files.info")


async def test_the_login_page_is_not_taken_for_the_file(bot: Bot) -> None:
    attachment = await _attachment(bot)
    bot.server.login_pages = True
    with pytest.raises(Refused, match="The app lacks the permission files:read"):
        await _read(attachment)


async def test_a_real_html_file_is_read_and_the_login_page_in_its_place_is_not(bot: Bot) -> None:
    page = Upload(name="page.html", content=b"<!DOCTYPE html><p>Leave</p>", media_type="text/html")
    attachment = await _attachment(bot, page)
    assert await _read(attachment) == page.content
    bot.server.login_pages = True
    with pytest.raises(Refused, match="files:read"):
        await _read(attachment)


async def test_a_missing_permission_is_named(bot: Bot) -> None:
    attachment = await _attachment(bot)
    bot.server.scopes.discard("files:read")
    with pytest.raises(Refused, match="files:read"):
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
    with pytest.raises(Refused, match="no longer in Slack"):
        await _read(attachment)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"status": 429, "retry_after": 3}, Throttled),
        ({"status": 502}, Unreachable),
        ({"status": 404}, Gone),
        ({"status": 403}, Refused),
        ({"status": 200, "body": b"%PDF", "headers": {"Content-Type": "application/pdf"}}, Unreachable),
        ({"status": 200, "body": b"y" * 300_000, "headers": {"Content-Type": "application/pdf"}}, Refused),
        ({"lost": True}, Unreachable),
    ],
)
async def test_what_is_not_the_file_is_told_as_what_it_is(
    bot: Bot, fault: dict[str, object], error: type[Exception]
) -> None:
    attachment = await _attachment(bot)
    bot.server.fail("download", times=-1, **fault)
    with pytest.raises(error):
        await _read(attachment)


async def test_the_token_stays_with_slack_when_a_download_leads_elsewhere(bot: Bot) -> None:
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
        assert await _read(attachment) == PDF.content
    finally:
        await runner.cleanup()
    assert seen == [None]


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
def test_who_may_see_the_token(address: str, expected: bool) -> None:
    from adapters import slack

    assert trusted(address, slack.Settings(bot_token="x")) is expected  # pyright: ignore[reportArgumentType]


def test_the_server_that_the_api_was_set_to_may_see_it(server: SlackServer) -> None:
    assert trusted(f"{server.base_url}/files-pri/a", settings(server))


@pytest.mark.parametrize(
    ("stub", "word"),
    [
        ({"is_external": True, "mode": "external"}, "outside Slack"),
        ({"mode": "hidden_by_limit"}, "storage limit"),
        ({"mode": "quip"}, "canvases"),
    ],
)
async def test_files_that_nobody_can_download_say_so_at_once(
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


async def test_standing_is_administrators_and_user_groups(bot: Bot) -> None:
    directory = await _directory(bot)
    chief, member = bot.server.add_user("chief", admin=True), bot.server.add_user("member")
    bot.server.world.groups["S1"] = ("kb-admins", [member.id])
    assert (await directory.standing(chief.id)).admin
    standing = await directory.standing(member.id)
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
    standing = await directory.standing(chief.id)
    assert (standing.admin, standing.member, standing.roles) == (True, True, frozenset())


async def test_an_administrator_of_another_organisation_is_nobody_here(bot: Bot) -> None:
    directory = await _directory(bot)
    stranger = bot.server.add_user("stranger", admin=True, stranger=True)
    guest = bot.server.add_user("guest", guest=True)
    bot.server.world.groups["S1"] = ("kb-admins", [stranger.id, guest.id])
    for nobody in (stranger, guest):
        assert await directory.standing(nobody.id) == Standing()


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
        (both.id, other.id): False,  # all who are in it are members, but everyone else can read it too
        (one.id, direct.id): True,
        (direct.id, one.id): True,
        (both.id, direct.id): True,
        (direct.id, both.id): False,
        (public.id, both.id): True,
    }
    found = {pair: await directory.may_read(pair[0], everyone_in=pair[1]) for pair in expected}
    assert found == expected


async def test_big_channels_are_compared_by_the_list_of_all_people(bot: Bot) -> None:
    directory = await _directory(bot)
    people = [bot.server.add_user(f"person{number}") for number in range(40)]
    big, public = bot.server.add_channel("big", people), bot.server.add_channel("public", [])
    assert await directory.may_read(public.id, everyone_in=big.id)
    assert len(bot.server.calls_of("users.info")) < 5
    guests = bot.server.add_channel("guests", [*people, bot.server.add_user("guest", guest=True)])
    fresh = People(directory._wire)  # pyright: ignore[reportAttributeAccessIssue]
    assert not await fresh.may_read(public.id, everyone_in=guests.id)
    fresh.close()


async def test_what_slack_does_not_tell_is_an_error(bot: Bot) -> None:
    directory = await _directory(bot)
    public = bot.server.add_channel("public", [])
    bot.server.fail("conversations.info", status=503, times=-1)
    with pytest.raises(Unreachable):
        await directory.may_read(public.id, person="UALICE")
    bot.server.mend()
    assert await directory.may_read(public.id, person="UALICE")


async def test_answers_are_kept_a_minute_and_asked_for_once() -> None:
    clock = [0.0]
    asked: list[int] = []

    async def load() -> int:
        asked.append(len(asked))
        if len(asked) == 3:
            raise Unreachable("down")
        return len(asked)

    recent = Recent(60, now=lambda: clock[0])
    assert [await recent.get("a", load), await recent.get("a", load)] == [1, 1]
    clock[0] = 60.0
    assert await recent.get("a", load) == 2
    clock[0] = 120.0
    with pytest.raises(Unreachable):
        await recent.get("a", load)
    assert await recent.get("a", load) == 4
