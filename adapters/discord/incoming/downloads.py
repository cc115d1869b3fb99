from __future__ import annotations

import mimetypes
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp

from adapters.discord.api import api_calls
from bot.port import Attachment, ChatError, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    import discord

    from adapters.discord.context import DiscordContext

_HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
_BLOCK_BYTES = 1 << 16
_IDLE_SECONDS = 30.0
_EXPIRED_STATUSES = frozenset({403, 404, 410})
_EXPIRED = "Discord's link to this file has expired; please send the file again."


def message_attachments(message: discord.Message, context: DiscordContext) -> tuple[Attachment, ...]:
    return tuple(_attachment(each, message, context) for each in _all_files(message))


def _all_files(message: discord.Message) -> list[discord.Attachment]:
    return [
        *message.attachments,
        *(each for snapshot in message.message_snapshots for each in snapshot.attachments),
    ]


def _attachment(file: discord.Attachment, message: discord.Message, context: DiscordContext) -> Attachment:
    channel, message_id = message.channel, message.id

    async def renew_url() -> str:
        async with api_calls(context.settings.call_seconds):
            again = await channel.fetch_message(message_id)
        return next((each.url for each in _all_files(again) if each.id == file.id), "")

    return Attachment(
        name=_name(file.filename, file.title),
        media_type=_media_type(file.filename, file.content_type),
        size=file.size,
        uri=message.jump_url,
        open=lambda: _read(file.url, file.size, renew_url=renew_url, context=context),
        id=str(file.id),
        voice=message.flags.voice or file.is_voice_message(),
    )


def command_attachment(file: Mapping[str, Any], *, link: str, context: DiscordContext) -> Attachment:
    """Its link cannot be renewed."""
    name, url, size = str(file["filename"]), str(file["url"]), int(file["size"])

    async def renew_url() -> str:
        return ""

    return Attachment(
        name=_name(name, file.get("title")),
        media_type=_media_type(name, file.get("content_type")),
        size=size,
        uri=link,
        open=lambda: _read(url, size, renew_url=renew_url, context=context),
        id=str(file["id"]),
    )


def _name(filename: str, title: str | None) -> str:
    suffix = PurePath(filename).suffix
    if not title:
        return filename
    return title if title.endswith(suffix) else title + suffix


def _media_type(filename: str, content_type: str | None) -> str:
    if content_type:
        return content_type.partition(";")[0].strip().lower()
    return mimetypes.guess_type(filename)[0] or "application/octet-stream"


async def _read(
    url: str, size: int, *, renew_url: Callable[[], Awaitable[str]], context: DiscordContext
) -> AsyncIterator[bytes]:
    try:
        async for block in _download(url, size, context):
            yield block
        return
    except _LinkExpired:
        url = await _renew(renew_url)
    try:
        async for block in _download(url, size, context):
            yield block
    except _LinkExpired as error:
        raise WriteRefused(_EXPIRED) from error


async def _renew(renew_url: Callable[[], Awaitable[str]]) -> str:
    try:
        url = await renew_url()
    except Unreachable:
        raise
    except ChatError as error:
        raise WriteRefused(_EXPIRED) from error
    if not url:
        raise WriteRefused(_EXPIRED)
    return url


class _LinkExpired(Exception):
    pass


async def _download(url: str, size: int, context: DiscordContext) -> AsyncIterator[bytes]:
    if not _trusted(url, context.settings.api_base):
        raise WriteRefused(
            "This file is not on Discord's servers, so it was not downloaded; please send the file itself."
        )
    limits = aiohttp.ClientTimeout(
        total=context.settings.file_seconds, sock_connect=_IDLE_SECONDS, sock_read=_IDLE_SECONDS
    )
    read = 0
    try:
        async with context.session.get(url, timeout=limits, allow_redirects=False) as response:
            _check_status(response.status)
            async for block in response.content.iter_chunked(_BLOCK_BYTES):
                read += len(block)
                if read > size:
                    raise WriteRefused(
                        "This file is larger than Discord announced, so it was not read; please send it again."
                    )
                yield block
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreachable(f"Discord did not deliver the file ({type(error).__name__})") from error
    if read < size:
        raise Unreachable(f"Discord gave {read} of {size} bytes of the file")


def _check_status(status: int) -> None:
    if status in _EXPIRED_STATUSES:
        raise _LinkExpired
    if status >= 500 or status == 429:
        raise Unreachable(f"Discord answered {status} to the download")
    if status != 200:
        raise WriteRefused(f"Discord did not deliver this file (status {status}); please send it again.")


def _trusted(url: str, api_base: str) -> bool:
    """Events can contain any address."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname in _HOSTS:
        return True
    own = urlsplit(api_base)
    return bool(own.hostname) and parts.hostname == own.hostname and parts.scheme == own.scheme
