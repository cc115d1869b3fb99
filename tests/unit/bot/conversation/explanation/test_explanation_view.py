"""*Why this?*: what was understood, searched, ranked and cut, for the person who presses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.conversation.explanation.explanation_view import AT_ONCE, ExplanationView
from tests.unit.bot.chatting import ANN, BEN, CHANNEL, Everybody, Here, Post, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import Directory, Person, Room

TEXT = """# Leave

The notice period is four weeks in Berlin. Ask *Ada* about it.

# Lamp

The lamp is changed every nine months."""


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path, complete=True, understands=True) as made:
        await made.file("notice.md", TEXT)
        yield made


async def answered(here: World, **values: object) -> Post:
    here.says("Four weeks [1].", task="answer")
    return await here.ask("How long is the notice period in Berlin?", **values)


async def explained(
    here: World, post: Post, *, person: Person = ANN, value: str = "", directory: Directory | None = None
) -> str:
    await here.press(post, "why", person=person, value=value, directory=directory)
    return here.last.text


async def test_it_shows_what_was_searched_and_why_each_passage_ranks(here: World) -> None:
    text = await explained(here, await answered(here), person=BEN)
    assert here.last.private == BEN
    assert "- Question: How long is the notice period in Berlin?" in text
    assert "- Searched in: \\#general" in text
    assert "- Found: 2 by words, 2 by meaning" in text
    assert "Weight in the ranking: words" in text
    assert "- Written by: scripted" in text
    assert "**1.** notice.md, § Leave" in text
    assert "cited as \\[1\\] · words: no. 1 (" in text
    assert "meaning: no. " in text
    assert "The answer rests on it for: Four weeks." in text
    assert "> … The notice period is four weeks in Berlin. Ask Ada about it." in text
    assert here.last.reply.links == frozenset()


async def test_a_completed_question_and_further_queries_are_shown(here: World) -> None:
    first = await answered(here)
    understood = {"question": "How often is the lamp changed?", "queries": ["lamp interval"]}
    here.says(json.dumps(understood), task="understand")
    here.says("Every nine months [1].", task="answer")
    post = await here.ask("And the lamp?", place=first.place, in_thread=True)
    text = await explained(here, post)
    assert "- Question: And the lamp?\n- Understood as: How often is the lamp changed?" in text
    assert "- Also searched for: lamp interval" in text


async def test_the_filter_of_the_question_is_shown(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    post = await here.ask("How long is the notice period in Berlin? type:md")
    text = await explained(here, post)
    assert "- Searched in: \\#general\n" in text
    assert "- Only: type:md\n" in text
    assert "language model took" not in text
    assert "left out" not in text


async def test_a_filter_that_no_file_meets_is_shown(here: World) -> None:
    post = await here.ask("How long is the notice period in Berlin? type:pdf")
    assert "- Only: type:pdf\n" in await explained(here, post)


async def asked_with_a_filter_of_the_model(here: World, value: str) -> Post:
    await here.file("london.txt", "The notice period is six weeks in London.")
    first = await answered(here)
    understood = {
        "question": "How long is it in London?",
        "filter": [{"key": "type", "op": "=", "value": value}],
    }
    here.says(json.dumps(understood), task="understand")
    here.says("Six weeks [1].", task="answer")
    return await here.ask("And in London?", place=first.place, in_thread=True)


async def test_a_filter_of_the_model_is_shown_as_one(here: World) -> None:
    text = await explained(here, await asked_with_a_filter_of_the_model(here, "txt"))
    assert "- Only: type:txt\n- The language model took this filter from the question.\n" in text


async def test_a_filter_that_was_left_out_is_shown(here: World) -> None:
    text = await explained(here, await asked_with_a_filter_of_the_model(here, "pdf"))
    assert "- Filters left out: type:pdf\n" in text
    assert "Only:" not in text


@pytest.mark.parametrize("value", ["txt", "pdf"])
async def test_a_filter_of_the_model_is_hidden_from_who_may_no_longer_read_the_files(
    here: World, value: str
) -> None:
    post = await asked_with_a_filter_of_the_model(here, value)
    here.town.empty = True
    assert f"type:{value}" not in await explained(here, post)


async def test_it_says_that_nothing_was_searched(here: World) -> None:
    first = await answered(here)
    here.says(json.dumps({"route": "chat"}), task="understand")
    here.says("Glad that it helped!", task="answer")
    post = await here.ask("That one saved my day, brilliant work", place=first.place, in_thread=True)
    text = await explained(here, post)
    assert "- Nothing was searched for this answer." in text
    assert "Found" not in text


async def test_a_file_that_may_no_longer_be_read_is_not_named(here: World) -> None:
    post = await answered(here)
    here.town.empty = True
    text = await explained(here, post)
    assert "notice.md" not in text
    assert "four weeks in Berlin" not in text
    assert "general" not in text
    assert "This file is no longer here, or may no longer be read here." in text


async def test_who_cannot_read_the_place_sees_nothing(here: World) -> None:
    post = await answered(here)
    text = await explained(here, post, person=BEN, directory=Everybody(gone={BEN.id}))
    assert text == "You cannot read the place of this button now, so nothing was done."


async def test_of_a_private_answer_only_its_person_is_shown_it(here: World) -> None:
    post = await answered(here, private=True)
    assert "too old" not in await explained(here, post)
    assert "Question" not in await explained(here, post, person=BEN)


async def test_a_long_list_has_pages(here: World) -> None:
    for number in range(AT_ONCE + 1):
        await here.file(
            f"period{number}.md", f"The notice period of team {number} is {number} weeks in Berlin."
        )
    post = await answered(here)
    text = await explained(here, post)
    assert "**5.**" in text
    assert "**6.**" not in text
    (more,) = here.last.reply.buttons
    assert more.label == "More"
    text = await explained(here, post, value=more.value)
    assert "Question" not in text
    assert "**6.**" in text


async def test_the_command_explains_the_persons_latest_answer_in_the_place(here: World) -> None:
    await answered(here)
    view = ExplanationView(audiences=here.town, catalog=here.catalog, history=here.history, turns=here.turns)
    room: Room = Here(here.chat, CHANNEL)
    shown = await view.latest(CHANNEL, ANN, room, "de")
    assert "- Frage: How long is the notice period in Berlin?" in shown.text
    assert "- Gesucht in: \\#general" in shown.text
    assert (await view.latest(CHANNEL, BEN, room, "en")).text.startswith("You have no answer of mine here")
    elsewhere = replace(CHANNEL, thread="other")
    assert (await view.latest(elsewhere, ANN, room, "en")).text.startswith("You have no answer of mine")


async def test_after_the_trace_is_forgotten_it_says_so(here: World) -> None:
    post = await answered(here)
    turn = await here.turns.find(post.button("why"))
    assert turn is not None
    assert turn.turn is not None
    await here.removals.turn(turn.turn)
    assert "no longer stored" in await explained(here, post)
