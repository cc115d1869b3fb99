"""After a restart: what people do while what was left is looked up on a platform that takes its time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from bot.port import Command, IncomingMessage, MessageDeleted, MessageEdited
from tests.unit.bot.chatting import ANN, CHANNEL, Here
from tests.unit.bot.conversation.interrupted import ANSWER, Platform, interrupted, left, now, page
from tests.unit.bot.conversation.leave import QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.store.turns import ChatTurn
    from tests.unit.bot.chatting import World


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with interrupted(tmp_path) as made:
        yield made


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


# --- delivered again ----------------------------------------------------------------------------------------------------


async def test_a_repeated_event_continues_an_unfinished_answer(here: World) -> None:
    message = here.chat.message(QUESTION)
    turn = await left(here, message, "placeholder", shows=page(status="Looking…"))
    await here.send(message)
    (post,) = here.chat.posts.values()
    assert post.text.startswith("You have 28 days")
    assert (await now(here, turn)).state == "final"
    await here.send(message)
    assert len(here.model.prompts) == 1


async def test_a_private_question_stays_private(here: World) -> None:
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
