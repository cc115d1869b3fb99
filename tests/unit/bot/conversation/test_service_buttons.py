"""Buttons under an answer: regenerate, sources, feedback; each press counts once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.turn.context import place_conversation
from bot.port import Action, File
from bot.store.feedback import RatedAnswer, by_document
from rag_engine.errors import StorageUnavailable
from rag_engine.types import DocumentId
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, Here, Post, World, world
from tests.unit.bot.conversation.leave import LEAVE, QUESTION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.access.permissions import Scope


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        yield made


async def test_regenerate_answers_again_in_place(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    here.says("It is 28 days a year [1].")
    await here.press(post, "regenerate")
    assert len(here.chat.posts) == 1
    assert post.text == "It is 28 days a year [1]."
    assert "28 days [1]." not in "\n".join(
        message.content for message in here.model.prompts[-1][1].messages if message.role == "assistant"
    )
    turns = await here.history.read(place_conversation(post.place), limit=10)
    assert [turn.text for turn in turns] == [QUESTION, "It is 28 days a year [1]."]


async def test_buttons_still_work_after_a_restart(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    here.service = here.assemble()
    await here.press(post, "sources")
    assert here.last.private == ANN
    assert "28 days of leave" in here.last.text
    await here.press(post, "feedback", ends="up")
    await here.press(post, "stop", value=post.button("regenerate"))
    assert here.last.text == "This answer is no longer being written, so there is nothing to stop."
    await here.press(post, "regenerate")
    assert post.text == "28 days [1]."


async def test_a_private_answer_is_regenerated_privately(here: World) -> None:
    here.says("28 days [1].")
    await here.command("ask", QUESTION)
    post = here.last
    here.says("It is 28 days a year [1].")
    await here.press(post, "regenerate")
    assert len(here.chat.posts) == 1
    assert post.text == "It is 28 days a year [1]."


PICTURE = File(name="page-1.png", media_type="image/png", content=b"\x89PNG", description="Page 1")


async def test_feedback_is_kept_once_a_person_and_may_change(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends="up")
    await here.press(post, "feedback", ends="up", person=BEN)
    await here.press(post, "feedback", ends="down")
    assert here.last.private == ANN
    assert here.last.text == "Thank you. What was wrong with it?"
    turn = await here.turns.find(post.button("regenerate"))
    assert turn
    assert await here.turns.ratings(turn) == {ANN.id: "down", BEN.id: "up"}


async def test_quotes_are_shown_before_their_pictures_are_drawn(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    drawn = asyncio.Event()

    async def pictures() -> tuple[File, ...]:
        await drawn.wait()
        return (PICTURE,)

    here.chat.pictures = pictures
    pressing = asyncio.create_task(here.press(post, "sources"))
    await here.chat.until(lambda: here.chat.private and here.last.text)
    assert here.last.pages[-1].files == ()
    drawn.set()
    await pressing
    assert [bool(page.files) for page in here.last.pages if page.text] == [False, True]


async def test_pictures_that_cannot_be_drawn_leave_the_quotes(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)

    async def pictures() -> tuple[File, ...]:
        raise StorageUnavailable("The disk is full.")

    here.chat.pictures = pictures
    await here.press(post, "sources")
    (shown,) = here.chat.private
    assert [page.text for page in shown.pages if page.text] == [shown.text]
    assert "28 days" in shown.text


async def test_a_button_value_of_another_place_shows_nothing(here: World) -> None:
    here.says("28 days [1].")
    await here.command("ask", QUESTION)
    private = here.last
    public = await here.ask(QUESTION)
    stolen = (
        Action(
            id="1", name="sources", value=public.button("sources"), place=CHANNEL, person=BEN, message="b0"
        ),
        Action(
            id="2",
            name="sources",
            value=public.button("sources"),
            place=replace(CHANNEL, channel="elsewhere"),
            person=BEN,
            message=public.id,
        ),
        Action(
            id="3",
            name="sources",
            value=public.button("sources"),
            place=replace(CHANNEL, workspace="other"),
            person=BEN,
            message=public.id,
        ),
        Action(id="4", name="sources", value=private.button("sources"), place=CHANNEL, person=BEN),
        Action(id="5", name="sources", value="' OR 1=1 --", place=CHANNEL, person=BEN, message=public.id),
        Action(id="6", name="feedback", value="", place=CHANNEL, person=BEN),
    )
    for action in stolen:
        await here.service.on_action(action, Here(here.chat, action.place))
        assert here.last.private == BEN
        assert here.last.text.startswith("This button belongs to an answer that is no longer stored."), action


async def test_buttons_of_commands_go_to_them_and_unknown_ones_say_so(here: World) -> None:
    for name, said in (("kb", "page 2"), ("nonsense", "This button no longer works.")):
        action = Action(id=name, name=name, value="x", place=CHANNEL, person=ANN)
        await here.service.on_action(action, Here(here.chat, CHANNEL))
        assert here.last.private == ANN
        assert here.last.text.startswith(said)


async def test_a_press_that_is_delivered_twice_counts_once(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    action = Action(
        id="x",
        name="regenerate",
        value=post.button("regenerate"),
        place=post.place,
        person=ANN,
        message=post.id,
    )
    for _ in range(2):
        await here.service.on_action(action, Here(here.chat, post.place))
    assert len(here.model.prompts) == 2


async def test_a_failed_answer_can_be_asked_again(here: World) -> None:
    real = here.town.scope

    async def broken(*arguments: object, **named: object) -> Scope:
        raise ValueError("a bug")

    here.town.scope = broken
    post: Post = await here.ask(QUESTION)
    assert post.text.startswith("Something broke")
    here.town.scope = real
    here.says("28 days [1].")
    await here.press(post, "regenerate")
    assert post.text == "28 days [1]."


async def test_thumbs_down_asks_why_and_keeps_the_reason(here: World) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    await here.press(post, "feedback", ends="down", person=BEN)
    why = here.last
    assert why.text == "Thank you. What was wrong with it?"
    assert why.private == BEN
    await here.press(why, "reason", ends=":outdated", person=BEN)
    assert here.last.text == "Thank you, that is noted."
    await here.press(why, "reason", ends=":outdated", person=ANN)
    assert "no longer stored" in here.last.text, "Ann rated nothing"
    await here.press(why, "reason", value=f"{why.button('reason').partition(':')[0]}:x", person=BEN)
    assert here.last.text == "This button no longer works. Ask the question again."


async def test_documents_that_mislead_are_named() -> None:
    def rated(rating: str, reason: str, *documents: str) -> RatedAnswer:
        named = {DocumentId(each): f"{each}.md" for each in documents}
        return RatedAnswer(at=1, rating=rating, turn="t", reason=reason, documents=named)

    answers = [rated("down", "outdated", "a", "b"), rated("down", "", "a"), rated("down", "wrong", "a")]
    found = by_document([*answers, rated("up", "", "a"), rated("up", "", "b")])
    assert [(each.title, each.up, each.down, each.misleads) for each in found] == [
        ("a.md", 1, 3, True),
        ("b.md", 1, 1, False),
    ]
    assert found[0].reasons == {"outdated": 1, "unsaid": 1, "wrong": 1}
