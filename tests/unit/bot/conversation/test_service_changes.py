"""Questions that are edited or deleted, and the buttons under answers, also after a restart and with values nobody was given."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.turn.context import place_conversation
from bot.port import MessageDeleted, MessageEdited
from tests.unit.bot.chatting import ADMIN, BEN, CHANNEL, Here, World, world
from tests.unit.bot.conversation.leave import LEAVE, QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import IncomingMessage
    from bot.store.turns import ChatTurn


OTHER = "How many days of leave does Ben have?"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        yield made


async def edit(here: World, message: IncomingMessage, text: str) -> None:
    async with asyncio.timeout(10):
        changed = MessageEdited(message=replace(message, text=text))
        await here.service.on_message(changed, Here(here.chat, message.place, message))


async def delete(here: World, message: IncomingMessage) -> None:
    async with asyncio.timeout(10):
        gone = MessageDeleted(id=message.id, place=message.place.parent)
        await here.service.on_message(gone, Here(here.chat, message.place, message))


async def begun(
    here: World, message: IncomingMessage, *pieces: str
) -> tuple[asyncio.Task[None], asyncio.Event]:
    """An answer that has shown its first piece and waits for the gate."""
    gate = asyncio.Event()
    waits = asyncio.Event()
    waits.set()
    here.says(*pieces, gates=(waits, gate))
    task = asyncio.create_task(here.send(message))
    await here.chat.until(lambda: bool(here.chat.posts) and bool(here.last.text))
    return task, gate


async def test_an_edit_while_it_runs_restarts_the_answer_in_the_same_message(here: World) -> None:
    message = here.chat.message(QUESTION)
    task, _ = await begun(here, message, "We have 28 days", " of leave.")
    here.says("Ben has 28 [1].", pattern="Ben")
    await edit(here, message, OTHER)
    await task
    assert len(here.chat.posts) == 1
    assert here.last.text == "Ben has 28 [1]."
    assert here.model.open_replies == 0


async def test_an_edit_soon_after_replaces_the_answer_and_what_is_remembered(here: World) -> None:
    message = here.chat.message(QUESTION)
    here.says("28 days [1].")
    await here.send(message)
    here.says("Ben has 28 [1].", pattern="Ben")
    await edit(here, message, OTHER)
    assert len(here.chat.posts) == 1
    assert here.last.text == "Ben has 28 [1]."
    turns = await here.history.read(place_conversation(message.place), limit=10)
    assert [turn.text for turn in turns] == [OTHER, "Ben has 28 [1]."]


async def test_an_edited_question_is_answered_in_the_place_of_its_answer(here: World) -> None:
    """The question comes with the thread that it could not have."""
    message = here.chat.message(QUESTION)
    here.says("28 days [1].")
    await here.send(message, into=Here(here.chat, message.place, message, threads=False))
    here.says("Ben has 28 [1].", pattern="Ben")
    await edit(here, message, OTHER)
    turn = await here.turns.of_message(message.place, message.id)
    assert turn is not None
    assert turn.place == CHANNEL
    turns = await here.history.read(place_conversation(CHANNEL), limit=10)
    assert [turn.text for turn in turns] == [OTHER, "Ben has 28 [1]."]


async def test_an_edit_that_comes_while_the_message_is_taken_up_is_answered(here: World) -> None:
    """It looked for the question before it was there, and found it claimed when it would have claimed it."""
    real = here.turns.of_message
    looked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*arguments: object) -> object:
        found = await real(*arguments)
        if not looked.is_set():
            looked.set()
            await go_on.wait()
        return found

    here.turns.of_message = slow
    here.says("28 days [1].")
    here.says("Ben has 28 [1].", pattern="Ben")
    message = here.chat.message(QUESTION)
    editing = asyncio.create_task(edit(here, message, OTHER))
    await looked.wait()
    sending = asyncio.create_task(here.send(message))
    await here.chat.until(lambda: bool(here.chat.posts))
    go_on.set()
    await asyncio.gather(editing, sending)
    assert [post.text for post in here.chat.public] == ["Ben has 28 [1]."]


async def test_an_edit_that_comes_between_claim_and_answer_is_answered(here: World) -> None:
    claim, look = here.turns.claim, here.turns.of_message
    claimed, found, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(turn: ChatTurn) -> bool:
        done = await claim(turn)
        claimed.set()
        await go_on.wait()
        return done

    async def looking(*arguments: object) -> ChatTurn | None:
        turn = await look(*arguments)
        if turn is not None:
            found.set()
        return turn

    here.turns.claim, here.turns.of_message = slow, looking
    here.says("28 days [1].")
    here.says("Ben has 28 [1].", pattern="Ben")
    message = here.chat.message(QUESTION)
    sending = asyncio.create_task(here.send(message))
    await claimed.wait()
    editing = asyncio.create_task(edit(here, message, OTHER))
    await found.wait()
    for _ in range(5):  # the edit's own look-ups come first
        await here.turns.find("none")
    assert not here.chat.posts, "it waits for the message that it changes"
    go_on.set()
    await asyncio.gather(editing, sending)
    assert [post.text for post in here.chat.public] == ["Ben has 28 [1]."]
    assert len(here.model.prompts) == 1, "the question as it was is not answered beside it"


async def test_two_edits_in_a_row_end_with_the_last(here: World) -> None:
    message = here.chat.message(QUESTION)
    task, _ = await begun(here, message, "We have 28 days", " of leave.")
    here.says("Carl has 28 [1].", pattern="Carl")
    here.says("Ben has 28 [1].", pattern="Ben")
    edits = [edit(here, message, OTHER), edit(here, message, "How many days of leave does Carl have?")]
    await asyncio.gather(*edits)
    await task
    assert len(here.chat.posts) == 1
    assert here.last.text == "Carl has 28 [1]."


async def test_an_edit_that_changes_no_word_or_comes_late_changes_nothing(here: World) -> None:
    old = here.chat.message(QUESTION, at=time.time() - 3600)
    here.says("28 days [1].")
    await here.send(old)
    await edit(here, old, OTHER)
    fresh = here.chat.message(QUESTION)
    await here.send(fresh)
    await edit(here, fresh, f" {QUESTION} ")
    await edit(here, fresh, "")
    assert len(here.model.prompts) == 2
    assert [post.text for post in here.chat.public] == ["28 days [1].", "28 days [1]."]


async def test_a_message_that_was_not_for_us_may_become_so_by_an_edit(here: World) -> None:
    message = here.chat.message(QUESTION, addressed=False)
    await here.send(message)
    assert not here.chat.posts
    here.says("28 days [1].")
    await edit(here, replace(message, addressed=True), QUESTION)
    assert here.last.text == "28 days [1]."


async def test_deleting_the_question_takes_the_answer_away_and_its_memory(here: World) -> None:
    message = here.chat.message(QUESTION)
    here.says("28 days [1].")
    await here.send(message)
    await delete(here, message)
    assert here.last.gone
    assert await here.history.read(place_conversation(message.place), limit=10) == []
    await here.send(message)
    assert len(here.chat.posts) == 1, "it is not answered when it is delivered once more"


async def test_deleting_while_it_runs_ends_the_model_and_leaves_nothing(here: World) -> None:
    message = here.chat.message(QUESTION)
    task, _ = await begun(here, message, "We have 28 days", " of leave.")
    await delete(here, message)
    await task
    assert here.last.gone
    assert here.model.open_replies == 0
    assert await here.history.read(place_conversation(message.place), limit=10) == []


async def test_deleting_what_was_never_answered_is_no_matter(here: World) -> None:
    await delete(here, here.chat.message("Lunch?", addressed=False))
    assert not here.chat.posts


async def test_the_asker_stops_an_answer_and_its_text_so_far_stays(here: World) -> None:
    task, _ = await begun(here, here.chat.message(QUESTION), "We have 28 days", " of leave.")
    before = time.monotonic()
    await here.press(here.last, "stop")
    await task
    assert time.monotonic() - before < 1
    assert here.model.open_replies == 0
    assert here.last.text == "We have 28 days"
    assert here.last.reply.notices == ("Stopped.",)
    assert here.last.buttons == ["regenerate"]
    assert not here.chat.private


async def test_others_may_not_stop_it_but_administrators(here: World) -> None:
    task, _ = await begun(here, here.chat.message(QUESTION), "We have 28 days", " of leave.")
    post = here.last
    await here.press(post, "stop", person=BEN)
    assert here.last.private == BEN
    assert "admin" in here.last.text
    assert post.buttons == ["stop"]
    await here.press(post, "stop", person=ADMIN)
    await task
    assert post.reply.notices == ("Stopped.",)


async def test_a_question_that_waits_can_be_stopped(here: World) -> None:
    first = here.chat.message(QUESTION)
    task, gate = await begun(here, first, "We have 28 days", " of leave [1].")
    post = here.last
    second = here.chat.message("And then?", place=first.place, in_thread=True)
    waiting = asyncio.create_task(here.send(second))
    await here.chat.until(lambda: len(here.chat.posts) == 2)
    await here.press(here.last, "stop")
    await waiting
    assert here.last.text == "Stopped."
    gate.set()
    await task
    assert post.text == "We have 28 days of leave [1]."


async def test_a_word_stops_it_too(here: World) -> None:
    asked = here.chat.message(QUESTION)
    task, _ = await begun(here, asked, "We have 28 days", " of leave.")
    post = here.last
    await here.send(here.chat.message("Stop!", place=asked.place, in_thread=True, person=BEN))
    assert here.last.private == BEN
    assert post.buttons == ["stop"]
    await here.send(here.chat.message("Stop!", place=asked.place, in_thread=True))
    await task
    assert post.reply.notices == ("Stopped.",)
    assert here.chat.public == [post]  # nothing else is said to it


async def test_a_program_that_ends_in_the_middle_says_so_in_the_message(here: World) -> None:
    task, _ = await begun(here, here.chat.message(QUESTION), "We have 28 days", " of leave.")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert here.last.text == "We have 28 days"
    assert here.last.reply.notices == ("I was stopped while answering. Press Regenerate, or ask again.",)
    assert here.last.buttons == ["regenerate"]
    assert here.model.open_replies == 0


async def test_an_answer_whose_question_was_forgotten_meanwhile_is_remembered_nowhere(here: World) -> None:
    message = here.chat.message(QUESTION)
    task, gate = await begun(here, message, "We have 28 days", " of leave [1].")
    turn = await here.turns.of_message(message.place, message.id)
    assert turn is not None
    await here.turns.drop(turn)
    gate.set()
    await task
    assert here.last.text == "We have 28 days of leave [1]."
    assert await here.history.read(place_conversation(message.place), limit=9) == []
    assert await here.history.trace() is None
