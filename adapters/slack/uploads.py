"""Files that we send: into a thread for everyone, or to one person alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from adapters.slack.wire import ask, translated
from bot.port import ChatError, Place, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.wire import Wire
    from bot.port import File

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})
_READY_TRIES = 6
_READY_SECONDS = 0.5


async def share(wire: Wire, place: Place, files: Sequence[File]) -> None:
    """Put the files where everyone in the place sees them."""
    with translated("the upload"):
        await wire.writer.files_upload_v2(
            file_uploads=[_upload(file) for file in files],
            channel=place.channel,
            thread_ts=place.thread or None,
        )


async def send_to(wire: Wire, person: str, files: Sequence[File]) -> None:
    """Put the files into the person's direct messages with us."""
    told = await ask("conversations.open", wire.reader.conversations_open(users=person))
    channel = told["channel"]["id"]
    await share(wire, Place(platform="slack", workspace=wire.workspace.team, channel=channel), files)


async def keep(wire: Wire, file: File) -> str:
    """Upload a picture into no channel, so that only who is shown it sees it; its id, once Slack can show it."""
    with translated("the upload"):
        told = await wire.writer.files_upload_v2(**_upload(file))
    made: dict[str, Any] = (told.get("files") or [{}])[0]
    if not made.get("id"):
        raise Refused("Slack did not keep the picture.")
    for _ in range(_READY_TRIES):
        if made.get("mimetype"):
            break
        await asyncio.sleep(_READY_SECONDS)
        try:
            made = (await ask("files.info", wire.reader.files_info(file=made["id"])))["file"]
        except ChatError:
            break  # the picture may still be shown; when it may not, Slack says so
    return str(made["id"])


def is_picture(file: File) -> bool:
    """Whether Slack shows it in a message."""
    return file.media_type in _PICTURES


def _upload(file: File) -> dict[str, Any]:
    return {
        "filename": file.name,
        "content": file.content,
        "title": file.description or file.name,
        "alt_txt": file.description or None,
    }
