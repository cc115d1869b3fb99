"""The door of the service when the program ends: what is inside finishes, what comes is left for the next start."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.port import Action, Command, IncomingMessage, MessageDeleted, MessageEdited, Person, Place
from bot.process.graceful_shutdown import ClosableService
from tests.unit.adapters.recording import MemoryInbox

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine

    from bot.port import ChatService, Room

PLACE = Place(platform="slack", workspace="T1", channel="C1")
BEN = Person(id="U1", name="ben")
QUESTION = IncomingMessage(id="1", place=PLACE, person=BEN, text="How long are logs kept?")
ROOM = cast("Room", None)


@dataclass
class Slow:
    """A service that is done with an event when the test says so."""

    commands: tuple[()] = ()
    inbox: MemoryInbox = field(default_factory=MemoryInbox)
    begun: list[Any] = field(default_factory=list[Any])
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def _deal(self, event: object, *_: object) -> None:
        self.begun.append(event)
        await self.go_on.wait()

    on_message = on_command = on_action = resume = _deal

    async def last_message_at(self, platform: str) -> float:
        return 0.0

    async def answer_messages(self, place: Place) -> frozenset[str]:
        return frozenset()


@pytest.fixture
async def slow() -> Slow:
    return Slow()


@pytest.fixture
async def service(slow: Slow) -> ClosableService:
    return ClosableService(cast("ChatService", slow))


@asynccontextmanager
async def told(*events: Coroutine[Any, Any, None]) -> AsyncGenerator[list[asyncio.Task[None]]]:
    """Each in a task of its own, as adapters do; cancelled at the end."""
    tasks = [asyncio.create_task(event) for event in events]
    await asyncio.wait(tasks, timeout=0.01)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def closed(service: ClosableService) -> bool:
    """Whether nothing is inside any more."""
    closing = asyncio.create_task(service.close())
    await asyncio.wait({closing}, timeout=0.01)
    if not closing.done():
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        return False
    return True


async def test_what_is_inside_is_waited_for(slow: Slow, service: ClosableService) -> None:
    async with told(service.on_message(QUESTION, ROOM), service.resume("slack", cast("Any", None))):
        assert service.inside == 2
        assert not await closed(service)
        slow.go_on.set()
        async with asyncio.timeout(5):
            await service.close()
        assert service.inside == 0


async def test_what_comes_behind_the_closed_door_is_left_alone_until_it_is_cancelled(
    slow: Slow, service: ClosableService
) -> None:
    slow.go_on.set()
    assert await closed(service)
    asking = Command(id="1", name="ask", place=PLACE, person=BEN)
    again = Action(id="1", name="regenerate", value="", place=PLACE, person=BEN)
    events = (
        service.on_message(QUESTION, ROOM),
        service.on_command(asking, ROOM),
        service.on_action(again, ROOM),
        service.resume("slack", cast("Any", None)),
    )
    async with told(*events) as tasks:
        assert [task.done() for task in tasks] == [False] * 4
        assert service.inside == 0
    assert slow.begun == []
    assert all(task.cancelled() for task in tasks)


async def test_what_belongs_to_an_answer_that_is_written_still_goes_through(
    slow: Slow, service: ClosableService
) -> None:
    stop = Action(id="1", name="stop", value="", place=PLACE, person=BEN)
    halt = replace(QUESTION, text="stop")
    edited, deleted = MessageEdited(message=QUESTION), MessageDeleted(id="1", place=PLACE)
    async with told(service.on_message(replace(QUESTION, id="0"), ROOM)):
        assert not await closed(service)
        events = (
            service.on_action(stop, ROOM),
            service.on_message(halt, ROOM),
            service.on_message(edited, ROOM),
            service.on_message(deleted, ROOM),
        )
        async with told(*events):
            assert slow.begun[1:] == [stop, halt, edited, deleted]
            assert service.inside == 5
            slow.go_on.set()
            async with asyncio.timeout(5):
                await service.close()
