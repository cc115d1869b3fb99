"""What a person sees of a filter, and how it is taken off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bot.port import Command
from bot.store.places import PlaceSettings
from tests.unit.bot.chatting import ANN, CHANNEL, Here, World, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

BERLIN = "The notice period is four weeks in Berlin."
LONDON = "The notice period is six weeks in London."


@pytest.fixture
async def here(tmp_path: Path) -> AsyncGenerator[World]:
    async with world(tmp_path, understands=True) as made:
        await made.file("berlin.md", BERLIN)
        await made.file("london.txt", LONDON)
        yield made


def passages(here: World) -> str:
    return here.model.prompts[-1][1].messages[-1].content


async def test_a_filter_limits_the_answer_and_is_shown(here: World) -> None:
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("How long is the notice period? type:txt")
    assert post.reply.notices == ("Only: type:txt",)
    assert "London" in passages(here)
    assert "Berlin" not in passages(here)
    assert "type:txt" not in passages(here)


async def test_a_button_asks_again_without_the_filter(here: World) -> None:
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("How long is the notice period? in:london.txt")
    here.says("Four weeks [1].", task="answer")
    await here.press(post, "without_filter")
    assert "Berlin" in passages(here)
    assert "in:london" not in passages(here)
    assert not any(notice.startswith("Only:") for notice in here.last.reply.notices)
    assert "without_filter" not in here.last.buttons


@pytest.mark.parametrize(
    "command",
    [
        {"line": "channel: --type txt after:2001 How long is the notice period?"},
        {
            "values": {
                "question": "How long is the notice period?",
                "where": "channel",
                "type": "txt",
                "after": "2001",
            }
        },
    ],
)
async def test_options_of_the_command_are_filters(here: World, command: dict[str, Any]) -> None:
    here.says("Six weeks [1].", task="answer")
    asked = Command(id="c1", name="ask", place=CHANNEL, person=ANN, **command)
    await here.service.on_command(asked, Here(here.chat, CHANNEL))
    assert here.last.reply.notices == ("Only: type:txt, after:2001",)
    assert "Berlin" not in passages(here)
    await here.press(here.last, "without_filter")
    assert not any(notice.startswith("Only:") for notice in here.last.reply.notices)


async def test_a_filter_that_no_file_meets_is_said_without_a_search(here: World) -> None:
    post = await here.ask("How long is the notice period? type:pdf")
    assert post.text.startswith("No file matches the filter: type:pdf.")
    assert "without_filter" in post.buttons
    assert here.model.prompts == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("notice after:2025-01-01 before:2024-01-01", "contradicts itself"),
        (f"notice tag:{'x' * 10_000}", "has 10,000 characters, and at most 200 are taken"),
        ("notice after:soon", "is no date for a filter"),
    ],
)
async def test_an_impossible_filter_is_answered_in_one_sentence(here: World, text: str, said: str) -> None:
    post = await here.ask(text)
    assert said in post.text
    assert here.model.prompts == []


async def test_a_models_filter_is_shown_and_can_be_taken_off(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    first = await here.ask("How long is the notice period in Berlin?")
    filter_ = [{"key": "type", "op": "=", "value": "txt"}]
    here.says(json.dumps({"question": "How long is it in London?", "filter": filter_}), task="understand")
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("And in London?", place=first.place, in_thread=True)
    assert post.reply.notices == ("Understood as: How long is it in London?", "Only: type:txt")
    assert "Berlin" not in passages(here).partition("<passage")[2]
    here.says(json.dumps({"question": "How long is it in London?", "filter": filter_}), task="understand")
    here.says("Six weeks again [1].", task="answer")
    await here.press(post, "without_filter")
    assert here.last.text.startswith("Six weeks again [1].")
    assert here.last.reply.notices[0] == "Understood as: How long is it in London?"
    assert not any(notice.startswith("Only:") for notice in here.last.reply.notices)


async def test_marks_in_what_was_understood_are_left_to_each_platform(here: World) -> None:
    here.says("Four weeks [1].", task="answer")
    first = await here.ask("How long is the notice period in Berlin?")
    here.says(json.dumps({"question": "How long is it for R&D (#2) in London?"}), task="understand")
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("And in London?", place=first.place, in_thread=True)
    assert post.reply.notices[0] == "Understood as: How long is it for R&D (#2) in London?"
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("How long is the notice period? in:[l]*")
    assert post.reply.notices[0] == "Only: in:[l]*"


def save(here: World, filter_: str) -> None:
    here.town.settings_of |= {CHANNEL.channel: PlaceSettings(filter=filter_)}


async def test_a_channels_own_filter_holds_at_each_question(here: World) -> None:
    save(here, "type:txt\nname contains london")
    here.says("Six weeks [1].", task="answer")
    post = await here.ask("How long is the notice period?")
    assert post.reply.notices == ("Only: type:txt, name contains london",)
    assert "Berlin" not in passages(here)


async def test_a_broken_filter_of_a_channel_is_left_out_and_said(here: World) -> None:
    save(here, "((\ntype:md")
    here.says("Four weeks [1].", task="answer")
    post = await here.ask("How long is the notice period?")
    assert post.reply.notices == (
        "Only: type:md",
        "This channel's filter (( cannot be read and was left out.",
    )
