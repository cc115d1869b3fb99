"""Our messages for one person's eyes. Slack lets nobody edit such a message, so that only the first status and the end are sent."""

from __future__ import annotations

import logging
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack import blocks
from adapters.slack.outlet import CHARACTERS, Target
from adapters.slack.uploads import is_picture, keep, send_to
from adapters.slack.wire import Unfit, ask, sdk_logger, translated
from bot.port import Budget, Limits, Refused, Route, Throttled, Unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.wire import Wire
    from bot.port import Page, Write

_log = logging.getLogger(__name__)
RESPOND, EPHEMERAL = "respond", "ephemeral"
_RESPOND_SECONDS = 1740.0
_WINDOW_SECONDS = 1800.0
_POSTS = 5
_SHOWN_SECONDS = 3.0
_ELSEWHERE = "_The picture is in our direct messages._"
_UNINVITED = "I cannot write to you in this channel: invite me, or ask me in a direct message."


class PrivateOutlet:
    """See `bot.port.Outlet`. What was posted by a command cannot be replaced: its status stays, small, above the answer."""

    def __init__(self, wire: Wire, target: Target, *, person: str, posted: Sequence[str] = ()) -> None:
        self._wire = wire
        self._target = target
        self._person = person
        self._replaces = bool(target.ephemeral) and target.ephemeral in posted
        self._responds = bool(target.response_url) and (target.by_command or bool(target.ephemeral))
        self._name = ("slack", target.place.workspace, uuid.uuid4().hex)
        self._by_response, self._ephemeral = self._respond_route(), self._ephemeral_route()
        self._announced = bool(posted)
        self._left = _POSTS
        self._ids: dict[int, str] = dict(enumerate(posted))

    @property
    def limits(self) -> Limits:
        return Limits(characters=CHARACTERS, edit_seconds=_SHOWN_SECONDS, dialect="slack")

    @property
    def routes(self) -> Sequence[Route]:
        return (self._by_response, self._ephemeral) if self._responds else (self._ephemeral,)

    async def write(self, write: Write) -> str:
        """See `bot.port.Outlet`."""
        if write.page is None:
            await self._remove()
        elif write.final:
            await self._finish(write.page)
        elif self._target.by_command and not self._announced and write.page.status:
            await self._announce(write.page)
        return self._ids.setdefault(write.part, f"{self._name[-1]}-{write.part}")

    # what is sent

    async def _announce(self, page: Page) -> None:
        """The status, once: who typed a command sees that it was heard."""
        if self._responds and await self._respond(blocks.body(page)):
            self._announced = True

    async def _finish(self, page: Page) -> None:
        pictures = await self._pictures(page)
        try:
            await self._show(page, pictures)
        except Refused:
            if not pictures:
                raise
            await send_to(self._wire, self._person, [file for file in page.files if is_picture(file)])
            told = replace(page, footer="\n".join(part for part in (page.footer, _ELSEWHERE) if part))
            await self._show(told, [])
        others = [file for file in page.files if not is_picture(file)]
        if others:
            await send_to(self._wire, self._person, others)

    async def _pictures(self, page: Page) -> list[dict[str, Any]]:
        pictures = [file for file in page.files if is_picture(file)]
        return [blocks.picture(await keep(self._wire, file), file.description) for file in pictures]

    async def _show(self, page: Page, pictures: Sequence[dict[str, Any]]) -> None:
        """Plainer and plainer, until Slack takes it; with pictures only once, as they are the first to leave out."""
        *better, last = blocks.FORMS[:1] if pictures else blocks.FORMS
        for form in better:
            try:
                return await self._send(blocks.body(page, form))
            except Unfit as error:
                _log.warning("A private message is sent again with less in it: %s", error)
        return await self._send(blocks.body(page, last, pictures=pictures))

    async def _send(self, body: dict[str, Any]) -> None:
        if self._responds and await self._respond(body | {"replace_original": self._replaces}):
            self._replaces = False  # Slack replaces only the message whose button was pressed, and only once
            return
        place = self._target.place
        call = self._wire.writer.chat_postEphemeral(
            channel=place.channel,
            user=self._person,
            thread_ts=(place.thread or None) if not self._target.by_command else None,
            **body,
        )
        refused: dict[str, str] = dict.fromkeys(
            ["not_in_channel", "channel_not_found", "user_not_in_channel"], _UNINVITED
        )
        await ask("chat.postEphemeral", call, refused)

    async def _remove(self) -> None:
        if self._responds and self._replaces:
            await self._respond({"delete_original": True})

    async def _respond(self, body: dict[str, Any]) -> bool:
        """Post to the address that came with the event; False when it takes no more."""
        if not self._left:
            return False
        client = AsyncWebhookClient(
            self._target.response_url,
            session=self._wire.session,
            retry_handlers=[],
            logger=sdk_logger(),
            proxy=self._wire.reader.proxy,
        )
        thread = (
            {"thread_ts": self._target.place.thread}
            if self._target.ephemeral and self._target.in_thread
            else {}
        )
        with translated("the response address"):
            answer = await client.send_dict({"response_type": "ephemeral", **thread, **body})
        if answer.status_code == 429:
            raise Throttled("Slack asked to wait with answers.", seconds=_seconds(answer.headers))
        if answer.status_code >= 500:
            raise Unreachable(f"Slack did not take the answer ({answer.status_code}).")
        if answer.status_code == 200:
            self._left -= 1
            return True
        if "invalid_blocks" in answer.body:
            raise Unfit("Slack refused the answer: invalid_blocks.")
        self._responds = False
        return False

    def _respond_route(self) -> Route:
        """Five posts in half an hour: two to begin with, three to end with."""
        return Route(
            name=RESPOND,
            create=Budget(name=(*self._name, "begin"), calls=2, seconds=_WINDOW_SECONDS),
            edit=self._silent(),
            finish=Budget(name=(*self._name, "end"), calls=3, seconds=_WINDOW_SECONDS),
            lifetime=_RESPOND_SECONDS,
        )

    def _ephemeral_route(self) -> Route:
        workspace = self._target.place.workspace
        budget = Budget(name=("slack", workspace, "chat.postEphemeral"), calls=100, seconds=60.0)
        return Route(name=EPHEMERAL, create=budget, edit=self._silent(), finish=budget)

    def _silent(self) -> Budget:
        """Nothing is called for what nobody would see."""
        return Budget(name=(*self._name, "silent"), calls=20, seconds=60.0)


def _seconds(headers: Any) -> float:
    try:
        return float(headers.get("Retry-After") or headers.get("retry-after") or 30)
    except ValueError:
        return 30.0
