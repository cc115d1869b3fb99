"""Buttons that ask something: follow-up questions under an answer, and answers to a question back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ModelUnavailable
from tests.unit.bot.chatting import BEN, CHANNEL, Everybody, Post, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.types import Hit, Query

TEXT = "The notice period is four weeks in Berlin. The lamp is changed every nine months."
QUESTION = "How long is the notice period in Berlin?"
LAMP = "How often is the lamp changed, and who changes it when the keeper of the harbour lamp is away?"


class Suggestions:
    def __init__(self) -> None:
        self.questions: tuple[str, ...] = (LAMP,)
        self.fault: Exception | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked: list[tuple[str, str, int]] = []
        self.ended = asyncio.Event()

    async def __call__(self, query: Query, answer: str, passages: Sequence[Hit]) -> tuple[str, ...]:
        self.asked.append((query.text, answer, len(passages)))
        try:
            await self.may_answer.wait()
            if self.fault is not None:
                raise self.fault
            return self.questions
        finally:
            self.ended.set()


@pytest.fixture
def suggestions() -> Suggestions:
    return Suggestions()


@pytest.fixture
async def here(tmp_path: Path, suggestions: Suggestions) -> AsyncGenerator[World]:
    async with world(tmp_path, complete=True, understands=True, suggest=suggestions) as made:
        await made.file("notice.md", TEXT)
        yield made
        await made.service.runner.answers.follow_ups.close()


async def answered(here: World, **values: object) -> Post:
    here.says("Four weeks [1].", task="answer")
    return await here.ask(QUESTION, **values)


async def offered(here: World, post: Post) -> None:
    await here.chat.until(lambda: "choice" in post.buttons)


async def test_follow_ups_come_as_buttons_after_the_answer(here: World, suggestions: Suggestions) -> None:
    suggestions.may_answer.clear()
    post = await answered(here)
    assert "choice" not in post.buttons
    before = post.text
    suggestions.may_answer.set()
    await offered(here, post)
    assert post.text == before
    assert post.buttons[-1] == "choice"
    assert (
        post.reply.buttons[-1].label
        == "How often is the lamp changed, and who changes it when the keeper of the…"
    )
    assert suggestions.asked == [(QUESTION, "Four weeks [1].", 1)]
    assert len(here.chat.public) == 1


async def test_a_press_asks_it_in_the_thread_as_the_person_who_pressed(here: World) -> None:
    post = await answered(here)
    await offered(here, post)
    here.says("Every nine months [1].", task="answer")
    await here.press(post, "choice", person=BEN)
    assert here.last.place == post.place
    assert here.last.text == f"> **Ben**: {LAMP}\n\nEvery nine months [1]."
    turn = await here.turns.find(here.last.button("why"))
    assert turn is not None
    assert (turn.question, turn.person.id, turn.private) == (LAMP, BEN.id, False)
    turns = await here.history.read(turn.conversation or "", limit=10)  # type: ignore[arg-type]
    assert [said.text for said in turns][-2:] == [LAMP, "Every nine months [1]."]


async def test_an_invented_number_asks_nothing(here: World) -> None:
    post = await answered(here)
    await offered(here, post)
    for number in ("0", "2", "x", "", "-1"):
        await here.press(post, "choice", value=f"{post.button('choice').partition(':')[0]}:{number}")
    assert len(here.chat.public) == 1
    assert all("no longer stored" in each.text for each in here.chat.private)


async def test_who_cannot_read_the_place_asks_nothing(here: World) -> None:
    post = await answered(here)
    await offered(here, post)
    await here.press(post, "choice", person=BEN, directory=Everybody(gone={BEN.id}))
    assert len(here.chat.public) == 1


@pytest.mark.parametrize("fault", [ModelUnavailable("down"), TimeoutError()])
async def test_a_failing_model_changes_nothing(
    here: World, suggestions: Suggestions, fault: Exception
) -> None:
    suggestions.fault = fault
    post = await answered(here)
    await suggestions.ended.wait()
    pages = len(post.pages)
    await here.service.runner.answers.follow_ups.close()
    assert len(post.pages) == pages


async def test_an_answer_that_found_nothing_has_no_follow_ups(here: World, suggestions: Suggestions) -> None:
    here.says("I do not know.", task="answer")
    await here.ask("What does a zeppelin weigh?")
    assert suggestions.asked == []


async def test_a_repeated_answer_drops_the_questions_of_the_earlier_one(
    here: World, suggestions: Suggestions
) -> None:
    suggestions.may_answer.clear()
    post = await answered(here)
    suggestions.questions = ("What about London?",)
    await here.press(post, "regenerate")
    suggestions.may_answer.set()
    await offered(here, post)
    turn = await here.turns.find(post.button("why"))
    assert turn is not None
    assert turn.choices == ("What about London?",)
    assert post.buttons.count("choice") == 1
    assert len(suggestions.asked) == 2


async def test_a_deleted_question_takes_its_late_edit_with_it(here: World, suggestions: Suggestions) -> None:
    suggestions.may_answer.clear()
    post = await answered(here)
    turn = await here.turns.find(post.button("why"))
    assert turn is not None
    await here.service.runner.answers.follow_ups.cancel(turn.id)
    assert suggestions.ended.is_set()
    suggestions.may_answer.set()
    assert "choice" not in post.buttons


async def test_a_forgotten_answer_gets_no_late_edit(here: World, suggestions: Suggestions) -> None:
    suggestions.may_answer.clear()
    post = await answered(here)
    turn = await here.turns.find(post.button("why"))
    assert turn is not None
    await here.turns.drop(turn)
    pages = len(post.pages)
    suggestions.may_answer.set()
    late = [task for task in asyncio.all_tasks() if task.get_name().startswith("follow-ups")]
    await asyncio.wait(late)
    assert len(post.pages) == pages


async def test_an_answer_whose_words_are_forgotten_gets_no_late_edit(
    here: World, suggestions: Suggestions
) -> None:
    suggestions.may_answer.clear()
    post = await answered(here)
    turn = await here.turns.find(post.button("why"))
    assert turn is not None
    await here.turns.save(replace(turn, turn=None, citations=()))
    suggestions.may_answer.set()
    late = [task for task in asyncio.all_tasks() if task.get_name().startswith("follow-ups")]
    await asyncio.wait(late)
    assert "choice" not in post.buttons


async def test_a_question_back_has_buttons_that_answer_it(here: World, suggestions: Suggestions) -> None:
    first = await answered(here)
    await offered(here, first)
    options = ["Staff", "Contractors", "Staff", "https://evil.example", "Interns", "Guests", "Others"]
    asked = {"route": "clarify", "counter_question": "For whom?", "options": options}
    here.says(json.dumps(asked), task="understand")
    post = await here.ask("And for them?", place=first.place, in_thread=True)
    assert post.text == "For whom?"
    labels = [button.label for button in post.reply.buttons if button.name == "choice"]
    assert labels == ["Staff", "Contractors", "Interns", "Guests"]
    understood = {"question": "How long is the notice period for contractors?"}
    here.says(json.dumps(understood), task="understand")
    here.says("Four weeks [1].", task="answer")
    await here.press(post, "choice", ends=":2")
    assert here.last.text.startswith("> **Ann**: Contractors\n\nFour weeks")
    assert here.last.reply.notices == ("Understood as: How long is the notice period for contractors?",)


async def test_of_a_private_answer_only_its_person_may_press(here: World) -> None:
    post = await answered(here, private=True, place=CHANNEL)
    await offered(here, post)
    shown = len(here.chat.posts)
    await here.press(post, "choice", person=BEN)
    assert "no longer stored" in here.last.text
    here.says("Every nine months [1].", task="answer")
    await here.press(post, "choice")
    assert len(here.chat.posts) == shown + 2
    assert here.last.private is not None
    assert here.last.text == f"> {LAMP}\n\nEvery nine months [1]."
