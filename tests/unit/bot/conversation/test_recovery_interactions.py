"""After a restart: commands and buttons that a program was killed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.messages import say
from bot.port import Action, Command
from tests.unit.bot.chatting import ANN, CHANNEL, Here
from tests.unit.bot.conversation.interrupted import RESTARTED, Platform, interrupted, left, page
from tests.unit.bot.conversation.leave import QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import World


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with interrupted(tmp_path) as made:
        yield made


async def began(here: World, event: str) -> None:
    """A program that was killed had begun it."""
    assert await here.stores.interactions.begin(CHANNEL, event) == "new"


async def test_an_interrupted_command_is_not_repeated_and_its_person_is_notified(here: World) -> None:
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
    (shown,) = here.chat.private
    assert shown.text == say("thanks", "en")


async def test_the_person_learns_that_a_button_of_a_command_was_interrupted(here: World) -> None:
    await began(here, "action:a1")
    action = Action(id="a1", name="kb", value="yes:1", place=CHANNEL, person=ANN)
    await here.service.on_action(action, Here(here.chat, CHANNEL))
    (shown,) = here.chat.private
    assert shown.text == RESTARTED


async def test_an_interrupted_regeneration_continues_by_itself(here: World) -> None:
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
