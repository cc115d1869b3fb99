from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adapters.slack.incoming.block_text import message_text
from adapters.slack.incoming.mention_dedup import MentionDedup
from adapters.slack.incoming.message_reader import is_ours, is_written, recipient_team
from adapters.slack.incoming.message_search import action_token
from adapters.slack.locations import is_direct
from adapters.slack.outlets.channel import SlackTarget
from adapters.slack.room import SlackRoom
from bot.port import ChatError, Fields, MessageDeleted, MessageEdited

if TYPE_CHECKING:
    from adapters.slack.incoming.message_reader import MessageReader
    from bot.port import ChatService, IncomingMessage, MessageEvent

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackEvents:
    reader: MessageReader
    service: ChatService
    _dedup: MentionDedup = field(default_factory=MentionDedup)

    async def handle(self, event: Fields, *, repeated: bool, team: str = "") -> None:
        """`repeated`: Slack may have delivered it before."""
        reader = await self.reader.for_event(team, event.text("channel"))
        await replace(self, reader=reader)._handle(event, repeated=repeated)

    async def _handle(self, event: Fields, *, repeated: bool) -> None:
        kind, subtype = event.text("type"), event.text("subtype")
        if kind == "app_mention":
            await self._on_mention(event, repeated=repeated)
        elif kind == "message" and is_written(event):
            await self._on_message(event, repeated=repeated)
        elif kind == "message" and subtype == "message_changed":
            await self._on_change(event)
        elif kind == "message" and subtype == "message_deleted":
            await self._on_deletion(event, event.text("deleted_ts"))
        elif kind in {"app_uninstalled", "tokens_revoked"}:
            _log.error("Slack says that the app was removed from the workspace, or its token revoked")

    async def _on_mention(self, event: Fields, *, repeated: bool) -> None:
        channel, ts = key = event.need_text("channel"), event.need_text("ts")
        self._dedup.note_mention(key)
        message_came = await self._dedup.wait_for_message(key)
        if message_came and not await self._dedup.was_overheard(key):
            return
        event = await self._complete(event, channel, ts)
        # the message may have arrived meanwhile
        if message_came or self._dedup.claim(key, "app_mention"):
            await self._on_written(event, mention=True, repeated=repeated)

    async def _on_message(self, event: Fields, *, repeated: bool) -> None:
        channel, ts = key = event.need_text("channel"), event.need_text("ts")
        if not self._dedup.claim(key, "message"):
            return
        try:
            if not (message_text(event) or event.objects("files") or event.objects("attachments")):
                event = await self._complete(event, channel, ts)
            await self._on_written(event, mention=False, repeated=repeated)
        finally:
            self._dedup.ended(key)

    async def _on_written(self, event: Fields, *, mention: bool, repeated: bool) -> None:
        channel = event.need_text("channel")
        direct = event.text("channel_type") == "im" or is_direct(channel)
        message = await self.reader.read(event, channel=channel, direct=direct)
        if message is None or message.ours:
            return
        addressed = self._dedup.is_addressed((channel, message.id), by_text=mention or message.addressed)
        message = replace(message, addressed=addressed)
        await self._send(message, message, event, doubtful=repeated)

    async def _complete(self, event: Fields, channel: str, ts: str) -> Fields:
        """A mention lacks files, a redelivery sometimes lacks text."""
        try:
            stored = await self.reader.find(channel, ts, event.text("thread_ts"))
        except ChatError as error:
            _log.warning("A message could not be looked up; its event is used as it is: %s", error)
            return event
        found = stored.values if stored is not None else {}
        return Fields(event.source, {**event.values, **found, "type": event.text("type")})

    async def _on_change(self, event: Fields) -> None:
        new, old = event.need_object("message"), event.object("previous_message")
        channel = event.need_text("channel")
        workspace = self.reader.context.workspace
        if new.text("subtype") == "tombstone":
            await self._on_deletion(event, new.text("ts"))
            return
        if is_ours(new, workspace.user, workspace.bot) or message_text(new) == message_text(old):
            return
        direct = event.text("channel_type") == "im" or is_direct(channel)
        message = await self.reader.read(new, channel=channel, direct=direct)
        if message is not None:
            await self._send(MessageEdited(message=message), message, new, doubtful=False)

    async def _on_deletion(self, event: Fields, ts: str) -> None:
        channel = event.need_text("channel")
        old = event.object("previous_message")
        workspace = self.reader.context.workspace
        if not ts or is_ours(old, workspace.user, workspace.bot):
            return
        place = self.reader.place(channel, ts=ts, root=old.text("thread_ts"), direct=is_direct(channel))
        target = SlackTarget(place=place, source=ts, question=ts)
        room = SlackRoom.of(self.reader, target, self.service)
        await self.service.on_message(MessageDeleted(id=ts, place=place), room)

    async def _send(
        self, event: MessageEvent, message: IncomingMessage, raw: Fields, *, doubtful: bool
    ) -> None:
        target = SlackTarget(
            place=message.place,
            source=message.id,
            question=raw.text("ts"),
            in_thread=message.in_thread,
            person=message.person.id,
            recipient_team=recipient_team(raw),
            doubtful=doubtful,
            action_token=action_token(raw),
        )
        await self.service.on_message(event, SlackRoom.of(self.reader, target, self.service))
