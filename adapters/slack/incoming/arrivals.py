from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.slack.assistant import suggest_prompts
from adapters.slack.locations import PLATFORM
from adapters.slack.outlets.channel import SlackTarget
from adapters.slack.room import SlackRoom
from bot.port import Arrival, Person, Place

if TYPE_CHECKING:
    from adapters.slack.incoming.message_reader import MessageReader
    from bot.port import ChatService, Fields, Overview

KINDS = frozenset({"app_home_opened", "assistant_thread_started", "member_joined_channel"})
_CHARACTERS = 2900


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackArrivals:
    reader: MessageReader
    service: ChatService

    async def handle(self, event: Fields) -> None:
        match event.text("type"):
            case "member_joined_channel":
                await self._on_joined(event)
            case "assistant_thread_started":
                await self._on_pane_opened(event.need_object("assistant_thread"))
            case _:
                await self._on_home_opened(event)

    async def _on_joined(self, event: Fields) -> None:
        if event.text("user") != self.reader.context.workspace.user:
            return
        inviter, channel = event.text("inviter"), event.need_text("channel")
        person = await self.reader.directory.person(inviter) if inviter else Person(id="")
        at = event.text("event_ts")
        arrival = Arrival(kind="joined", id=f"{channel}:{at}", place=self._place(channel), person=person)
        await self.service.on_arrival(arrival, self._room(arrival))

    async def _on_pane_opened(self, thread: Fields) -> None:
        channel, ts = thread.need_text("channel_id"), thread.need_text("thread_ts")
        person = await self.reader.directory.person(thread.need_text("user_id"))
        arrival = Arrival(kind="opened", id=ts, place=self._place(channel, ts), person=person)
        room = self._room(arrival)
        await self.service.on_arrival(arrival, room)
        overview = await self.service.overview(person, arrival.place, room)
        await suggest_prompts(self.reader.context, channel, ts, overview)

    async def _on_home_opened(self, event: Fields) -> None:
        channel, tab = event.text("channel"), event.text("tab") or "home"
        person = await self.reader.directory.person(event.need_text("user"))
        arrival = Arrival(kind="opened", id="", place=self._place(channel), person=person)
        overview = await self.service.overview(person, arrival.place, self._room(arrival))
        context = self.reader.context
        if tab == "messages":
            await suggest_prompts(context, channel, "", overview)
            return
        publish = partial(context.write_client.views_publish, user_id=person.id, view=home(overview))
        await context.optional_calls.try_to_call("views.publish", publish)

    def _place(self, channel: str, thread: str = "") -> Place:
        team = self.reader.context.workspace.team
        return Place(platform=PLATFORM, workspace=team, channel=channel, thread=thread)

    def _room(self, arrival: Arrival) -> SlackRoom:
        target = SlackTarget(
            place=arrival.place,
            source=f"{arrival.kind}:{arrival.id}",
            question=arrival.place.thread,
            person=arrival.person.id,
            doubtful=bool(arrival.id),
        )
        return SlackRoom.of(self.reader, target, self.service)


def home(overview: Overview) -> dict[str, Any]:
    listed = "\n".join(f"• {each}" for each in overview.knowledge_bases)
    texts = (overview.greeting, listed, overview.how_to_add)
    sections = [
        {"type": "section", "text": {"type": "plain_text", "text": text[:_CHARACTERS], "emoji": False}}
        for text in texts
        if text
    ]
    header = {
        "type": "header",
        "text": {"type": "plain_text", "text": overview.heading[:150], "emoji": False},
    }
    return {"type": "home", "blocks": [*sections[:1], header, *sections[1:]]}
