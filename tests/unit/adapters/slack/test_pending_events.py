"""Acknowledged events survive the end of the program."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters.slack.room import SlackRoom
from bot.port import Action, Button, Command, IncomingMessage, MessageDeleted, MessageEdited, Page, Write
from tests.unit.adapters.recording import MemoryInbox
from tests.unit.adapters.slack.conftest import Bot, Service, bot, running, server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.doubles.slack_double.server import SlackServer
    from tests.doubles.slack_double.wire import Delivery

__all__ = ["bot", "server"]

POSTED = {"http_port": 0}


class DiskFull(Exception):
    """As storage raises it."""


@dataclass(slots=True)
class Inbox(MemoryInbox):
    """Reports its calls, and can be full."""

    failures: int = 0
    """How many of the next events cannot be stored."""
    order: list[str] = field(default_factory=list[str])
    forgotten: asyncio.Event = field(default_factory=asyncio.Event)

    async def add(self, platform: str, event: str, payload: Mapping[str, object]) -> None:
        if self.failures:
            self.failures -= 1
            raise DiskFull
        await MemoryInbox.add(self, platform, event, payload)
        self.order.append(event)

    async def remove(self, platform: str, event: str) -> None:
        await MemoryInbox.remove(self, platform, event)
        self.forgotten.set()


@dataclass
class Busy(Service):
    """Starts, and continues only when released."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = True
    quick: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an event was handled without waiting."""

    async def _take(self, event: Any, room: Any) -> None:
        await super()._take(event, room)
        if self.busy:
            await self.gate.wait()
        self.quick.set()


def _service(kind: type[Service] = Service) -> tuple[Service, Inbox]:
    inbox = Inbox()
    return kind(inbox=inbox), inbox


async def _says(server: SlackServer, text: str) -> Delivery:
    alice = server.world.users.get("UALICE") or server.add_user("alice")
    general = server.world.channels.get("CGENERAL") or server.add_channel("general", [alice])
    await server.user_says(alice, general, text)
    return server.wire.deliveries[-1]


async def _acknowledged(delivery: Delivery) -> None:
    async with asyncio.timeout(5):
        await delivery.done.wait()


def _way(server: SlackServer, way: str) -> dict[str, Any]:
    return {} if way == "socket" else {"signing_secret": SecretStr(server.wire.signing_secret), **POSTED}


def _deliver_to(server: SlackServer, bot: Bot) -> None:
    server.wire.request_url = bot.facts.get("address", "")


@pytest.mark.parametrize("way", ["socket", "posts"])
async def test_an_event_is_stored_from_its_acknowledgement_until_it_is_handled(
    server: SlackServer, way: str
) -> None:
    service, inbox = _service(Busy)
    assert isinstance(service, Busy)
    async with running(server, service, **_way(server, way)) as bot:
        _deliver_to(server, bot)
        delivery = await _says(server, "how many days?")
        await _acknowledged(delivery)
        await bot.next()
        assert list(inbox.events) == [("slack", delivery.payload["event_id"])]
        service.gate.set()
        await inbox.forgotten.wait()
        assert inbox.events == {}


@pytest.mark.parametrize("way", ["socket", "posts"])
async def test_an_event_that_cannot_be_stored_is_handled(server: SlackServer, way: str) -> None:
    """The person learns once what is wrong with the disk."""
    service, inbox = _service()
    async with running(server, service, **_way(server, way)) as bot:
        _deliver_to(server, bot)
        inbox.failures = 1
        delivery = await _says(server, "how many days?")
        message, _ = await bot.next()
        assert message.text == "how many days?"
        await _acknowledged(delivery)
        assert len(delivery.sent) == 1


async def test_unfinished_events_are_handled_after_a_restart(server: SlackServer) -> None:
    """A mention that waits for its message, and a command."""
    server.subscriptions = {"app_mention"}
    service, inbox = _service(Busy)
    alice = server.add_user("alice")
    general = server.add_channel("general", [alice])
    async with running(server, service) as before:
        mention = await _says(server, f"{server.mention} how many days?")
        await _acknowledged(mention)
        await server.user_commands(alice, general, "/kb list")
        await before.next()
    assert len(inbox.events) == 2
    after = Service(inbox=inbox)
    async with running(server, after) as bot:
        told = [await bot.next(), await bot.next()]
        command, into = next(each for each in told if isinstance(each[0], Command))
        message, room = next(each for each in told if isinstance(each[0], IncomingMessage))
        assert (command.name, command.line) == ("kb", "list")
        assert message.text == "how many days?"
        assert isinstance(room, SlackRoom)
        assert room.target.doubtful
        assert isinstance(into, SlackRoom)
        assert into.target.doubtful
        async with asyncio.timeout(5):
            while inbox.events:
                inbox.forgotten.clear()
                await inbox.forgotten.wait()


async def test_a_redelivery_keeps_an_event_in_progress_stored(server: SlackServer) -> None:
    service, inbox = _service(Busy)
    assert isinstance(service, Busy)
    async with running(server, service) as bot:
        delivery = await _says(server, "how many days?")
        message, _ = await bot.next()
        service.busy = False
        await server.redeliver(message.id)
        await bot.next()
        await service.quick.wait()
        await _says(server, "and something else")  # all later work is done by now
        await bot.next()
        await inbox.forgotten.wait()
        assert list(inbox.events) == [("slack", delivery.payload["event_id"])]


async def test_an_event_that_fails_is_not_retried(server: SlackServer) -> None:
    service, inbox = _service()

    async def fails(event: Any, room: Any) -> None:
        raise ValueError("a bug")

    service.answer = fails
    async with running(server, service):
        await _says(server, "how many days?")
        async with asyncio.timeout(5):
            await inbox.forgotten.wait()
    assert inbox.events == {}


async def test_irrelevant_events_are_not_stored(server: SlackServer) -> None:
    """Our own messages, link previews, joins, and unhandled subscriptions."""
    service, inbox = _service()
    async with running(server, service) as bot:
        alice = server.add_user("alice")
        general = server.add_channel("general", [alice])
        ts = await server.user_says(alice, general, "see <https://a.example>")
        _, room = await bot.next()
        await server.unfurl(ts)
        server.user_joins(server.add_user("berta"), general)
        await server.user_says(alice, general, "has joined", subtype="channel_join")
        outlet = room.outlet()
        await outlet.write(_final())
        await server.user_edits(ts, "see nothing")
        edited, _ = await bot.next()
        await server.user_deletes(ts)
        deleted, _ = await bot.next()
    assert isinstance(edited, MessageEdited)
    assert isinstance(deleted, MessageDeleted)
    assert len(inbox.order) == 3


async def test_buttons_and_shortcuts_are_stored_too(server: SlackServer) -> None:
    service, inbox = _service(Busy)
    async with running(server, service) as bot:
        await _says(server, "how many days?")
        message, room = await bot.next()
        posted = await room.outlet().write(_final())
        await server.user_clicks("UALICE", posted, "Regenerate")
        pressed, _ = await bot.next()
        await server.user_shortcut("UALICE", message.id, "ask_about_this")
        asked, _ = await bot.next()
    assert isinstance(pressed, Action)
    assert asked.about == message.id
    assert len(inbox.events) == 3


def _final() -> Write:
    again = Button(name="regenerate", label="Regenerate", value="t1")
    return Write(part=0, page=Page(text="30 days", buttons=(again,)), route="edit", final=True)


async def test_the_token_for_searching_messages_is_never_stored(server: SlackServer) -> None:
    service, inbox = _service(Busy)
    assert isinstance(service, Busy)
    server.gives_action_tokens = True
    async with running(server, service) as bot:
        delivery = await _says(server, "how many days?")
        await _acknowledged(delivery)
        _, room = await bot.next()
        assert isinstance(room, SlackRoom)
        ((token, _),) = server.action_tokens.items()
        assert room.target.action_token == token
        assert token not in repr(room.target)
        assert "how many days?" in repr(inbox.events)
        assert token not in repr(inbox.events)
        service.gate.set()
