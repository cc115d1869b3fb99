from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from adapters.slack.api import call_api, response_data, translate_errors
from adapters.slack.locations import PLATFORM
from bot.port import ChatError, Place, Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from bot.port import File

_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif"})
_READY_ATTEMPTS = 6
_READY_SECONDS = 0.5


async def share(context: SlackContext, place: Place, files: Sequence[File]) -> None:
    with translate_errors("the upload"):
        await context.write_client.files_upload_v2(
            file_uploads=[_upload_arguments(file) for file in files],
            channel=place.channel,
            thread_ts=place.thread or None,
        )


async def send_to_person(context: SlackContext, person: str, files: Sequence[File]) -> None:
    opened = await call_api("conversations.open", context.read_client.conversations_open(users=person))
    channel = opened.need_object("channel").need_text("id")
    await share(context, Place(platform=PLATFORM, workspace=context.workspace.team, channel=channel), files)


async def upload_image(context: SlackContext, file: File) -> str:
    """The id, once Slack can show it."""
    with translate_errors("the upload"):
        response = await context.write_client.files_upload_v2(**_upload_arguments(file))
    stored = response_data(response, "the upload").need_objects("files")
    if not stored:
        raise Unreadable("Slack's answer to the upload names no file.")
    image, identifier = stored[0], stored[0].need_text("id")
    for _ in range(_READY_ATTEMPTS):
        if image.text("mimetype"):
            break
        await asyncio.sleep(_READY_SECONDS)
        try:
            answer = await call_api("files.info", context.read_client.files_info(file=identifier))
            image = answer.need_object("file")
        except ChatError:
            break  # Slack may still show it
    return identifier


def is_image(file: File) -> bool:
    return file.media_type in _IMAGE_TYPES


def _upload_arguments(file: File) -> dict[str, Any]:
    return {
        "filename": file.name,
        "content": file.content,
        "title": file.description or file.name,
        "alt_txt": file.description or None,
    }
