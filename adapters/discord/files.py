"""Files of messages and commands: read when they are wanted, from Discord's own hosts, and never past their size."""

from __future__ import annotations

import mimetypes
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp

from adapters.discord.border import calls
from bot.port import Attachment, ChatError, Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    import discord

    from adapters.discord.connection import Connection

_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
_BLOCK_BYTES = 1 << 16
_QUIET_SECONDS = 30.0
_EXPIRED_STATUSES = frozenset({403, 404, 410})
_VOICE = "Voice messages cannot be read; please write it as text."
_EXPIRED = "Discord's link to this file has run out; please send the file again."


def of_message(message: discord.Message, connection: Connection) -> tuple[Attachment, ...]:
    """The files of a message, and of one that it forwards."""
    return tuple(_from_message(each, message, connection) for each in _all(message))


def _all(message: discord.Message) -> list[discord.Attachment]:
    return [
        *message.attachments,
        *(each for snapshot in message.message_snapshots for each in snapshot.attachments),
    ]


def _from_message(of: discord.Attachment, message: discord.Message, connection: Connection) -> Attachment:
    channel, message_id = message.channel, message.id

    async def renewed() -> str:
        async with calls(connection.settings.call_seconds):
            again = await channel.fetch_message(message_id)
        return next((each.url for each in _all(again) if each.id == of.id), "")

    return Attachment(
        name=_name(of.filename, of.title),
        media_type=_media_type(of.filename, of.content_type),
        size=of.size,
        uri=message.jump_url,
        open=lambda: _read(of.url, of.size, renewed=renewed, connection=connection),
        id=str(of.id),
        refusal=_VOICE if message.flags.voice or of.is_voice_message() else "",
    )


def from_command(of: Mapping[str, Any], *, link: str, connection: Connection) -> Attachment:
    """A file given to a command: it stands in no message, so that there is only the link that came with it."""
    name, url, size = str(of["filename"]), str(of["url"]), int(of["size"])

    async def renewed() -> str:
        return ""

    return Attachment(
        name=_name(name, of.get("title")),
        media_type=_media_type(name, of.get("content_type")),
        size=size,
        uri=link,
        open=lambda: _read(url, size, renewed=renewed, connection=connection),
        id=str(of["id"]),
    )


def _name(filename: str, title: str | None) -> str:
    """The name that the file had: Discord keeps letters of other scripts in the title only, without the suffix."""
    suffix = PurePath(filename).suffix
    if not title:
        return filename
    return title if title.endswith(suffix) else title + suffix


def _media_type(filename: str, told: str | None) -> str:
    if told:
        return told.partition(";")[0].strip().lower()
    return mimetypes.guess_type(filename)[0] or "application/octet-stream"


async def _read(
    url: str, size: int, *, renewed: Callable[[], Awaitable[str]], connection: Connection
) -> AsyncIterator[bytes]:
    """The bytes. A link that has run out is asked for once more by the message that it came in."""
    try:
        async for block in _download(url, size, connection):
            yield block
        return
    except _LinkExpired:
        url = await _renew(renewed)
    try:
        async for block in _download(url, size, connection):
            yield block
    except _LinkExpired as error:
        raise Refused(_EXPIRED) from error


async def _renew(renewed: Callable[[], Awaitable[str]]) -> str:
    try:
        url = await renewed()
    except Unreachable:
        raise
    except ChatError as error:
        raise Refused(_EXPIRED) from error
    if not url:
        raise Refused(_EXPIRED)
    return url


class _LinkExpired(Exception):
    """Discord has the file no more under this link."""


async def _download(url: str, size: int, connection: Connection) -> AsyncIterator[bytes]:
    if not _trusted(url, connection.settings.api_base):
        raise Refused("This file does not lie at Discord, so it is not fetched; please send the file itself.")
    limits = aiohttp.ClientTimeout(
        total=connection.settings.file_seconds, sock_connect=_QUIET_SECONDS, sock_read=_QUIET_SECONDS
    )
    read = 0
    try:
        async with connection.session.get(url, timeout=limits, allow_redirects=False) as response:
            _check(response.status)
            async for block in response.content.iter_chunked(_BLOCK_BYTES):
                read += len(block)
                if read > size:
                    raise Refused(
                        "This file is larger than Discord said, so it is not read; please send it again."
                    )
                yield block
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreachable(f"Discord does not give the file ({type(error).__name__})") from error
    if read < size:
        raise Unreachable(f"Discord gave {read} of {size} bytes of the file")


def _check(status: int) -> None:
    if status in _EXPIRED_STATUSES:
        raise _LinkExpired
    if status >= 500 or status == 429:
        raise Unreachable(f"Discord answers {status} when asked for the file")
    if status != 200:
        raise Refused(f"Discord does not give this file (status {status}); please send it again.")


def _trusted(url: str, api_base: str) -> bool:
    """Discord's own hosts by https, and the host of the configured server: an address in an event could be any."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname in _HOSTS:
        return True
    own = urlsplit(api_base)
    return bool(own.hostname) and parts.hostname == own.hostname and parts.scheme == own.scheme
