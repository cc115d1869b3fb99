"""Nobody uses up what everybody shares: questions and repeated answers have a limit per person and hour."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from prometheus_client import generate_latest

from bot.access.question_budget import QuestionBudget
from bot.observability import Observers
from bot.observability.metrics import Meters
from bot.port import NO_WORKSPACE, MessageEdited, Place
from rag_engine.errors import NotAllowed
from tests.doubles.town import Town
from tests.unit.bot.chatting import ADMIN, BEN, Here, attachment, world
from tests.unit.bot.conversation.leave import LEAVE

if TYPE_CHECKING:
    from pathlib import Path

    from bot.port import Directory, Person
    from tests.unit.bot.chatting import World


async def is_admin(person: Person, directory: Directory) -> bool:
    return person.id == ADMIN.id


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def told(here: World) -> list[str]:
    return [post.text for post in here.chat.private]


async def test_questions_of_one_person(tmp_path: Path) -> None:
    clock, meters = Clock(), Meters()
    budget = QuestionBudget(questions=2, exempt=is_admin, observers=Observers(sinks=(meters,)), clock=clock)
    async with world(tmp_path, budget=budget) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        for _ in range(2):
            assert (await here.ask("How many days of leave?")).text == "28 days [1]."
            clock.now += 600
        await here.ask("And how many days of leave?")
        assert told(here) == [
            "You have reached the limit for questions (2 an hour). Ask again in 40 minutes."
        ]
        assert len(here.chat.public) == 2, "it was not answered"
        edited = replace(here.chat.said[0], text="How many days of leave, please?")
        await here.service.on_message(MessageEdited(message=edited), Here(here.chat, edited.place, edited))
        assert len(told(here)) == 2, "an edited question is one more"
        assert (await here.ask("", attachment("more.md", LEAVE))).text.startswith("- "), (
            "files have their own limit"
        )
        for person in (BEN, ADMIN, ADMIN, ADMIN):
            assert (await here.ask("How many days of leave?", person=person)).text == "28 days [1]."
        clock.now += 3000
        assert (await here.ask("How many days of leave?")).text == "28 days [1]."
    counted = generate_latest(meters.registry).decode()
    assert 'footnote_over_budget_total{kind="question",platform="test"} 2.0' in counted


async def test_regenerate(tmp_path: Path) -> None:
    async with world(tmp_path, budget=QuestionBudget(repeats=1)) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        post = await here.ask("How many days of leave?")
        here.says("Still 28 days [1].")
        await here.press(post, "regenerate")
        assert post.text == "Still 28 days [1]."
        here.says("Everybody has 28 days [1].")
        await here.press(post, "regenerate")
        assert post.text == "Still 28 days [1]."
        assert told(here)[-1].startswith("You have reached the limit for repeated answers (1 an hour).")
        await here.press(post, "regenerate", person=BEN)
        assert post.text == "Everybody has 28 days [1].", "everyone has a budget"


async def test_sources_and_their_pages(tmp_path: Path) -> None:
    meters = Meters()
    budget = QuestionBudget(sources=1, exempt=is_admin, observers=Observers(sinks=(meters,)))
    async with world(tmp_path, budget=budget) as here:
        await here.file("leave.md", LEAVE)
        here.says("28 days [1].")
        post = await here.ask("How many days of leave?")
        await here.press(post, "sources")
        assert "Everybody has 28 days" in told(here)[-1]
        await here.press(post, "sources")
        assert told(here)[-1].startswith("You have reached the limit for Sources (1 an hour). Try again in")
        for person in (BEN, ADMIN, ADMIN):
            await here.press(post, "sources", person=person)
            assert "Everybody has 28 days" in told(here)[-1]
    counted = generate_latest(meters.registry).decode()
    assert 'footnote_over_budget_total{kind="sources",platform="test"} 1.0' in counted


async def test_other_workspaces_and_direct_messages_use_the_same_budget() -> None:
    budget = QuestionBudget(questions=2)
    places = [Place(platform="discord", workspace=name, channel="C") for name in ("1", "2", NO_WORKSPACE)]
    for place in places[:2]:
        await budget.spend("question", BEN, place, Town())
    with pytest.raises(NotAllowed):
        await budget.spend("question", BEN, places[2], Town())
    await budget.spend("question", ADMIN, places[2], Town())
