"""What a person sees of the service: one message that becomes the answer, and one plain sentence where it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.bot.chatting import THREAD, attachment, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import World

LEAVE = "# Leave\n\nEverybody has 28 days of leave a year.\n"
QUESTION = "How many days of leave do we have?"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        yield made


async def test_a_mention_becomes_a_cited_answer_in_one_message(here: World) -> None:
    await here.file("leave.md", LEAVE)
    here.says("You have 28 days", " [1", "].")
    post = await here.ask(QUESTION)
    assert len(here.chat.posts) == 1
    assert post.statuses[0] == "Looking…"
    assert post.text == "You have 28 days [1]."
    assert [source.title for source in post.reply.sources] == ["leave.md"]
    assert post.buttons == ["sources", "regenerate", "feedback", "feedback"]


async def test_a_file_in_a_thread_is_taken_in_and_asked_about(here: World) -> None:
    message = here.chat.message("", attachment("leave.md", LEAVE), place=THREAD, in_thread=True)
    await here.send(message)
    assert here.last.text == "- leave.md: 1 passage, searchable"
    here.says("28 days [1].")
    post = await here.ask(QUESTION, place=THREAD, in_thread=True)
    assert post.text == "28 days [1]."
