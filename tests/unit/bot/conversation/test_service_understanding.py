"""What a person sees of how a message was understood."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import ModelUnavailable
from tests.unit.bot.chatting import Post, World, attachment, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

TEXT = "The notice period is four weeks in Berlin.\n\nThe notice period is six weeks in *London*."


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path, understands=True) as made:
        await made.file("notice.md", TEXT)
        yield made


def understands(here: World, **values: object) -> None:
    here.says(json.dumps(values), task="understand")


async def answered(here: World) -> Post:
    here.says("Four weeks [1].", task="answer")
    return await here.ask("How long is the notice period in Berlin?")


async def test_a_completed_question_is_shown(here: World) -> None:
    first = await answered(here)
    understands(here, question="How long is the notice period in *London*?")
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("And in London?", place=first.place, in_thread=True)
    assert post.text.startswith("Six weeks [1].")
    assert post.reply.notices == ("Understood as: How long is the notice period in *London*?",)


async def test_a_button_searches_for_the_words_as_they_are(here: World) -> None:
    first = await answered(here)
    understands(here, question="How long is the notice period in *London*?")
    post = await here.ask("And in London?", place=first.place, in_thread=True)
    calls = len(here.model.prompts)
    await here.press(post, "own_words")
    assert [task for task, _ in here.model.prompts[calls:]] == ["answer"]
    assert here.last.reply.notices == ()
    assert "own_words" not in here.last.buttons
    assert "regenerate" in here.last.buttons


async def test_a_spelling_correction_is_said_and_can_be_undone(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    here.says("Four weeks again [1].", task="answer")
    post = await here.ask("How long is the notcie in Berlin?")
    assert post.reply.notices == ("Searched for “notice” instead of “notcie”.",)
    assert "own_words" in post.buttons
    await here.press(post, "own_words")
    assert here.last.text.startswith("Four weeks again [1].")
    assert here.last.reply.notices == ()
    assert "own_words" not in here.last.buttons


async def test_a_correction_is_said_in_the_language_of_the_question(here: World) -> None:
    await here.file("urlaub.md", "Der Jahresurlaub beträgt dreißig Tage.")
    here.says("Dreißig Tage [1].", task="answer")
    post = await here.ask("Wie viele Tage beträgt der Jahresurlab?")
    assert post.reply.notices == (
        "Gesucht wurde „Jahresurlaub“ statt „Jahresurlab“.",
        "Gelesen, nicht zitiert: notice.md",
    )


async def test_a_question_back_is_no_failure_to_find(here: World) -> None:
    first = await answered(here)
    understands(here, route="clarify", question="", counter_question="For staff or for contractors?")
    post = await here.ask("And for them?", place=first.place, in_thread=True)
    assert post.text == "For staff or for contractors?"
    assert post.reply.notices == ()


async def test_small_talk_has_no_sources_and_no_advice(here: World) -> None:
    first = await answered(here)
    understands(here, route="chat", question="")
    here.says("Glad that it helped!", task="answer")
    post = await here.ask("That one saved my day, brilliant work", place=first.place, in_thread=True)
    assert post.text == "Glad that it helped!"
    assert post.reply.notices == ()
    assert "sources" not in post.buttons
    prompt = here.model.prompts[-1][1]
    assert prompt.passages == ()
    assert "Say nothing about what the files hold" in prompt.messages[0].content


async def test_an_edit_asks_for_the_answer_before_in_another_form(here: World) -> None:
    first = await answered(here)
    here.says("| Berlin | four weeks [1] |", task="answer")
    post = await here.ask("as a table", place=first.place, in_thread=True)
    assert post.text.startswith("| Berlin")
    assert [task for task, _ in here.model.prompts] == ["answer", "answer"]
    last = here.model.prompts[-1][1]
    assert "Write your last answer again" in last.messages[-1].content
    assert "four weeks in Berlin" in last.messages[-1].content
    assert last.messages[-2].content == "Four weeks."


async def test_the_places_are_listed_in_the_language_of_the_sentence_around_them(here: World) -> None:
    here.town.named = True
    first = await answered(here)
    await here.ask("", attachment("more.md", "The gate opens at seven."), place=first.place, in_thread=True)
    understands(here, question="Wie lange braucht der Neptun um die Sonne?")
    here.says(fault=ModelUnavailable("The language model does not answer."), task="answer")
    post = await here.ask("And what about that one?", place=first.place, in_thread=True)
    assert post.text.startswith("Das habe ich nicht gefunden. Durchsucht: general und general m1.")
