from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from bot.observability.operations import Event, Writing
from bot.port import DelegatingService, MessageDeleted, MessageEdited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.observability.observers import Observers
    from bot.port import (
        Action,
        Arrival,
        ChannelMessage,
        ChatService,
        Command,
        Directory,
        HistoryPage,
        Inbox,
        IncomingMessage,
        MessageEvent,
        Outlet,
        Person,
        Place,
        PlatformLimits,
        Recall,
        Room,
        Route,
        Write,
    )


class ObservedService(DelegatingService):
    def __init__(self, service: ChatService, observers: Observers) -> None:
        super().__init__(service)
        self.inbox: Inbox = ObservedInbox(service.inbox, observers)
        self._observers = observers

    async def resume(self, platform: str, recall: Recall) -> None:
        async def observed(message: IncomingMessage) -> tuple[IncomingMessage | None, Room]:
            found, room = await recall(message)
            return found, self._room(room, platform)

        with self._observers.around(Event(platform=platform, kind="resume")):
            await self._service.resume(platform, observed)

    async def on_message(self, event: MessageEvent, room: Room) -> None:
        kind: Literal["message", "edited", "deleted"] = "message"
        if isinstance(event, MessageEdited):
            kind, place = "edited", event.message.place
        else:
            kind, place = "deleted" if isinstance(event, MessageDeleted) else "message", event.place
        with self._observers.around(Event(platform=place.platform, kind=kind)):
            await self._service.on_message(event, self._room(room, place.platform))

    async def on_arrival(self, arrival: Arrival, room: Room) -> None:
        platform = arrival.place.platform
        with self._observers.around(Event(platform=platform, kind="arrival")):
            await self._service.on_arrival(arrival, self._room(room, platform))

    async def on_command(self, command: Command, room: Room) -> None:
        platform = command.place.platform
        with self._observers.around(Event(platform=platform, kind="command")):
            await self._service.on_command(command, self._room(room, platform))

    async def on_action(self, action: Action, room: Room) -> None:
        platform = action.place.platform
        with self._observers.around(Event(platform=platform, kind="action")):
            await self._service.on_action(action, self._room(room, platform))

    def _room(self, room: Room, platform: str) -> Room:
        return _ObservedRoom(room, self._observers, platform)


@dataclass(frozen=True, slots=True)
class _ObservedRoom:
    room: Room
    observers: Observers
    platform: str

    @property
    def directory(self) -> Directory:
        return self.room.directory

    async def open_thread(self) -> Place:
        return await self.room.open_thread()

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        outlet = self.room.outlet(private=private, posted=posted)
        return ObservedOutlet(outlet, self.observers, self.platform, set(range(len(posted))))

    async def mark_read(self) -> bool:
        return await self.room.mark_read()

    async def show_activity(self, *, title: str, status: str) -> None:
        await self.room.show_activity(title=title, status=status)

    @property
    def can_be_renamed(self) -> bool:
        return self.room.can_be_renamed

    async def rename(self, title: str) -> None:
        await self.room.rename(title)

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        return await self.room.earlier(limit=limit)

    async def history(self, *, cursor: str = "", until: str = "", thread: str = "") -> HistoryPage:
        return await self.room.history(cursor=cursor, until=until, thread=thread)

    async def fetch(self, link: str) -> IncomingMessage | None:
        return await self.room.fetch(link)

    @property
    def finds_messages(self) -> bool:
        return self.room.finds_messages

    async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
        return await self.room.find_messages(question, limit=limit)


@dataclass(frozen=True, slots=True)
class ObservedOutlet:
    outlet: Outlet
    observers: Observers
    platform: str
    posted_parts: set[int] = field(default_factory=set[int])

    @property
    def limits(self) -> PlatformLimits:
        return self.outlet.limits

    @property
    def routes(self) -> Sequence[Route]:
        return self.outlet.routes

    async def write(self, write: Write) -> str:
        operation = Writing(platform=self.platform, route=write.route, action=self._action(write))
        with self.observers.around(operation):
            message = await self.outlet.write(write)
        self.posted_parts.add(write.part)
        return message

    def _action(self, write: Write) -> Literal["create", "edit", "final", "remove"]:
        if write.page is None:
            return "remove"
        if write.final:
            return "final"
        return "edit" if write.part in self.posted_parts else "create"


class ObservedInbox:
    def __init__(self, inbox: Inbox, observers: Observers) -> None:
        self._inbox = inbox
        self._events: set[tuple[str, str]] = set()
        observers.depth("inbox", lambda: float(len(self._events)))

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        await self._inbox.add(platform, event, payload)
        self._events.add((platform, event))

    async def remove(self, platform: str, event: str) -> None:
        await self._inbox.remove(platform, event)
        self._events.discard((platform, event))

    async def unhandled(self, platform: str) -> list[tuple[str, Mapping[str, object]]]:
        listed = await self._inbox.unhandled(platform)
        self._events |= {(platform, event) for event, _ in listed}
        return listed
