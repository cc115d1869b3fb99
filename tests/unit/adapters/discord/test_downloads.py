"""Downloads from Discord's hosts, with renewed links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.discord.incoming.downloads import _name, _trusted
from bot.port import Attachment, Unreachable, WriteRefused
from tests.doubles.chat_server import Upload

if TYPE_CHECKING:
    from tests.doubles.discord_double.server import DiscordServer
    from tests.unit.adapters.discord.conftest import Recorder

pytestmark = pytest.mark.usefixtures("bot")
DAY = 24 * 3600.0


async def _uploaded(server: DiscordServer, service: Recorder, content: bytes = b"Words.") -> Attachment:
    file = Upload(name="notes.txt", content=content, media_type="text/plain; charset=utf-8")
    await server.user_uploads(server.add_user("anna"), server.general, file)
    event, _ = await service.next()
    (attachment,) = event.attachments
    return attachment


async def _read(attachment: Attachment) -> bytes:
    return b"".join([block async for block in attachment.open()])


async def test_a_file_is_downloaded_on_demand_without_the_token(
    server: DiscordServer, service: Recorder
) -> None:
    content = bytes(range(256)) * 1000
    attachment = await _uploaded(server, service, content)
    assert attachment.media_type == "text/plain"
    assert server.calls_of("download") == []
    assert await _read(attachment) == content
    assert await _read(attachment) == content


async def test_an_expired_link_is_renewed(server: DiscordServer, service: Recorder) -> None:
    attachment = await _uploaded(server, service)
    server.advance(2 * DAY)
    assert await _read(attachment) == b"Words."
    assert len(server.calls_of("get_message")) == 1


async def test_a_file_whose_message_is_gone(server: DiscordServer, service: Recorder) -> None:
    attachment = await _uploaded(server, service)
    await server.user_deletes(attachment.uri.rpartition("/")[2])
    server.advance(2 * DAY)
    with pytest.raises(WriteRefused, match="send the file again"):
        await _read(attachment)


async def test_a_link_that_expires_twice(server: DiscordServer, service: Recorder) -> None:
    attachment = await _uploaded(server, service)
    server.fail("download", status=404, times=2)
    with pytest.raises(WriteRefused, match="send the file again"):
        await _read(attachment)
    assert len(server.calls_of("download")) == 2


async def test_server_errors_of_the_file_host(server: DiscordServer, service: Recorder) -> None:
    attachment = await _uploaded(server, service)
    server.fail("download", status=503)
    with pytest.raises(Unreachable):
        await _read(attachment)
    server.fail("download", lost=True, times=2)  # aiohttp retries once
    with pytest.raises(Unreachable):
        await _read(attachment)
    assert await _read(attachment) == b"Words."


@pytest.mark.parametrize(("body", "error"), [(b"Words. And more.", WriteRefused), (b"Wor", Unreachable)])
async def test_files_longer_or_shorter_than_announced(
    server: DiscordServer, service: Recorder, body: bytes, error: type[Exception]
) -> None:
    attachment = await _uploaded(server, service)
    server.fail("download", status=200, body=body)
    with pytest.raises(error):
        await _read(attachment)


async def test_a_redirect_is_not_followed(server: DiscordServer, service: Recorder) -> None:
    attachment = await _uploaded(server, service)
    server.fail("download", status=302, headers={"Location": "http://169.254.169.254/"})
    with pytest.raises(WriteRefused):
        await _read(attachment)


@pytest.mark.parametrize(
    ("url", "trusted"),
    [
        ("https://cdn.discordapp.com/attachments/1/2/a.pdf?ex=1", True),
        ("https://media.discordapp.net/attachments/1/2/a.pdf", True),
        ("http://cdn.discordapp.com/attachments/1/2/a.pdf", False),
        ("https://cdn.discordapp.com.evil.example/a.pdf", False),
        ("https://evil.example/cdn.discordapp.com/a.pdf", False),
        ("https://cdn.discordapp.com@evil.example/a.pdf", False),
        ("http://gateway.local:8080/attachments/a.pdf", True),
        ("https://gateway.local/a.pdf", False),
        ("file:///etc/passwd", False),
    ],
)
def test_hosts(url: str, trusted: bool) -> None:
    assert _trusted(url, "http://gateway.local/api/v10") is trusted
    assert not _trusted("http:///a.pdf", "")


def test_names_in_other_scripts() -> None:
    assert _name("_.pdf", "Отчёт") == "Отчёт.pdf"
    assert _name("a.pdf", "a.pdf") == "a.pdf"
    assert _name("a.pdf", None) == "a.pdf"
