"""Which answers a mind map is made of, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.conversation.answer_maps import AnswerMaps
from tests.unit.bot.asked import IN_THREAD, LEAVE, QUESTION
from tests.unit.bot.chatting import ANN, BEN, THREAD, Here, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import Person
    from tests.unit.bot.chatting import World

FIRST = "Everybody has 28 days of leave a year [1]."
SECOND = "Of the 28 days of leave none expires [1]."


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", LEAVE)
        for text in (FIRST, SECOND):
            made.says(text)
            await made.ask(QUESTION, **IN_THREAD)
        yield made


async def texts(here: World, person: Person, *, thread: bool) -> list[str]:
    parts = here.service.runner.read_aloud
    maps = AnswerMaps(
        audiences=parts.audiences,
        catalog=parts.catalog,
        history=parts.answers,  # pyright: ignore[reportArgumentType]
        turns=parts.turns,
    )
    found = await maps.shown_answers(THREAD, person, Here(here.chat, THREAD), thread=thread)
    assert all(answer.citations and answer.question for answer in found)
    return [answer.text for answer in found]


async def test_the_latest_answer_and_those_of_the_thread(here: World) -> None:
    assert await texts(here, ANN, thread=False) == [SECOND]
    assert await texts(here, ANN, thread=True) == [FIRST, SECOND]


async def test_a_private_answer_is_in_no_other_map(here: World) -> None:
    assert await texts(here, BEN, thread=False) == []
    assert await texts(here, BEN, thread=True) == [FIRST, SECOND]
    here.says("Privately, 28 days of leave a year [1].")
    await here.ask(QUESTION, person=BEN, private=True, **IN_THREAD)
    assert not any("Privately" in text for text in await texts(here, ANN, thread=True))
    assert not any(text in (FIRST, SECOND) for text in await texts(here, BEN, thread=False))


async def test_what_cites_unreadable_files_is_left_out(here: World) -> None:
    here.town.empty = True
    assert await texts(here, ANN, thread=True) == []
    assert await texts(here, ANN, thread=False) == []
