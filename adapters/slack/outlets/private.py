"""Slack allows no edits of private messages: only the first status and the final page are sent, then pictures."""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.api import BlocksRefused, call_api, sdk_logger, translate_errors
from adapters.slack.outlets import blocks, limits
from adapters.slack.outlets.uploads import is_image, send_to_person, upload_image
from bot.port import ChatError, Throttled, Unreachable, WriteRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from adapters.slack.outlets.channel import SlackTarget
    from bot.port import File, Page, PlatformLimits, Route, Write

_log = logging.getLogger(__name__)
_PICTURES_SECONDS = 40.0
_RETRY_SECONDS = 1.0
_SENT_DIRECTLY = "_The picture is in our direct messages._"
_NOT_INVITED = "I cannot write to you in this channel: invite me, or ask me in a direct message."


class PrivateOutlet:
    """A command's response URL replaces what it posted."""

    def __init__(
        self, context: SlackContext, target: SlackTarget, *, person: str, posted: Sequence[str] = ()
    ) -> None:
        self._context = context
        self._target = target
        self._person = person
        shows_status = target.by_command and bool(posted)
        self._replaces = shows_status or (bool(target.ephemeral) and target.ephemeral in posted)
        self._responds = bool(target.response_url) and (target.by_command or bool(target.ephemeral))
        self._name = ("slack", target.place.workspace, uuid.uuid4().hex)
        self._response_route = limits.response_route(self._name)
        self._ephemeral_route = limits.ephemeral_route(target.place.workspace, self._name)
        self._status_shown = bool(posted)
        self._posts_left = limits.MOST_RESPONSES
        self._ids: dict[int, str] = dict(enumerate(posted))
        self._shown: dict[int, Page] = {}

    @property
    def limits(self) -> PlatformLimits:
        return limits.PRIVATE

    @property
    def routes(self) -> Sequence[Route]:
        return (self._response_route, self._ephemeral_route) if self._responds else (self._ephemeral_route,)

    async def write(self, write: Write) -> str:
        if write.page is None:
            await self._remove()
        elif write.final:
            await self._finish(write.part, write.page)
        elif self._target.by_command and not self._status_shown and write.page.status:
            await self._show_status(write.page)
        return self._ids.setdefault(write.part, f"{self._name[-1]}-{write.part}")

    async def _show_status(self, page: Page) -> None:
        if self._responds and await self._respond(blocks.body(page)):
            self._status_shown = self._replaces = True

    async def _finish(self, part: int, page: Page) -> None:
        text = replace(page, files=(), reply=replace(page.reply, files=()))
        if self._shown.get(part) != text:
            await self._show(text)
            self._shown[part] = text
        others = [file for file in page.files if not is_image(file)]
        if others:
            await send_to_person(self._context, self._person, others)
        pictures = [file for file in page.files if is_image(file)]
        if pictures:
            await self._try_to_show(pictures)

    async def _try_to_show(self, pictures: Sequence[File]) -> None:
        try:
            async with asyncio.timeout(_PICTURES_SECONDS):
                uploaded = [
                    blocks.image_block(await self._upload(file), file.description) for file in pictures
                ]
                await self._send_pictures(pictures, uploaded)
        except (ChatError, TimeoutError) as error:
            _log.warning("Pictures were left out: %s", str(error) or "Slack took too long")

    async def _upload(self, file: File) -> str:
        try:
            return await upload_image(self._context, file)
        except Throttled as error:
            await asyncio.sleep(error.seconds)
        except Unreachable:
            await asyncio.sleep(_RETRY_SECONDS)
        return await upload_image(self._context, file)

    async def _send_pictures(self, pictures: Sequence[File], uploaded: list[dict[str, Any]]) -> None:
        shown = "\n".join(filter(None, (file.description for file in pictures)))
        try:
            await self._send({"text": escape(shown) or "…", "blocks": uploaded})
        except WriteRefused:
            await send_to_person(self._context, self._person, pictures)
            await self._send({"text": _SENT_DIRECTLY})

    async def _show(self, page: Page) -> None:
        *better, last = blocks.FORMS
        for form in better:
            try:
                return await self._send(blocks.body(page, form))
            except BlocksRefused as error:
                _log.warning("A private message is sent again in a plainer form: %s", error)
        return await self._send(blocks.body(page, last))

    async def _send(self, body: dict[str, Any]) -> None:
        if self._responds and await self._respond(body | {"replace_original": self._replaces}):
            self._replaces = False
            return
        place = self._target.place
        call = self._context.write_client.chat_postEphemeral(
            channel=place.channel,
            user=self._person,
            thread_ts=(place.thread or None) if not self._target.by_command else None,
            **body,
        )
        refused: dict[str, str] = dict.fromkeys(
            ["not_in_channel", "channel_not_found", "user_not_in_channel"], _NOT_INVITED
        )
        await call_api("chat.postEphemeral", call, refused)

    async def _remove(self) -> None:
        if self._responds and self._replaces:
            await self._respond({"delete_original": True})

    async def _respond(self, body: dict[str, Any]) -> bool:
        if not self._posts_left:
            return False
        client = AsyncWebhookClient(
            self._target.response_url,
            session=self._context.session,
            retry_handlers=[],
            logger=sdk_logger(),
            proxy=self._context.read_client.proxy,
        )
        thread = (
            {"thread_ts": self._target.place.thread}
            if self._target.ephemeral and self._target.in_thread
            else {}
        )
        with translate_errors("the response address"):
            response = await client.send_dict({"response_type": "ephemeral", **thread, **body})
        if response.status_code == 429:
            raise Throttled("Slack limits responses now.", seconds=_seconds(response.headers))
        if response.status_code >= 500:
            raise Unreachable(f"Slack did not accept the answer ({response.status_code}).")
        if response.status_code == 200:
            self._posts_left -= 1
            return True
        if "invalid_blocks" in response.body:
            raise BlocksRefused("Slack refused the answer: invalid_blocks.")
        self._responds = False
        return False


def _seconds(headers: Any) -> float:
    try:
        return float(headers.get("Retry-After") or headers.get("retry-after") or 30)
    except ValueError:
        return 30.0
