"""Starting over: later questions know nothing of what was said before. And buttons: who cannot read the place now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.conversation import triggers
from bot.maintenance.data_files import CHAT, migrations
from bot.port import WriteRefused
from bot.store.topics import Topics
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.unit.bot.asked import LEAVE, QUESTION, here, prompt
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, DIRECT, Everybody

if TYPE_CHECKING:
    from pathlib import Path

    from bot.port import Place
    from tests.unit.bot.chatting import World

__all__ = ["here"]  # a fixture


@pytest.mark.parametrize(
    "text",
    [
        "/new",
        "new topic",
        " New  topic. ",
        "Neues Thema!",
        "新しい話題",
        "start over",
        "Новая тема",
        "새 주제",
    ],
)
def test_what_starts_over(text: str) -> None:
    assert triggers.is_new_topic(text)


@pytest.mark.parametrize("text", ["", "new", "What is the new topic?", "news", "a new topic for the meeting"])
def test_what_does_not(text: str) -> None:
    assert not triggers.is_new_topic(text)


async def _asked(here: World, answer: str, place: Place, **more: object) -> str:
    here.says(answer)
    await here.ask(QUESTION, place=place, **more)
    return prompt(here)


@pytest.mark.parametrize("place", [DIRECT, CHANNEL], ids=["direct", "channel"])
async def test_a_message_starts_over(here: World, place: Place) -> None:
    more = {"in_thread": False}
    await here.file("leave.md", LEAVE, place=place)
    await _asked(here, "A year has 28 of them [1].", place, **more)
    assert "A year has 28" in await _asked(here, "Yes [1].", place, **more)
    calls = len(here.model.prompts)
    told = await here.ask("New topic", place=place, **more)
    assert told.text == "A new topic: I no longer refer to what was said before."
    assert len(here.model.prompts) == calls
    again = await _asked(here, "Thirty [1].", place, **more)
    assert "A year has 28" not in again
    assert "Thirty" in await _asked(here, "Yes [1].", place, **more)


async def test_a_thread_forgets_also_what_others_said_in_it(here: World) -> None:
    place = here.chat.message("x").place
    first = await here.ask("The launch code is zanthorp.", place=place, in_thread=True)
    assert first
    assert "zanthorp" in await _asked(here, "No [1].", place, in_thread=True)
    await here.ask("/new", place=place, in_thread=True)
    assert "zanthorp" not in await _asked(here, "No [1].", place, in_thread=True)


async def test_each_persons_private_questions_start_over_alone(here: World) -> None:
    topics = here.stores.topics
    await topics.start(CHANNEL, ANN)
    fresh = await topics.current(CHANNEL, ANN)
    assert fresh.started_at
    assert fresh.conversation.startswith("test:w:general:")
    assert fresh.conversation.endswith(":ask:U1")
    for other in (await topics.current(CHANNEL, BEN), await topics.current(CHANNEL)):
        assert not other.started_at
    await topics.start(CHANNEL, ANN)
    assert (await topics.current(CHANNEL, ANN)).conversation != fresh.conversation


async def test_a_clock_that_stops_or_goes_back_repeats_no_topic(tmp_path: Path) -> None:
    async with connect(new_database(tmp_path / "chat.sqlite"), scripts=migrations()[CHAT]) as database:
        seen: list[str] = []
        for now in (5.0, 5.0, 4.0, 5.0):
            topics = Topics(database, clock=lambda now=now: now)
            await topics.start(CHANNEL, ANN)
            seen.append((await topics.current(CHANNEL, ANN)).conversation)
    assert len(set(seen)) == 4


BUTTONS = ("sources", "regenerate", "feedback", "stop", "promote")


@pytest.mark.parametrize("name", BUTTONS)
async def test_who_cannot_read_the_place_now_presses_in_vain(here: World, name: str) -> None:
    here.says("28 days [1].")
    post = await here.ask(QUESTION)
    calls, before = len(here.model.prompts), post.text
    directory = Everybody(gone={BEN.id})
    value = post.button("sources")
    await here.press(post, name, person=BEN, value=value, directory=directory)
    assert here.last.private == BEN
    assert here.last.text == "You cannot read the place of this button now, so nothing was done."
    directory.refuses = WriteRefused("Slack refused conversations.info: no_permission.")
    await here.press(post, name, person=ANN, value=value, directory=directory)
    assert here.last.text.startswith("I could not check whether you may read this place")
    assert here.last.text.endswith("conversations.info: no_permission.")
    assert (len(here.model.prompts), post.text) == (calls, before)
