"""What people say besides the reason of a rating is kept with it, and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.port import Action
from bot.store import feedback
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, Here, World, world

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
    await here.press(here.last, "form_reason", ends=":other")
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


async def test_the_text_of_the_form_is_kept_with_the_reason(here: World) -> None:
    post = await here.ask("How long is the leave?")
    await here.press(post, "feedback", ends=":down")
    action = Action(
        id="a1",
        name="form_reason",
        value=here.last.button("form_reason").replace(":wrong", ":other"),
        place=post.place,
        person=ANN,
    )
    room = Here(here.chat, post.place)
    form = await here.service.form(action, room)
    assert form is not None
    assert (form.title, form.submit) == ("Something else", "Send")
    assert await here.service.form(replace(action, value="unknown:other"), room) is None
    await here.service.on_action(replace(action, text=" It is 30 days. "), room)
    (rated,) = await feedback.listed(here.stores.experts._database)
    assert (rated.reason, rated.note) == ("other", "It is 30 days.")
    assert here.last.text.startswith("Thank you, that is noted")
