"""What Slack tells us, as the events of `bot.port`, each with its room."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapters.slack import blocks, mrkdwn, recalling
from adapters.slack.messages import PLATFORM, Messages, is_direct, is_ours, is_written
from adapters.slack.outlet import Target
from adapters.slack.room import Room
from adapters.slack.twins import Twins
from bot.port import Action, ChatError, Command, MessageDeleted, MessageEdited, Person, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.kept import Told
    from bot.port import ChatService, IncomingMessage, MessageEvent

    Raw = Mapping[str, Any]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Each event is dealt with to its end."""

    messages: Messages
    service: ChatService
    _twins: Twins = field(default_factory=Twins)

    async def deal(self, told: Told) -> None:
        """Whatever Slack tells."""
        match told.kind:
            case "event":
                await self.event(told.body["event"], repeated=told.repeated)
            case "command":
                await self.command(told.body, repeated=told.repeated)
            case "action":
                await self.action(told.body)
            case "shortcut":
                await self.shortcut(told.body)

    async def recall(self, message: IncomingMessage) -> tuple[IncomingMessage | None, Room]:
        """See `bot.port.Recall`."""
        now, target = await recalling.recall(self.messages, message)
        return now, self._room(target)

    async def event(self, event: Raw, *, repeated: bool) -> None:
        """An event of the Events API; `repeated` when Slack sends it again."""
        kind, subtype = event.get("type"), event.get("subtype")
        if kind == "app_mention":
            await self._mention(event, repeated=repeated)
        elif kind == "message" and is_written(event):
            await self._message(event, repeated=repeated)
        elif kind == "message" and subtype == "message_changed":
            await self._changed(event)
        elif kind == "message" and subtype == "message_deleted":
            await self._deleted(event, str(event.get("deleted_ts", "")))
        elif kind in {"app_uninstalled", "tokens_revoked"}:
            _log.error("Slack says that the app was removed from the workspace, or its token revoked")

    async def _mention(self, event: Raw, *, repeated: bool) -> None:
        """A mention comes without its files: the message that comes beside it is what is told, wherever one comes."""
        channel, ts = key = str(event.get("channel", "")), str(event.get("ts", ""))
        if await self._twins.comes(key):
            return
        event = await self._whole(event, channel, ts)
        if self._twins.take(key, "app_mention"):  # the message may have come meanwhile
            await self._written(event, mention=True, repeated=repeated)

    async def _message(self, event: Raw, *, repeated: bool) -> None:
        channel, ts = key = str(event.get("channel", "")), str(event.get("ts", ""))
        if not self._twins.take(key, "message"):
            return
        if not (event.get("text") or event.get("files") or event.get("attachments")):
            event = await self._whole(event, channel, ts)
        await self._written(event, mention=False, repeated=repeated)

    async def _written(self, event: Raw, *, mention: bool, repeated: bool) -> None:
        channel = str(event.get("channel", ""))
        direct = event.get("channel_type") == "im" or is_direct(channel)
        message = await self.messages.read(event, channel=channel, direct=direct)
        if message is None or message.ours:
            return
        if mention:
            message = replace(message, addressed=True)
        await self._tell(message, message, event, doubtful=repeated)

    async def _whole(self, event: Raw, channel: str, ts: str) -> Raw:
        """The message as Slack has it: a mention lacks its files, a repeated event sometimes its text."""
        try:
            found = await self.messages.find(channel, ts, str(event.get("thread_ts") or ""))
        except ChatError as error:
            _log.warning("A message could not be looked up, it is taken as the event has it: %s", error)
            found = None
        return {**event, **(found or {}), "type": event["type"]}

    async def _changed(self, event: Raw) -> None:
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        channel = str(event.get("channel", ""))
        workspace = self.messages.wire.workspace
        if now.get("subtype") == "tombstone":
            await self._deleted(event, str(now.get("ts", "")))
            return
        if is_ours(now, workspace.user, workspace.bot) or now.get("text") == before.get("text"):
            return
        direct = event.get("channel_type") == "im" or is_direct(channel)
        message = await self.messages.read(now, channel=channel, direct=direct)
        if message is not None:
            await self._tell(MessageEdited(message=message), message, now, doubtful=False)

    async def _deleted(self, event: Raw, ts: str) -> None:
        channel = str(event.get("channel", ""))
        before = event.get("previous_message") or {}
        workspace = self.messages.wire.workspace
        if not ts or is_ours(before, workspace.user, workspace.bot):
            return
        root = str(before.get("thread_ts") or "")
        place = self.messages.place(channel, ts=ts, root=root, direct=is_direct(channel))
        target = Target(place=place, source=ts, asked=ts)
        await self.service.on_message(MessageDeleted(id=ts, place=place), self._room(target))

    async def _tell(self, told: MessageEvent, message: IncomingMessage, raw: Raw, *, doubtful: bool) -> None:
        target = Target(
            place=message.place,
            source=message.id,
            asked=str(raw.get("ts", "")),
            in_thread=message.in_thread,
            person=message.person.id,
            recipient_team=str(raw.get("user_team") or raw.get("team") or ""),
            doubtful=doubtful,
        )
        await self.service.on_message(told, self._room(target))

    # what people do beside writing

    async def command(self, body: Raw, *, repeated: bool) -> None:
        """A slash command."""
        channel = str(body["channel_id"])
        place = Place(platform=PLATFORM, workspace=self.messages.wire.workspace.team, channel=channel)
        person = await self._person(body["user_id"])
        target = Target(
            place=place,
            source=str(body.get("trigger_id", "")),
            person=person.id,
            response_url=str(body.get("response_url", "")),
            doubtful=repeated,
            by_command=True,
        )
        command = Command(
            id=target.source,
            name=str(body["command"]).lstrip("/"),
            place=place,
            person=person,
            line=mrkdwn.line(str(body.get("text") or "")),
            handle=recalling.handle(target),
        )
        await self.service.on_command(command, self._room(target))

    async def action(self, body: Raw) -> None:
        """A button was pressed."""
        pressed = body["actions"][0]
        held, message = body.get("container") or {}, body.get("message") or {}
        channel = str((body.get("channel") or {}).get("id") or held.get("channel_id") or "")
        ts = str(held.get("message_ts") or message.get("ts") or "")
        root = str(message.get("thread_ts") or held.get("thread_ts") or "")
        private = bool(held.get("is_ephemeral"))
        place = self.messages.place(channel, ts=ts, root=root, direct=is_direct(channel) or private)
        person = await self._person(body["user"]["id"])
        action = Action(
            id=str(pressed.get("action_ts") or body.get("trigger_id") or ""),
            name=blocks.button_name(str(pressed["action_id"])),
            value=str(pressed.get("value") or ""),
            place=place,
            person=person,
            message=ts,
        )
        target = Target(
            place=place,
            source=action.id,
            asked=ts,
            in_thread=bool(root),
            person=person.id,
            response_url=str(body.get("response_url", "")) if private else "",
            ephemeral=ts if private else "",
        )
        await self.service.on_action(action, self._room(target))

    async def shortcut(self, body: Raw) -> None:
        """“Ask about this” in the menu of a message: that message is asked, and only who chose it sees the answer."""
        raw, channel = body["message"], str(body["channel"]["id"])
        message = await self.messages.read(raw, channel=channel, direct=is_direct(channel))
        if message is None:
            return
        person = await self._person(body["user"]["id"])
        asked = str(body.get("action_ts") or body.get("trigger_id") or "")
        identity = f"{message.id}:{asked}"
        target = Target(
            place=message.place,
            source=identity,
            asked=message.id,
            in_thread=message.in_thread,
            person=person.id,
            response_url=str(body.get("response_url", "")),
            by_command=True,
        )
        told = replace(
            message,
            id=identity,
            about=message.id,
            person=person,
            addressed=True,
            to_others=False,
            by_bot=False,
            private=True,
            ours=False,
            handle=recalling.handle(target),
        )
        await self.service.on_message(told, self._room(target))

    async def _person(self, user: str) -> Person:
        return await self.messages.people.person(user)

    def _room(self, target: Target) -> Room:
        return Room(messages=self.messages, target=target, answers_in=self.service.answers_in)
