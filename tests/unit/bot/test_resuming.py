"""After a restart: what a program that was killed left is gone on with, or ends in a sentence. Here it is left in the database."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.port import (
    Action,
    Command,
    IncomingMessage,
    MessageDeleted,
    MessageEdited,
    Page,
    Refused,
    Reply,
    Unreachable,
    Write,
)
from bot.sentences import say
from bot.service import Service
from bot.settings import ChatSettings
from bot.turns import ChatTurn, Turns
from rag_engine.errors import StorageUnavailable
from rag_engine.storage import sqlite
from rag_engine.types import Trace, Turn
from tests.unit.bot.chatting import ANN, CHANNEL, Here, Outlet, attachment, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import TurnId
    from tests.unit.bot.chatting import World

LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"
QUESTION = "How many days of leave do we have?"
ANSWER = "You have 28 days [1]."
INTERRUPTED = say("interrupted", "en")
RESTARTED = say("restarted", "en")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        made.says(ANSWER)
        yield made


@dataclass
class Platform:
    """An adapter's way back to messages."""

    here: World
    faults: list[Exception] = field(default_factory=list)
    """Raised by the next lookups, one each."""
    gate: asyncio.Event | None = None
    """Nothing is told before it is set."""
    asked: list[str] = field(default_factory=list)
    looking: asyncio.Event = field(default_factory=asyncio.Event)

    async def recall(self, kept: IncomingMessage) -> tuple[IncomingMessage | None, Here]:
        self.asked.append(kept.id)
        self.looking.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.faults:
            raise self.faults.pop(0)
        now = next((said for said in self.here.chat.said if said.id == kept.id), None)
        return now, Here(self.here.chat, kept.place, now)

    async def resumes(self) -> None:
        async with asyncio.timeout(10):
            await self.here.service.resume("test", self.recall)


async def left(
    here: World, message: IncomingMessage, state: str, *, shows: Page | None = None, **values: object
) -> ChatTurn:
    """The turn of a message as a program left it that was killed; `shows` is what stands in its place."""
    turn = ChatTurn(
        place=message.place,
        message=message.id,
        person=message.person,
        question=message.text,
        asked_at=message.at,
        private=message.private,
        **values,
    )
    assert await here.turns.claim(turn)
    if shows is not None:
        outlet = Outlet(here.chat, message.place, message.person if message.private else None, ())
        posted = await outlet.write(Write(part=0, page=shows, route="plain"))
        turn = replace(turn, messages=(posted,))
    turn = replace(turn, state=state)
    await here.turns.save(turn)
    return turn


async def now(here: World, turn: ChatTurn) -> ChatTurn:
    found = await here.turns.find(turn.id)
    assert found is not None
    return found


def page(**values: object) -> Page:
    return Page(reply=Reply(**values), **values)


# --- each state --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "shows"),
    [
        ("received", None),
        ("placeholder", page(status="Looking…")),
        ("streaming", page(text="You have")),
        ("streaming", page(text="You have 28 days [1].")),
    ],
)
async def test_an_answer_is_gone_on_with_in_its_own_message(
    here: World, state: str, shows: Page | None
) -> None:
    turn = await left(here, here.chat.message(QUESTION), state, shows=shows)
    await Platform(here).resumes()
    (post,) = here.chat.posts.values()
    assert post.text.startswith("You have 28 days")
    assert post.buttons[:2] == ["sources", "regenerate"]
    ended = await now(here, turn)
    assert (ended.state, ended.messages, ended.attempts) == ("final", (post.id,), 2)


@pytest.mark.parametrize("state", ["final", "stopped", "failed"])
async def test_what_has_ended_is_left_alone(here: World, state: str) -> None:
    turn = await left(here, here.chat.message(QUESTION), state, shows=page(text="It ended so."))
    platform = Platform(here)
    await platform.resumes()
    assert platform.asked == []
    assert here.last.text == "It ended so."
    assert (await now(here, turn)).state == state


async def test_an_answer_that_a_stop_ended_is_not_gone_on_with(here: World) -> None:
    here.says("You have ", "28 days [1].", gates=(asyncio.Event(), asyncio.Event()))
    asking = asyncio.create_task(here.send(here.chat.message(QUESTION)))
    await here.chat.until(lambda: bool(here.chat.posts))
    asking.cancel()
    await asyncio.wait([asking])
    assert here.last.text == INTERRUPTED
    platform = Platform(here)
    await platform.resumes()
    assert platform.asked == []
    assert here.last.text == INTERRUPTED


async def test_what_the_engine_remembers_of_the_lost_answer_is_forgotten(here: World) -> None:
    """It was killed between the engine's last line and ours."""
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "streaming", shows=page(text="You have"))
    conversation = f"test:w:general:{message.id}"
    asked = Turn(
        id=f"{turn.engine_turn}-question", conversation=conversation, role="user", text=QUESTION, at=1.0
    )
    said = Turn(id=turn.engine_turn, conversation=conversation, role="assistant", text="lost", at=2.0)
    trace = Trace(
        turn=turn.engine_turn, conversation=conversation, at=1.0, seconds={}, fallbacks=(), details={}
    )
    await here.history.write([asked, said], trace)
    await Platform(here).resumes()
    remembered = await here.history.read(conversation, limit=10)
    assert [each.text for each in remembered if each.role == "user"] == [QUESTION]
    assert "lost" not in {each.text for each in remembered}


async def test_a_regeneration_is_found_unfinished_before_it_overwrites_anything(here: World) -> None:
    post = await here.ask(QUESTION)
    (turn,) = [await here.turns.find(post.button("regenerate"))]
    assert turn is not None
    gate = asyncio.Event()
    here.says(ANSWER, gates=(gate,))
    again = asyncio.create_task(here.press(post, "regenerate"))
    await here.chat.until(lambda: bool(post.pages[-1].status))
    assert (await now(here, turn)).unfinished
    gate.set()
    await again
    assert (await now(here, turn)).state == "final"


async def test_its_files_are_taken_in_again(here: World) -> None:
    message = here.chat.message(
        "How long are logs kept?", attachment("logs.md", "# Logs\n\nLogs are kept for two weeks.\n")
    )
    here.says("Two weeks [1].", pattern="logs")
    turn = await left(here, message, "placeholder", shows=page(status="logs.md: reading…"))
    await Platform(here).resumes()
    assert here.last.text.startswith("Two weeks")
    (file,) = await here.parts.taken.of_turn(turn)
    assert file.settled
    assert file.document


# --- what happened meanwhile -------------------------------------------------------------------------------------------


async def test_a_question_that_was_deleted_meanwhile_loses_its_placeholder(here: World) -> None:
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "placeholder", shows=page(status="Looking…"))
    here.chat.said.remove(message)
    await Platform(here).resumes()
    assert here.last.gone
    assert (await now(here, turn)).state == "withdrawn"


async def test_an_answer_that_was_being_taken_away_goes(here: World) -> None:
    """It was killed before the platform had taken the message away."""
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "withdrawn", shows=page(text="You have 28 days [1]."))
    here.chat.said.remove(message)
    platform = Platform(here)
    await platform.resumes()
    assert here.last.gone
    assert (await now(here, turn)).messages == ()
    await platform.resumes()
    assert platform.asked == [message.id]


async def test_a_withdrawal_is_known_until_its_messages_are_gone(here: World) -> None:
    post = await here.ask(QUESTION)
    (turn,) = [await here.turns.find(post.button("regenerate"))]
    assert turn is not None
    begun, gate = asyncio.Event(), asyncio.Event()

    async def forget_turn(_: TurnId) -> None:
        begun.set()
        await gate.wait()

    service = Service(replace(here.parts, forget_turn=forget_turn))
    gone = MessageDeleted(id=turn.message, place=turn.place)
    going = asyncio.create_task(service.on_message(gone, Here(here.chat, turn.place)))
    async with asyncio.timeout(10):
        await begun.wait()
    (known,) = await here.turns.unfinished("test")
    assert (known.state, known.messages, known.question) == ("withdrawn", (post.id,), "")
    gate.set()
    await going
    assert post.gone
    assert await here.turns.unfinished("test") == []


async def test_a_question_that_was_edited_meanwhile_is_answered_as_it_is_now(here: World) -> None:
    message = here.chat.message("How many days?")
    turn = await left(here, message, "received")
    here.chat.said.remove(message)
    here.chat.said.append(replace(message, text=QUESTION))
    await Platform(here).resumes()
    assert (await now(here, turn)).question == QUESTION
    assert QUESTION in here.model.prompts[-1][1].messages[-1].content


async def test_an_old_question_ends_in_a_sentence_and_can_be_asked_again(tmp_path: Path) -> None:
    async with world(tmp_path, settings=ChatSettings(resume_seconds=0)) as here:
        await here.file("leave.md", LEAVE)
        here.says(ANSWER)
        turn = await left(here, here.chat.message(QUESTION), "streaming", shows=page(text="You have"))
        await Platform(here).resumes()
        (post,) = here.chat.posts.values()
        assert post.text == INTERRUPTED
        assert (await now(here, turn)).state == "failed"
        await here.press(post, "regenerate")
        assert post.text.startswith("You have 28 days")


async def test_what_two_programs_died_over_is_not_begun_a_third_time(here: World) -> None:
    turn = await left(
        here, here.chat.message(QUESTION), "placeholder", shows=page(status="Looking…"), attempts=2
    )
    await Platform(here).resumes()
    assert here.last.text == INTERRUPTED
    assert here.last.buttons == ["regenerate"]
    assert here.model.prompts == []
    assert (await now(here, turn)).state == "failed"


async def test_what_nobody_asked_stays_silent(here: World) -> None:
    """Nothing is shown of it; an old one is forgotten, a fresh one speaks only if the files say something."""
    here.says("That I do not know.")
    fresh = await left(here, here.chat.message("Nice weather."), "received", unasked=True)
    tired = await left(here, here.chat.message("Indeed."), "received", unasked=True, attempts=2)
    platform = Platform(here)
    await platform.resumes()
    assert here.chat.posts == {}
    assert platform.asked == [fresh.message]
    assert await here.turns.find(fresh.id) is None
    assert await here.turns.find(tired.id) is None


async def test_half_of_what_nobody_asked_goes_when_there_is_nothing_to_tell(here: World) -> None:
    here.says("That I do not know.")
    turn = await left(
        here, here.chat.message("Nice weather."), "streaming", shows=page(text="It is"), unasked=True
    )
    await Platform(here).resumes()
    assert here.last.gone
    assert await here.turns.find(turn.id) is None


async def test_what_nobody_asked_goes_wrong_in_silence(here: World) -> None:
    elsewhere = here.chat.message("Nice weather.")
    elsewhere = replace(elsewhere, place=replace(elsewhere.place, workspace="elsewhere"))
    here.chat.said[-1] = elsewhere
    turn = await left(here, elsewhere, "received", unasked=True)
    await Platform(here).resumes()
    assert here.chat.posts == {}
    assert (await now(here, turn)).state == "failed"


async def test_what_nobody_asked_is_dropped_also_when_it_is_told_again(here: World) -> None:
    message = here.chat.message("Nice weather.", addressed=True)
    turn = await left(here, message, "received", unasked=True, attempts=2)
    await here.send(message)
    assert here.chat.posts == {}
    assert await here.turns.find(turn.id) is None


# --- a platform that does not tell -------------------------------------------------------------------------------------


async def test_a_platform_that_does_not_answer_is_asked_again_while_others_go_on(here: World) -> None:
    first = await left(here, here.chat.message(QUESTION), "received")
    second = await left(here, here.chat.message(QUESTION, at=time.time() - 60), "received")
    platform = Platform(here, faults=[Unreachable("Not now.")])
    await platform.resumes()
    assert platform.asked == [first.message, second.message, first.message]
    assert {(await now(here, turn)).state for turn in (first, second)} == {"final"}


class Locked(Turns):
    """The database is in another program's hands at first."""

    locked = True

    async def unfinished(self, platform: str) -> list[ChatTurn]:
        if self.locked:
            self.locked = False
            raise StorageUnavailable("The database is locked.")
        return await super().unfinished(platform)


async def test_what_was_left_is_read_as_soon_as_it_can_be(here: World, tmp_path: Path) -> None:
    turn = await left(here, here.chat.message(QUESTION), "received")
    async with sqlite.connect(tmp_path / "chat.sqlite", scripts=files("bot") / "sql") as database:
        after = Service(replace(here.parts, turns=Locked(database)))
        async with asyncio.timeout(10):
            await after.resume("test", Platform(here).recall)
    assert (await now(here, turn)).state == "final"


async def test_where_the_platform_will_not_tell_it_ends(here: World) -> None:
    turn = await left(here, here.chat.message(QUESTION), "received")
    platform = Platform(here, faults=[Refused("You are not in this channel.")])
    await platform.resumes()
    assert platform.asked == [turn.message]
    assert (await now(here, turn)).state == "failed"


async def test_a_placeholder_gets_its_end_however_late_the_platform_tells(tmp_path: Path) -> None:
    async with world(tmp_path, settings=ChatSettings(resume_seconds=0)) as here:
        turn = await left(here, here.chat.message(QUESTION), "placeholder", shows=page(status="Looking…"))
        await Platform(here, faults=[Unreachable("Not now.")]).resumes()
        assert here.last.text == INTERRUPTED
        assert (await now(here, turn)).state == "failed"


async def test_one_that_goes_wrong_ends_where_it_stands_and_no_other_with_it(here: World) -> None:
    """The workspace is not served any more: the placeholder must not look as if it went on."""
    elsewhere = here.chat.message(QUESTION)
    elsewhere = replace(elsewhere, place=replace(elsewhere.place, workspace="elsewhere"))
    here.chat.said[-1] = elsewhere
    bad = await left(here, elsewhere, "placeholder", shows=page(status="Looking…"))
    good = await left(here, here.chat.message(QUESTION), "received")
    await Platform(here).resumes()
    assert here.chat.posts[bad.messages[0]].text == "This workspace is not served."
    assert (await now(here, bad)).state == "failed"
    assert (await now(here, good)).state == "final"


async def test_what_this_program_is_answering_is_not_begun_again(here: World) -> None:
    """An adapter that began anew asks for what is under way, too."""
    gate = asyncio.Event()
    here.says(ANSWER, gates=(gate,))
    asking = asyncio.create_task(here.send(here.chat.message(QUESTION)))
    await here.chat.until(lambda: bool(here.chat.posts))
    platform = Platform(here)
    await platform.resumes()
    assert platform.asked == []
    gate.set()
    await asking
    assert len(here.model.prompts) == 1


# --- people, while it is looked up -------------------------------------------------------------------------------------


@dataclass
class Pending:
    """A turn that is being looked up on a platform that takes its time."""

    message: IncomingMessage
    turn: ChatTurn
    platform: Platform
    task: asyncio.Task[None]

    async def done(self) -> None:
        assert self.platform.gate is not None
        self.platform.gate.set()
        async with asyncio.timeout(10):
            await self.task


async def pending(here: World) -> Pending:
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "placeholder", shows=page(status="Looking…"))
    platform = Platform(here, gate=asyncio.Event())
    task = asyncio.create_task(platform.resumes())
    await platform.looking.wait()
    return Pending(message, turn, platform, task)


async def test_an_edit_meanwhile_is_answered_once(here: World) -> None:
    resumed = await pending(here)
    edited = MessageEdited(message=replace(resumed.message, text=f"Please: {QUESTION}"))
    async with asyncio.timeout(10):
        await here.service.on_message(edited, Here(here.chat, resumed.message.place, resumed.message))
    await resumed.done()
    assert len(here.model.prompts) == 1
    (post,) = here.chat.posts.values()
    assert post.text.startswith("You have 28 days")
    ended = await now(here, resumed.turn)
    assert (ended.state, ended.question) == ("final", f"Please: {QUESTION}")


async def test_a_deletion_meanwhile_takes_the_placeholder_away(here: World) -> None:
    resumed = await pending(here)
    gone = MessageDeleted(id=resumed.message.id, place=CHANNEL)
    async with asyncio.timeout(10):
        await here.service.on_message(gone, Here(here.chat, resumed.message.place, resumed.message))
    await resumed.done()
    assert here.last.gone
    assert here.model.prompts == []
    assert (await now(here, resumed.turn)).state == "withdrawn"


async def test_a_stop_meanwhile_is_said(here: World) -> None:
    resumed = await pending(here)
    await here.press(here.last, "stop", value=resumed.turn.id)
    await resumed.done()
    (post,) = here.chat.public
    assert post.text == "Stopped."
    assert here.model.prompts == []
    assert (await now(here, resumed.turn)).state == "stopped"


async def test_a_repeated_event_meanwhile_begins_it_no_second_time(here: World) -> None:
    resumed = await pending(here)
    await here.send(resumed.message)
    await resumed.done()
    assert len(here.model.prompts) == 1
    assert len(here.chat.posts) == 1


# --- told again --------------------------------------------------------------------------------------------------------


async def test_a_repeated_event_goes_on_with_what_nobody_saw_the_end_of(here: World) -> None:
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "placeholder", shows=page(status="Looking…"))
    await here.send(message)
    (post,) = here.chat.posts.values()
    assert post.text.startswith("You have 28 days")
    assert (await now(here, turn)).state == "final"
    await here.send(message)
    assert len(here.model.prompts) == 1


async def test_a_private_question_goes_on_privately(here: World) -> None:
    command = Command(id="c1", name="ask", line=QUESTION, place=CHANNEL, person=ANN, handle="the way back")
    asked = here.chat.message(QUESTION, id="command:c1", place=CHANNEL, private=True)
    turn = await left(here, asked, "placeholder", shows=page(status="Looking…"), handle=command.handle)
    await here.service.on_command(command, Here(here.chat, CHANNEL))
    (post,) = here.chat.private
    assert post.text.startswith("You have 28 days")
    assert here.chat.public == []
    assert (await now(here, turn)).handle == ""


async def test_a_private_question_is_claimed_with_its_way_back(here: World) -> None:
    gate = asyncio.Event()
    here.says(ANSWER, gates=(gate,))
    command = Command(id="c1", name="ask", line=QUESTION, place=CHANNEL, person=ANN, handle="the way back")
    asking = asyncio.create_task(here.service.on_command(command, Here(here.chat, CHANNEL)))
    await here.chat.until(lambda: bool(here.chat.posts))
    (kept,) = await here.turns.unfinished("test")
    assert (kept.handle, kept.private) == ("the way back", True)
    gate.set()
    await asking
    assert await here.turns.unfinished("test") == []


# --- commands and buttons ----------------------------------------------------------------------------------------------


async def began(here: World, event: str) -> None:
    """A program that was killed had begun it."""
    assert await here.parts.claims.begin(CHANNEL, event) == "new"


async def test_a_command_that_was_interrupted_is_not_done_twice_and_its_person_told(here: World) -> None:
    await began(here, "command:c1")
    command = Command(id="c1", name="kb", line="list", place=CHANNEL, person=ANN)
    for _ in range(2):
        await here.service.on_command(command, Here(here.chat, CHANNEL))
    (post,) = here.chat.private
    assert post.text == RESTARTED


async def test_a_command_that_fails_is_finished_by_its_sentence(here: World) -> None:
    await here.command("kb", "fail")
    assert "Something broke" in here.last.text
    (number,) = [int(post.id[1:]) for post in here.chat.private]
    command = Command(id=f"c{number - 1}", name="kb", line="fail", place=CHANNEL, person=ANN)
    await here.service.on_command(command, Here(here.chat, CHANNEL))
    assert len(here.chat.private) == 1


async def test_a_button_of_ours_that_was_interrupted_is_pressed_again(here: World) -> None:
    post = await here.ask(QUESTION)
    await began(here, "action:a1")
    action = Action(
        id="a1",
        name="feedback",
        value=post.button("feedback", ends="up"),
        place=post.place,
        person=ANN,
        message=post.id,
    )
    for _ in range(2):
        await here.service.on_action(action, Here(here.chat, post.place))
    (told,) = here.chat.private
    assert told.text == say("thanks", "en")


async def test_a_button_of_a_command_that_was_interrupted_tells_its_person(here: World) -> None:
    await began(here, "action:a1")
    action = Action(id="a1", name="kb", value="yes:1", place=CHANNEL, person=ANN)
    await here.service.on_action(action, Here(here.chat, CHANNEL))
    (told,) = here.chat.private
    assert told.text == RESTARTED


async def test_a_regeneration_that_was_interrupted_is_gone_on_with_by_itself(here: World) -> None:
    turn = await left(here, here.chat.message(QUESTION), "placeholder", shows=page(status="Looking…"))
    await began(here, "action:a1")
    action = Action(
        id="a1",
        name="regenerate",
        value=turn.id,
        place=turn.place,
        person=ANN,
        message=turn.messages[0],
    )
    await here.service.on_action(action, Here(here.chat, turn.place))
    assert here.chat.private == []
    await Platform(here).resumes()
    (post,) = here.chat.posts.values()
    assert post.text.startswith("You have 28 days")
