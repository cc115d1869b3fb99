"""A new thread is named by a model after its first answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ModelUnavailable
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, THREAD, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

QUESTION = "How long is the notice period in Berlin?"


class Titles:
    def __init__(self) -> None:
        self.title = "Notice period"
        self.fault: Exception | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, question: str, answer: str) -> str:
        self.asked.append((question, answer))
        await self.may_answer.wait()
        if self.fault is not None:
            raise self.fault
        return self.title


@pytest.fixture
def titles() -> Titles:
    return Titles()


@pytest.fixture
async def here(tmp_path: Path, titles: Titles) -> AsyncGenerator[World]:
    async with world(tmp_path, complete=True, understands=True, write_title=titles) as made:
        await made.file("notice.md", "The notice period is four weeks in Berlin.")
        yield made
        await made.service.runner.answers.titles.close()


async def settled(here: World) -> None:
    running = here.service.runner.answers.titles._tasks._running.values()
    if running:
        await asyncio.wait({*running}, timeout=10)


async def test_the_first_answer_names_the_thread_and_does_not_wait_for_it(
    here: World, titles: Titles
) -> None:
    titles.may_answer.clear()
    here.says("Four weeks [1].", task="answer")
    await here.ask(QUESTION, place=THREAD)
    assert here.chat.titles == []
    titles.may_answer.set()
    await settled(here)
    assert here.chat.titles == [(THREAD.thread, "Notice period")]
    assert titles.asked == [(QUESTION, "Four weeks [1].")]


async def test_only_the_first_answer_does(here: World, titles: Titles) -> None:
    for question in (QUESTION, "And how long is the notice period in Berlin?"):
        here.says("Four weeks [1].", task="answer")
        post = await here.ask(question, place=THREAD, in_thread=True)
        await settled(here)
    here.says("Four weeks [1].", task="answer")
    await here.press(post, "regenerate", person=BEN)
    await settled(here)
    assert len(titles.asked) == 1


async def test_what_has_no_thread_is_not_named(here: World, titles: Titles) -> None:
    here.says("Four weeks [1].", task="answer")
    await here.ask(QUESTION, place=CHANNEL)
    await settled(here)
    assert titles.asked == []


@pytest.mark.parametrize("fault", [ModelUnavailable("down"), TimeoutError(), None])
async def test_a_failing_model_changes_nothing(here: World, titles: Titles, fault: Exception | None) -> None:
    titles.fault, titles.title = fault, ""
    here.says("Four weeks [1].", task="answer")
    post = await here.ask(QUESTION, place=THREAD)
    await settled(here)
    assert len(titles.asked) == 1
    assert here.chat.titles == []
    assert "Four weeks" in post.text


async def test_a_question_withdrawn_meanwhile_names_nothing(here: World, titles: Titles) -> None:
    titles.may_answer.clear()
    here.says("Four weeks [1].", task="answer")
    await here.ask(QUESTION, place=THREAD)
    turn = await here.turns.latest_of(THREAD, ANN.id)
    assert turn is not None
    await here.turns.drop(turn)
    titles.may_answer.set()
    await settled(here)
    assert len(titles.asked) == 1
    assert here.chat.titles == []
