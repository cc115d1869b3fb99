"""Interactions are stored until handled, and handled again after a restart."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.discord.incoming import interaction_record
from bot.port import Action, Room
from tests.doubles.chat_server import Upload
from tests.unit.adapters.discord.conftest import Recorder, running, write
from tests.unit.adapters.discord.interrupted import (
    AGAIN,
    ASK,
    Inbox,
    Service,
    died_over,
    half,
    killed_in,
    nothing,
    question,
    seen,
)
from tests.unit.adapters.recording import MemoryInbox

if TYPE_CHECKING:
    from tests.doubles.discord_double.interactions import Interaction
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User


@pytest.fixture
def inbox() -> Inbox:
    """What the next process finds."""
    return Inbox()


async def test_an_interaction_is_stored_before_its_acknowledgement_until_handled(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    release = asyncio.Event()

    async def deal(event: Any, room: Room) -> None:
        await release.wait()

    kept_first: list[bool] = []
    service = Recorder(deal=deal, inbox=inbox)

    def is_kept(arguments: Any) -> bool:
        kept_first.append(("discord", f"interaction:{arguments['interaction']}") in inbox.events)
        return False

    server.fail("callback", status=500, when=is_kept, times=-1)
    async with running(server, service):
        interaction = await server.user_commands(anna, server.general, ASK)
        await server.wait_for(lambda: interaction.acknowledged)
        assert kept_first == [True]
        (payload,) = inbox.events.values()
        assert json.loads(json.dumps(payload)) == payload
        release.set()
        await service.next()
        await server.wait_for(lambda: not server.visible(anna, server.general))
        await inbox.until_left()


async def test_an_interaction_that_cannot_be_stored_is_handled(server: DiscordServer, anna: User) -> None:
    class Full(MemoryInbox):
        async def add(self, platform: str, event: str, payload: Any) -> None:
            raise OSError("the disk is full")

    service = Recorder(inbox=Full())
    async with running(server, service):
        await server.user_commands(anna, server.general, ASK)
        await service.next()


async def test_an_unfinished_command_is_handled_again(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    """The sentence replaces "thinking…"."""
    file = Upload(name="handbook.md", content=b"# Handbook", media_type="text/markdown")

    async def working(event: Any, room: Room) -> None:
        await write(room.outlet(private=event.person), "", status="Working…")

    async with killed_in(server, inbox, working) as service:
        await server.user_commands(anna, server.general, "/kb add", files=[file])
        before, _ = await service.next()

    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(private=event.person), "I was restarted.", final=True)

    after = Service(inbox=inbox, deal=deal)
    after.resuming.set()
    async with running(server, after):
        command, _ = await after.next()
        assert replace(command, attachments=()) == replace(before, attachments=())
        assert b"".join([block async for block in command.attachments[0].open()]) == b"# Handbook"
        await server.wait_for(lambda: seen(server, anna) == ["I was restarted."])
        await inbox.until_left()


async def test_thinking_is_removed_if_no_resumed_answer_replaces_it(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    """A command whose answer is resumed keeps its "thinking…"."""
    await died_over(server, inbox, anna, ASK, nothing)
    after = Service(inbox=inbox)
    async with running(server, after):
        await after.next()
        ben = server.add_user("ben")
        theirs = await server.user_commands(ben, server.general, ASK)
        await after.next()
        await server.wait_for(lambda: theirs.acknowledged and not server.visible(ben, server.general))
        assert len(server.visible(anna, server.general)) == 1
        after.resuming.set()
        await server.wait_for(lambda: not server.visible(anna, server.general))
        await inbox.until_left()


async def test_an_answer_resumed_meanwhile_stays(server: DiscordServer, inbox: Inbox, anna: User) -> None:
    command = await died_over(server, inbox, anna, ASK, nothing)
    after = Service(inbox=inbox)
    async with running(server, after):
        await after.next()
        recall = await after.recall()
        now, room = await recall(question(command))
        assert now is not None
        await write(room.outlet(private=now.person), "Whole.", final=True)
        after.resuming.set()
        await inbox.until_left()
        assert seen(server, anna) == ["Whole."]


async def test_an_unfinished_button_is_handled_again(server: DiscordServer, inbox: Inbox, anna: User) -> None:
    async def deal(event: Any, room: Room) -> None:
        await write(room.outlet(), "An answer.", final=True, buttons=[AGAIN])

    before = Recorder(deal=deal)
    async with running(server, before):
        await server.user_says(anna, server.general, f"{server.bot.mention} why?")
        await before.next()
    message = server.ours()[0].id
    async with killed_in(server, inbox, nothing) as service:
        await server.user_clicks(anna, message, "Regenerate")
        pressed, _ = await service.next()

    async def tell(event: Any, room: Room) -> None:
        await write(room.outlet(private=event.person), "I was restarted.", final=True)

    after = Service(inbox=inbox, deal=tell)
    after.resuming.set()
    async with running(server, after):
        action, _ = await after.next()
        assert isinstance(action, Action)
        assert action == pressed
        thread = server.shown(message).thread
        assert [each.text for each in server.visible(anna, server.general, thread)][-2:] == [
            "An answer.",
            "I was restarted.",
        ]
        await inbox.until_left()


async def test_an_unacknowledged_interaction_is_acknowledged_in_time(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    """The process died between storing and acknowledging."""
    server.silence("callback", times=1)
    async with running(server, Service(inbox=inbox)):
        interaction = await server.user_commands(anna, server.general, ASK)
        await server.wait_for(lambda: server.calls_of("callback"))
        assert inbox.events
    after = Service(inbox=inbox, deal=half)
    async with running(server, after):
        await after.next()
        assert interaction.acknowledged is not None
        assert seen(server, anna) == ["Half"]


async def test_an_interaction_too_old_to_acknowledge_is_answered_directly(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    server.silence("callback", times=1)
    async with running(server, Service(inbox=inbox)):
        await server.user_commands(anna, server.general, ASK)
        await server.wait_for(lambda: server.calls_of("callback"))
    server.advance(4)
    after = Service(inbox=inbox, deal=half)
    async with running(server, after):
        await after.next()
        assert seen(server, anna, anna.id) == ["Half"]


async def test_unreadable_records_are_removed(server: DiscordServer, inbox: Inbox) -> None:
    await inbox.add("discord", "interaction:1", {"id": 1, "made": "by another version"})
    await inbox.add("slack", "interaction:2", {})
    async with running(server, Service(inbox=inbox)):
        await inbox.until_left(("slack", "interaction:2"))


async def test_the_token_is_not_in_the_repr(
    server: DiscordServer, inbox: Inbox, anna: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="adapters")
    async with killed_in(server, inbox, half) as service:
        interaction: Interaction = await server.user_commands(anna, server.general, ASK)
        await service.next()
    async with running(server, Service(inbox=inbox, deal=half)) as _:
        pass
    (payload,) = inbox.events.values()
    assert interaction.token in json.dumps(payload)
    assert interaction.token not in caplog.text
    assert interaction.token not in repr(interaction_record.from_json(payload))
