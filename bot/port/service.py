from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port.arrivals import Arrival, Overview
    from bot.port.commands import Command, CommandSpec
    from bot.port.events import Action, MessageEvent
    from bot.port.forms import Form
    from bot.port.lifecycle import Inbox, Recall
    from bot.port.places import Person, Place
    from bot.port.room import Room


class ChatService(Protocol):
    """Errors for people become messages, never raised. Acknowledge an event first, then run the call in a task: it may
    take as long as the answer. A cancelled call has not handled its event.
    """

    commands: Sequence[CommandSpec]
    inbox: Inbox

    async def resume(self, platform: str, recall: Recall) -> None:
        """Once, as soon as the adapter can write; returns when done."""
        ...

    async def answer_messages(self, place: Place) -> frozenset[str]:
        """Ids of our messages there with a known answer."""
        ...

    async def answered_channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        """Latest first, for platforms that cannot list our conversations."""
        ...

    async def last_message_at(self, platform: str) -> float:
        """Seconds since the epoch; 0: none. For platforms that do not redeliver."""
        ...

    async def on_message(self, event: MessageEvent, room: Room) -> None: ...

    async def on_arrival(self, arrival: Arrival, room: Room) -> None: ...

    async def overview(self, person: Person, place: Place, room: Room) -> Overview: ...

    async def suggestions(self, command: Command, option: str, room: Room) -> list[str]:
        """For an option being written, at most 25, within two seconds."""
        ...

    async def on_command(self, command: Command, room: Room) -> None: ...

    async def form(self, action: Action, room: Room) -> Form | None:
        """Of a button `form_…`, within two seconds. None: press it."""
        ...

    async def on_action(self, action: Action, room: Room) -> None: ...


class DelegatingService:
    def __init__(self, service: ChatService) -> None:
        self.commands: Sequence[CommandSpec] = service.commands
        self.inbox: Inbox = service.inbox
        self._service = service

    async def resume(self, platform: str, recall: Recall) -> None:
        await self._service.resume(platform, recall)

    async def answer_messages(self, place: Place) -> frozenset[str]:
        return await self._service.answer_messages(place)

    async def answered_channels(self, platform: str, workspace: str, *, limit: int) -> list[str]:
        return await self._service.answered_channels(platform, workspace, limit=limit)

    async def last_message_at(self, platform: str) -> float:
        return await self._service.last_message_at(platform)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        await self._service.on_message(event, room)

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        await self._service.on_arrival(arrival, room)

    async def overview(self, person: Person, place: Place, room: Room) -> Overview:
        return await self._service.overview(person, place, room)

    async def suggestions(self, command: Command, option: str, room: Room) -> list[str]:
        return await self._service.suggestions(command, option, room)

    async def on_command(self, command: Command, room: Room) -> None:
        await self._service.on_command(command, room)

    async def form(self, action: Action, room: Room) -> Form | None:
        return await self._service.form(action, room)

    async def on_action(self, action: Action, room: Room) -> None:
        await self._service.on_action(action, room)
