"""What people say besides the reason of a rating is kept with it, and nothing else is taken for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.store import feedback
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.unit.bot.chatting import Post


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path) as made:
        await made.file("leave.md", "# Leave\n\nThe leave is 28 days.")
        made.says("The leave is 28 days [1].")
        yield made


async def notes(here: World) -> list[str]:
    return [each.note for each in await feedback.listed(here.stores.experts._database)]


async def replies(here: World, post: Post, text: str, **values: object) -> None:
    await here.ask(text, place=post.place, in_thread=True, addressed=False, **values)


async def test_a_reply_that_begins_with_feedback_is_kept_with_the_rating(here: World) -> None:
    post = await here.ask("How long is the leave?")
    await here.press(post, "feedback", ends=":down")
    await here.press(here.last, "reason", ends=":other")
    assert "`feedback: …`" in here.last.text
    await replies(here, post, "Feedback: it is 30 days since May.\nReally.")
    assert await notes(here) == ["it is 30 days since May.\nReally."]
    assert here.last.text.startswith("Thank")
    await replies(here, post, "feedback： 31 days")
    assert await notes(here) == ["31 days"]


async def test_without_a_rating_it_is_a_message_like_any_other(here: World) -> None:
    post = await here.ask("How long is the leave?")
    asked = len(here.chat.public)
    await here.ask("feedback: is the leave 28 days?", place=post.place, in_thread=True)
    assert len(here.chat.public) == asked + 1
    await here.press(post, "feedback", person=BEN, ends=":down")
    await replies(here, post, "What about feedback: now?", person=ANN)
    assert await notes(here) == [""]


async def test_another_rating_drops_it(here: World) -> None:
    post = await here.ask("How long is the leave?")
    await here.press(post, "feedback", ends=":down")
    await replies(here, post, "feedback: wrong")
    await here.press(post, "feedback", ends=":up")
    assert await notes(here) == [""]
    await here.press(post, "feedback", person=BEN, ends=":down")
    await here.ask("feedback: elsewhere", place=CHANNEL, person=BEN, addressed=False)
    assert await notes(here) == ["", ""]
