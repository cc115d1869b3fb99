"""After a restart: what a program that was killed left is gone on with, or ends in a sentence. Here it is left in the database."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from bot.port import MessageDeleted, Page, Unreachable, WriteRefused
from bot.settings import ChatSettings
from bot.store.turns import ChatTurn, Turns
from rag_engine.errors import StorageUnavailable
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Trace, Turn
from tests.databases import new_database
from tests.unit.bot.chatting import Here, attachment, world
from tests.unit.bot.conversation.interrupted import (
    ANSWER,
    INTERRUPTED,
    Platform,
    interrupted,
    left,
    now,
    page,
)
from tests.unit.bot.conversation.leave import LEAVE, QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import TurnId
    from tests.unit.bot.chatting import World


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with interrupted(tmp_path) as made:
        yield made


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
async def test_an_answer_continues_in_its_own_message(here: World, state: str, shows: Page | None) -> None:
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


async def test_a_stopped_answer_is_not_continued(here: World) -> None:
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
    (file,) = await here.stores.files.of_turn(turn)
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

    service = here.assemble(removals=replace(here.removals, turn=forget_turn))
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


async def test_what_two_programs_died_over_is_not_started_a_third_time(here: World) -> None:
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
    fresh = await left(here, here.chat.message("Nice weather."), "received", unprompted=True)
    tired = await left(here, here.chat.message("Indeed."), "received", unprompted=True, attempts=2)
    platform = Platform(here)
    await platform.resumes()
    assert here.chat.posts == {}
    assert platform.asked == [fresh.message]
    assert await here.turns.find(fresh.id) is None
    assert await here.turns.find(tired.id) is None


async def test_half_an_unprompted_answer_is_removed_if_there_is_nothing_to_say(here: World) -> None:
    here.says("That I do not know.")
    turn = await left(
        here, here.chat.message("Nice weather."), "streaming", shows=page(text="It is"), unprompted=True
    )
    await Platform(here).resumes()
    assert here.last.gone
    assert await here.turns.find(turn.id) is None


async def test_what_nobody_asked_goes_wrong_in_silence(here: World) -> None:
    elsewhere = here.chat.message("Nice weather.")
    elsewhere = replace(elsewhere, place=replace(elsewhere.place, workspace="elsewhere"))
    here.chat.said[-1] = elsewhere
    turn = await left(here, elsewhere, "received", unprompted=True)
    await Platform(here).resumes()
    assert here.chat.posts == {}
    assert (await now(here, turn)).state == "failed"


async def test_what_nobody_asked_is_dropped_also_when_it_is_delivered_again(here: World) -> None:
    message = here.chat.message("Nice weather.", addressed=True)
    turn = await left(here, message, "received", unprompted=True, attempts=2)
    await here.send(message)
    assert here.chat.posts == {}
    assert await here.turns.find(turn.id) is None


# --- a platform that does not tell -------------------------------------------------------------------------------------


async def test_a_platform_that_does_not_answer_is_retried_while_others_continue(here: World) -> None:
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
    async with connect(
        new_database(tmp_path / "chat.sqlite"), scripts=files("bot.store") / "sql"
    ) as database:
        after = here.assemble(stores=replace(here.stores, turns=Locked(database)))
        async with asyncio.timeout(10):
            await after.resume("test", Platform(here).recall)
    assert (await now(here, turn)).state == "final"


async def test_it_ends_where_the_platform_does_not_answer(here: World) -> None:
    turn = await left(here, here.chat.message(QUESTION), "received")
    platform = Platform(here, faults=[WriteRefused("You are not in this channel.")])
    await platform.resumes()
    assert platform.asked == [turn.message]
    assert (await now(here, turn)).state == "failed"


async def test_a_placeholder_is_finished_however_late_the_platform_reports_it(tmp_path: Path) -> None:
    async with world(tmp_path, settings=ChatSettings(resume_seconds=0)) as here:
        turn = await left(here, here.chat.message(QUESTION), "placeholder", shows=page(status="Looking…"))
        await Platform(here, faults=[Unreachable("Not now.")]).resumes()
        assert here.last.text == INTERRUPTED
        assert (await now(here, turn)).state == "failed"


async def test_one_that_fails_ends_where_it_is_and_no_other_with_it(here: World) -> None:
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


async def test_what_this_program_is_answering_is_not_started_again(here: World) -> None:
    """A restarted adapter asks for what is under way, too."""
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
