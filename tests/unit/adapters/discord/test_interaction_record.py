"""Unfinished commands and buttons are continued by the next process, while Discord accepts a response."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from adapters.discord.incoming import interaction_record
from bot.port import Action, Button, Command, IncomingMessage, Room
from tests.doubles.chat_server import Upload
from tests.unit.adapters.discord.conftest import Recorder, running, write
from tests.unit.adapters.recording import MemoryInbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.port import Recall
    from tests.doubles.discord_double.interactions import Interaction
    from tests.doubles.discord_double.server import DiscordServer
    from tests.doubles.discord_double.world import User

STOP = Button(name="stop", label="Stop", value="turn1", style="danger")
AGAIN = Button(name="regenerate", label="Regenerate", value="turn1")
TOKEN_SECONDS = 15 * 60.0
ASK = "/ask why?"
ASK_ALL = "/ask question:why? where:channel"


@dataclass(slots=True, kw_only=True)
class Service(Recorder):
    """Its `resume` waits for `resuming`."""

    resuming: asyncio.Event = field(default_factory=asyncio.Event)

    async def resume(self, platform: str, recall: Recall) -> None:
        self.recalls.put_nowait(recall)
        await self.resuming.wait()


@dataclass(slots=True)
class Inbox(MemoryInbox):
    """Can be waited for."""

    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def remove(self, platform: str, event: str) -> None:
        await MemoryInbox.remove(self, platform, event)
        self._news.set()

    async def until_left(self, *events: tuple[str, str]) -> None:
        async with asyncio.timeout(5):
            while list(self.events) != list(events):
                self._news.clear()
                await self._news.wait()


@pytest.fixture
def anna(server: DiscordServer) -> User:
    return server.add_user("anna")


@pytest.fixture
def inbox() -> Inbox:
    """What the next process finds."""
    return Inbox()


@asynccontextmanager
async def killed_in(server: DiscordServer, inbox: Inbox, deal: Any) -> AsyncIterator[Service]:
    """A process that ends after `deal`."""
    service = Service(inbox=inbox)

    async def deal_and_die(event: Any, room: Room) -> None:
        await deal(event, room)
        service.events.put_nowait((event, room))
        await asyncio.Event().wait()

    service.deal = deal_and_die
    async with running(server, service):
        yield service


async def nothing(event: Any, room: Room) -> None:
    """Nothing is shown yet."""


async def half(event: Any, room: Room) -> None:
    person = None if getattr(event, "values", {}).get("where") else event.person
    await write(room.outlet(private=person), "Half", buttons=[STOP])


async def died_over(server: DiscordServer, inbox: Inbox, who: User, line: str, deal: Any) -> Command:
    """A command during which the process died."""
    async with killed_in(server, inbox, deal) as service:
        await server.user_commands(who, server.general, line)
        command, _ = await service.next()
    assert isinstance(command, Command)
    return command


def question(command: Command) -> IncomingMessage:
    """The stored handle of `/ask`."""
    return IncomingMessage(
        id=f"command:{command.id}",
        place=command.place,
        person=command.person,
        text="why?",
        private="where" not in command.values,
        handle=command.handle,
    )


@asynccontextmanager
async def recalled(server: DiscordServer, kept: IncomingMessage) -> AsyncIterator[tuple[Any, Room]]:
    """The next process resumes the answer only."""
    service = Service()
    async with running(server, service):
        recall = await service.recall()
        yield await recall(kept)


def seen(server: DiscordServer, who: User, where: Any = None) -> list[str]:
    return [each.text for each in server.visible(who, where or server.general) if each.ours]


# --- answers ---


async def test_thinking_is_replaced_by_the_answer_after_a_restart(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, nothing)
    async with recalled(server, question(command)) as (now, room):
        assert now == question(command)
        outlet = room.outlet(private=now.person)
        await write(outlet, "Half")
        await write(outlet, "Whole.", final=True)
        assert seen(server, anna) == ["Whole."]
        assert {each.only_for for each in server.visible(anna, server.general)} == {anna.id}


@pytest.mark.parametrize("recorded", [True, False])
async def test_an_existing_response_is_continued(
    server: DiscordServer, inbox: Inbox, anna: User, recorded: bool
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    (standing,) = server.visible(anna, server.general)
    async with recalled(server, question(command)) as (now, room):
        outlet = room.outlet(private=now.person, posted=[standing.id] if recorded else [])
        assert await write(outlet, "Whole.", final=True, buttons=[AGAIN]) == standing.id
        await write(outlet, "The rest.", part=1, final=True)
        assert seen(server, anna) == ["Whole.", "The rest."]


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_public_response_is_continued(
    server: DiscordServer, inbox: Inbox, anna: User, recorded: bool
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    (standing,) = server.visible(anna, server.general)
    async with recalled(server, question(command)) as (_, room):
        outlet = room.outlet(posted=[standing.id] if recorded else [])
        assert await write(outlet, "Whole.", final=True, buttons=[AGAIN]) == standing.id
        assert seen(server, server.add_user("ben")) == ["Whole."]


async def test_a_private_sentence_replaces_no_public_message(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    async with recalled(server, question(command)) as (now, room):
        await write(room.outlet(private=now.person), "That file is not taken.")
        assert seen(server, anna) == ["Half", "That file is not taken."]
        assert seen(server, server.add_user("ben")) == ["Half"]


async def test_a_private_answer_after_the_token_expired_is_a_direct_message(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    server.advance(TOKEN_SECONDS + 1)
    async with recalled(server, question(command)) as (now, room):
        await write(room.outlet(private=now.person), "Whole.", final=True)
        assert seen(server, anna, anna.id) == ["Whole."]


async def test_a_public_answer_after_the_token_expired_is_edited_in_the_channel(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK_ALL, half)
    server.advance(TOKEN_SECONDS + 1)
    async with recalled(server, question(command)) as (_, room):
        await write(room.outlet(), "Whole.", final=True, buttons=[AGAIN])
        assert seen(server, anna) == ["Whole."]


async def test_regenerating_a_command_answer_without_its_token(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    command = await died_over(server, inbox, anna, ASK, half)
    async with recalled(server, replace(question(command), handle="")) as (now, room):
        assert now is not None
        await write(room.outlet(private=now.person), "Whole.", final=True)
        assert seen(server, anna, anna.id) == ["Whole."]


async def test_a_question_about_a_message_is_recalled(
    server: DiscordServer, inbox: Inbox, anna: User
) -> None:
    file = Upload(name="contract.pdf", content=b"%PDF", media_type="application/pdf")
    async with killed_in(server, inbox, nothing) as service:
        message = await server.user_uploads(anna, server.general, file, text="Is this allowed?")
        await server.user_shortcut(anna, message, "Ask about this")
        events = [(await service.next())[0] for _ in range(2)]
        (asked,) = [each for each in events if each.private]
    async with recalled(server, replace(asked, attachments=())) as (now, room):
        assert (now.text, now.about) == ("Is this allowed?", message)
        assert b"".join([block async for block in now.attachments[0].open()]) == b"%PDF"
        await write(room.outlet(private=now.person), "It says no.", final=True)
        assert seen(server, anna) == ["It says no."]
    await server.user_deletes(message)
    async with recalled(server, replace(asked, attachments=())) as (now, _):
        assert (now.text, now.attachments) == ("Is this allowed?", ())


# --- what is left ---


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
