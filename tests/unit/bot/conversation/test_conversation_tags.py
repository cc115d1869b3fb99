"""A conversation gets tags from a model after its first answer, in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ModelUnavailable
from tests.unit.bot.asked import LEAVE, QUESTION
from tests.unit.bot.chatting import THREAD, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path


class Tags:
    def __init__(self) -> None:
        self.tags: tuple[str, ...] = ("Leave", "Staff rules")
        self.fault: Exception | None = None
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def __call__(self, question: str, answer: str) -> tuple[str, ...]:
        self.asked += 1
        await self.may_answer.wait()
        if self.fault is not None:
            raise self.fault
        return self.tags


@pytest.fixture
def tags() -> Tags:
    return Tags()


@pytest.fixture
async def here(tmp_path: Path, tags: Tags) -> AsyncGenerator[World]:
    async with world(tmp_path, choose_tags=tags) as made:
        await made.file("leave.md", LEAVE)
        yield made
        await made.service.runner.answers.tags.close()


async def settled(here: World) -> None:
    running = here.service.runner.answers.tags._tasks._running.values()
    if running:
        await asyncio.wait({*running}, timeout=10)


async def listed(here: World, tag: str) -> list[tuple[str, ...]]:
    return [each.tags for each in await here.history.conversations(limit=9, tag=tag)]


async def test_the_answer_does_not_wait_and_the_conversation_is_found_by_its_tags(
    here: World, tags: Tags
) -> None:
    tags.may_answer.clear()
    here.says("28 days [1].")
    assert (await here.ask(QUESTION, place=THREAD)).text == "28 days [1]."
    assert await listed(here, "leave") == []
    tags.may_answer.set()
    await settled(here)
    assert await listed(here, "leave") == await listed(here, "STAFF RULES") == [("Leave", "Staff rules")]
    assert await listed(here, "travel") == []


async def test_later_answers_ask_no_more_and_a_failure_is_tried_again(here: World, tags: Tags) -> None:
    tags.fault = ModelUnavailable()
    for asked in (1, 2, 2):
        here.says("28 days [1].")
        await here.ask(QUESTION, place=THREAD)
        await settled(here)
        assert tags.asked == asked
        tags.fault = None


async def test_a_private_conversation_gets_none(here: World, tags: Tags) -> None:
    here.says("28 days [1].")
    await here.ask(QUESTION, private=True)
    await settled(here)
    assert tags.asked == 0


async def test_tags_go_with_what_they_may_repeat(here: World) -> None:
    here.says("28 days [1].")
    await here.ask(QUESTION, place=THREAD)
    await settled(here)
    [found] = await here.history.conversations(limit=9)
    assert found.tags
    await here.history.forget([turn.id for turn in await here.history.read(found.id, limit=9)])
    assert await here.history.tags(found.id) == []
    await here.history.tag(found.id, ["late"])
    assert await here.history.tags(found.id) == []
