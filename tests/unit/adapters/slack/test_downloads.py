"""Files of messages: looked up, fetched from trusted hosts only, refused with a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from adapters.slack.api import is_trusted
from bot.port import Gone, Throttled, Unreachable, WriteRefused
from tests.doubles.slack_double.server import SlackServer, Upload
from tests.unit.adapters.slack.conftest import Bot, bot, server, settings

if TYPE_CHECKING:
    from bot.port import Attachment


__all__ = ["bot", "server"]


PDF = Upload(name="report.pdf", content=b"%PDF" + b"x" * 200_000, media_type="application/pdf")


async def _read(attachment: Attachment) -> bytes:
    return b"".join([block async for block in attachment.open()])


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
