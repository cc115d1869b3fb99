"""Regenerate keeps the earlier version, and buttons bring it back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import MessageDeleted, MessageEdited
from rag_engine.types import TurnId
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, Everybody, Here, Post, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.store.turns import ChatTurn

QUESTION = "How long is the notice period in Berlin?"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("notice.md", "The notice period is four weeks in Berlin.")
        yield made


async def stored(here: World, post: Post) -> ChatTurn:
    turn = await here.turns.find(post.button("regenerate"))
    assert turn is not None
    return turn


async def twice(here: World) -> Post:
    """An answer with two versions, the second shown."""
    here.says("Four weeks [1].", task="answer")
    post = await here.ask(QUESTION)
    assert not {"previous_version", "next_version"} & set(post.buttons)
    here.says("It is four weeks in Berlin [1].", task="answer")
    await here.press(post, "regenerate")
    return post


async def texts(here: World, post: Post) -> list[str]:
    """What the next question in the conversation sees of it."""
    turn = await stored(here, post)
    assert turn.conversation is not None
    return [each.text for each in await here.history.read(turn.conversation, limit=20)]


async def test_the_earlier_version_comes_back_with_its_sources_and_goes_again(here: World) -> None:
    post = await twice(here)
    assert (post.text, "previous_version" in post.buttons) == ("It is four weeks in Berlin [1].", True)
    assert "next_version" not in post.buttons
    assert await texts(here, post) == [QUESTION, "It is four weeks in Berlin [1]."]
    calls = len(here.model.prompts)
    await here.press(post, "previous_version")
    assert post.text == "Four weeks [1]."
    assert post.reply.notices == ("Version 1 of 2",)
    assert [source.title for source in post.reply.sources] == ["notice.md"]
    assert {"sources", "regenerate", "next_version", "feedback"} <= set(post.buttons)
    assert "previous_version" not in post.buttons
    turn = await stored(here, post)
    assert (turn.turn, turn.state, len(turn.citations)) == (turn.versions[0], "final", 1)
    assert await texts(here, post) == [QUESTION, "Four weeks [1]."]
    await here.press(post, "next_version")
    assert (post.text, post.reply.notices) == ("It is four weeks in Berlin [1].", ("Version 2 of 2",))
    assert await texts(here, post) == [QUESTION, "It is four weeks in Berlin [1]."]
    assert len(here.model.prompts) == calls


async def test_the_next_question_sees_the_version_that_is_shown(here: World) -> None:
    post = await twice(here)
    await here.press(post, "previous_version")
    here.says("Yes [1].", task="answer")
    await here.ask("Is that so for everybody in Berlin?", place=post.place, in_thread=True)
    said = [message.content for message in here.model.prompts[-1][1].messages]
    assert "Four weeks." in said
    assert "It is four weeks in Berlin." not in said


async def test_a_repeated_answer_sees_only_what_came_before_it(here: World) -> None:
    post = await twice(here)
    here.says("Two weeks abroad [1].", task="answer")
    await here.ask("And abroad?", place=post.place, in_thread=True)
    here.says("A month or so [1].", task="answer")
    await here.press(post, "regenerate")
    prompt = "\n".join(message.content for message in here.model.prompts[-1][1].messages)
    assert "Two weeks abroad" not in prompt
    assert (await texts(here, post))[:3] == [QUESTION, post.reply.text, "And abroad?"]
    assert len((await stored(here, post)).versions) == 3


async def test_an_edited_question_is_a_branch_of_its_own(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    message = here.chat.message(QUESTION)
    await here.send(message)
    post = here.last
    here.says("In Berlin, four weeks [1].", task="answer")
    edited = replace(message, text="What is the notice period in Berlin?")
    async with asyncio.timeout(10):
        await here.service.on_message(MessageEdited(message=edited), Here(here.chat, message.place, message))
    assert await texts(here, post) == ["What is the notice period in Berlin?", "In Berlin, four weeks [1]."]
    await here.press(post, "previous_version")
    assert await texts(here, post) == [QUESTION, "Four weeks [1]."]


async def test_who_cannot_read_the_place_switches_nothing(here: World) -> None:
    post = await twice(here)
    await here.press(post, "previous_version", person=BEN, directory=Everybody(gone={BEN.id}))
    assert post.text == "It is four weeks in Berlin [1]."
    assert here.last.private == BEN
    await here.press(post, "previous_version", person=BEN)
    assert post.text == "Four weeks [1]."


async def test_a_version_from_what_may_no_longer_be_searched_stays_away(here: World) -> None:
    post = await twice(here)
    here.town.empty = True
    await here.press(post, "previous_version")
    assert post.text == "It is four weeks in Berlin [1]."
    assert here.last.text == "That version can no longer be shown."
    assert await texts(here, post) == [QUESTION, "It is four weeks in Berlin [1]."]


async def test_a_version_that_was_forgotten_is_gone(here: World) -> None:
    post = await twice(here)
    first = (await stored(here, post)).versions[0]
    await here.removals.turn(first)
    await here.press(post, "previous_version")
    assert here.last.text == "That version can no longer be shown."
    assert post.text == "It is four weeks in Berlin [1]."


async def test_a_deleted_question_takes_every_version_with_it(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    message = here.chat.message(QUESTION)
    await here.send(message)
    post = here.last
    here.says("A month [1].", task="answer")
    await here.press(post, "regenerate")
    versions = (await stored(here, post)).versions
    assert len(versions) == 2
    async with asyncio.timeout(10):
        gone = MessageDeleted(id=message.id, place=message.place.parent)
        await here.service.on_message(gone, Here(here.chat, message.place, message))
    for version in versions:
        assert await here.history.turn(version) is None
        assert await here.history.turn(TurnId(f"{version}-question")) is None
        assert await here.history.trace(version) is None


async def test_versions_have_a_limit(here: World) -> None:
    post = await twice(here)
    first = (await stored(here, post)).versions[0]
    for _ in range(10):
        await here.press(post, "regenerate")
    turn = await stored(here, post)
    assert len(turn.versions) == 10
    assert first not in turn.versions
    assert await here.history.turn(first) is None
    assert turn.turn == turn.versions[-1]


async def test_a_private_answer_is_switched_by_its_asker_alone(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    await here.command("ask", QUESTION, place=CHANNEL, person=ANN)
    post = here.last
    here.says("A month [1].", task="answer")
    await here.press(post, "regenerate")
    await here.press(post, "previous_version", person=BEN)
    assert post.text.startswith("A month [1]")
    await here.press(post, "previous_version", person=ANN)
    assert post.text == "Four weeks [1]."
