from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapters.slack import markdown, recovery
from adapters.slack.installation.required_permissions import SAVE_SHORTCUT
from adapters.slack.locations import PLATFORM, is_direct
from adapters.slack.outlets import blocks, form
from adapters.slack.outlets.channel import SlackTarget
from adapters.slack.room import SlackRoom
from bot.port import Action, Command, Fields, Place, Unreadable, opens_form

if TYPE_CHECKING:
    from adapters.slack.incoming.message_reader import MessageReader
    from bot.port import ChatService


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackInteractions:
    reader: MessageReader
    service: ChatService

    async def on_command(self, body: Fields, *, repeated: bool) -> None:
        channel = body.need_text("channel_id")
        reader = await self.reader.for_event(body.text("team_id"), channel)
        place = Place(platform=PLATFORM, workspace=reader.workspace, channel=channel)
        person = await reader.directory.person(body.need_text("user_id"))
        target = SlackTarget(
            place=place,
            source=body.text("trigger_id"),
            person=person.id,
            response_url=body.text("response_url"),
            doubtful=repeated,
            by_command=True,
        )
        command = Command(
            id=target.source,
            name=body.need_text("command").lstrip("/"),
            place=place,
            person=person,
            line=markdown.command_line(body.text("text")),
            handle=recovery.handle(target),
        )
        await self.service.on_command(command, SlackRoom.of(reader, target, self.service))

    async def on_action(self, body: Fields) -> None:
        pressed = _first_action(body)
        container, message = body.object("container"), body.object("message")
        channel = body.object("channel").text("id") or container.need_text("channel_id")
        ts = container.text("message_ts") or message.text("ts")
        root = message.text("thread_ts") or container.text("thread_ts")
        private = container.flag("is_ephemeral")
        reader = await self.reader.for_event(body.object("team").text("id"), channel)
        place = reader.place(channel, ts=ts, root=root, direct=is_direct(channel) or private)
        person = await reader.directory.person(body.need_object("user").need_text("id"))
        action = Action(
            id=pressed.text("action_ts") or body.text("trigger_id"),
            name=blocks.button_name(pressed.need_text("action_id")),
            value=pressed.text("value"),
            place=place,
            person=person,
            message=ts,
        )
        await self._act(
            action,
            reader,
            in_thread=bool(root),
            response_url=body.text("response_url") if private else "",
            ephemeral=ts if private else "",
            trigger=body.text("trigger_id"),
        )

    async def on_form(self, body: Fields) -> None:
        reader = await self.reader.for_event(*form.place_of(body))
        person = await reader.directory.person(body.need_object("user").need_text("id"))
        action = form.submitted(body, person)
        await self._act(action, reader, in_thread=bool(action.place.thread), response_url="")

    async def on_shortcut(self, body: Fields) -> None:
        if body.text("callback_id") == SAVE_SHORTCUT:
            await self._on_save(body)
            return
        raw, channel = body.need_object("message"), body.need_object("channel").need_text("id")
        reader = await self.reader.for_event(body.object("team").text("id"), channel)
        message = await reader.read(raw, channel=channel, direct=is_direct(channel))
        if message is None:
            return
        person = await reader.directory.person(body.need_object("user").need_text("id"))
        chosen_at = body.text("action_ts") or body.text("trigger_id")
        identity = f"{message.id}:{chosen_at}"
        target = SlackTarget(
            place=message.place,
            source=identity,
            question=message.id,
            in_thread=message.in_thread,
            person=person.id,
            response_url=body.text("response_url"),
            by_command=True,
        )
        question = replace(
            message,
            id=identity,
            about=message.id,
            author=message.person.id,
            person=person,
            addressed=True,
            to_others=False,
            by_bot=False,
            private=True,
            ours=False,
            handle=recovery.handle(target),
        )
        await self.service.on_message(question, SlackRoom.of(reader, target, self.service))

    async def _on_save(self, body: Fields) -> None:
        raw, channel = body.need_object("message"), body.need_object("channel").need_text("id")
        reader = await self.reader.for_event(body.object("team").text("id"), channel)
        ts, root = raw.need_text("ts"), raw.text("thread_ts")
        place = reader.place(channel, ts=ts, root=root, direct=is_direct(channel))
        person = await reader.directory.person(body.need_object("user").need_text("id"))
        action = Action(
            id=body.text("action_ts") or body.text("trigger_id"),
            name="save_verified",
            value=reader.context.workspace.permalink(channel, ts, root),
            place=place,
            person=person,
            message=ts,
        )
        await self._act(
            action, reader, in_thread=bool(root), response_url=body.text("response_url"), by_command=True
        )

    async def _act(
        self,
        action: Action,
        reader: MessageReader,
        *,
        in_thread: bool,
        response_url: str,
        ephemeral: str = "",
        by_command: bool = False,
        trigger: str = "",
    ) -> None:
        target = SlackTarget(
            place=action.place,
            source=action.id,
            question=action.message,
            in_thread=in_thread,
            person=action.person.id,
            response_url=response_url,
            ephemeral=ephemeral,
            by_command=by_command,
        )
        room = SlackRoom.of(reader, target, self.service)
        asked = await self.service.form(action, room) if trigger and opens_form(action.name) else None
        if asked is None or not await form.open_form(reader.context, asked, action, trigger=trigger):
            await self.service.on_action(action, room)


def _first_action(body: Fields) -> Fields:
    actions = body.need_objects("actions")
    if not actions:
        raise Unreadable(f"{body.source}: the field actions is empty.")
    return actions[0]
