"""Platforms side by side: one may end without the other, and all end on request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from pydantic import BaseModel

from bot.composition.loader import Platform, PlatformModule
from bot.observability.health import Health
from bot.port import IncomingMessage, Person, Place, WriteRefused
from bot.process import supervisor
from bot.process.graceful_shutdown import ClosableService
from bot.process.termination_signal import TerminationSignal
from bot.process.watchdog import Watch
from rag_engine.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.port import ChatService, Room, Signals

QUESTION = IncomingMessage(
    id="1", place=Place(platform="one", workspace="T1", channel="C1"), person=Person(id="U1"), text="Why?"
)


class Empty(BaseModel, frozen=True):
    """No settings."""


class Answering:
    """A chat service that answers when the test says so."""

    commands = ()
    inbox = None

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.answered: list[str] = []

    async def on_message(self, event: IncomingMessage, room: Room) -> None:
        self.begun.set()
        await self.go_on.wait()
        self.answered.append(event.text)


@dataclass(eq=False)
class Adapter:
    """A platform with one question; `end` is how its adapter ends."""

    asks: bool = False
    admitted: bool = True
    end: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    running: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False

    async def run(self, settings: BaseModel, service: ChatService, *, signals: Signals) -> None:
        if self.admitted:
            signals.ready({})
            signals.connections(live=1, expected=1)
        self.running.set()
        try:
            async with asyncio.TaskGroup() as tasks:
                if self.asks:
                    tasks.create_task(service.on_message(QUESTION, cast("Room", None)))
                await self.end
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        except asyncio.CancelledError:
            self.cancelled = True
            raise


@dataclass
class Program:
    health: Health
    stopping: TerminationSignal
    service: Answering
    task: asyncio.Task[None]

    def is_ready(self, platform: str) -> bool:
        return self.health.checks[platform].ready


async def serving(adapters: Sequence[Adapter], *, grace_seconds: float = 5.0) -> Program:
    health, behind, stopping = Health(), Answering(), TerminationSignal(None)
    platforms = {
        Platform(name=f"p{number}", module=cast("PlatformModule", adapter), settings=Empty()): Watch(
            f"p{number}", health, deaf_seconds=60
        )
        for number, adapter in enumerate(adapters)
    }
    task = asyncio.create_task(
        supervisor.serve(
            platforms,
            ClosableService(cast("Any", behind)),
            stopping,
            grace_seconds=grace_seconds,
            on_stopping=lambda: None,
        )
    )
    async with asyncio.timeout(5):
        for adapter in adapters:
            await adapter.running.wait()
    return Program(health=health, stopping=stopping, service=behind, task=task)


async def ended(program: Program) -> None:
    async with asyncio.timeout(5):
        await program.task


async def test_a_platform_that_ends_for_good_leaves_the_other_serving() -> None:
    one, other = Adapter(), Adapter()
    program = await serving([one, other])
    one.end.set_exception(WriteRefused("The token was revoked."))
    await asyncio.wait({program.task}, timeout=0.05)
    assert (program.is_ready("p0"), program.is_ready("p1")) == (False, True)
    assert program.health.checks["p0"].detail == "The token was revoked."
    assert not other.cancelled
    other.end.set_exception(WriteRefused("This one, too."))
    with pytest.raises(Misconfigured, match="This one, too"):
        await ended(program)


async def test_a_platform_that_never_lets_us_in_ends_the_program_with_its_sentence() -> None:
    one, other = Adapter(admitted=False), Adapter()
    program = await serving([one, other])
    one.end.set_exception(WriteRefused("Set another token."))
    with pytest.raises(Misconfigured, match="Set another token"):
        await ended(program)
    assert other.cancelled


async def test_a_bug_that_ends_an_adapter_is_logged_and_the_platform_is_not_ready_until_it_restarts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one, other = Adapter(), Adapter()
    program = await serving([one, other])
    one.end.set_exception(KeyError("a bug"))
    await asyncio.wait({program.task}, timeout=0.05)
    assert (program.is_ready("p0"), program.is_ready("p1")) == (False, True)
    assert "unexpected error" in caplog.text
    program.stopping.request()
    await ended(program)


async def test_at_shutdown_an_answer_is_finished_before_the_adapters_end() -> None:
    adapter = Adapter(asks=True)
    program = await serving([adapter])
    await program.service.begun.wait()
    program.stopping.request()
    await asyncio.wait({program.task}, timeout=0.05)
    assert not adapter.cancelled
    program.service.go_on.set()
    await ended(program)
    assert program.service.answered == ["Why?"]
    assert adapter.cancelled


async def test_an_answer_that_takes_longer_than_the_grace_is_broken_off() -> None:
    adapter = Adapter(asks=True)
    program = await serving([adapter], grace_seconds=0.05)
    await program.service.begun.wait()
    program.stopping.request()
    await ended(program)
    assert program.service.answered == []
    assert adapter.cancelled
