"""What is said into the microphone is answered as a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.transcribers import openai
from tests.doubles.audio_server import audio_server, wav
from tests.unit.bot.asked import IN_THREAD, LEAVE, QUESTION
from tests.unit.bot.chatting import DIRECT, attachment, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import Attachment
    from tests.doubles.audio_server import AudioServer
    from tests.unit.bot.chatting import World


@pytest.fixture
async def server() -> AsyncGenerator[AudioServer]:
    async with audio_server() as made:
        made.hears = [(0.0, 2.0, "How many days of leave"), (2.0, 3.0, "do we have?")]
        yield made


@pytest.fixture
async def here(tmp_path: Path, server: AudioServer) -> AsyncGenerator[World]:
    async with (
        openai.connect(openai.Settings(base_url=server.url, timeout=5)) as transcriber,
        world(tmp_path, transcriber=transcriber) as made,
    ):
        for place in (DIRECT, IN_THREAD["place"]):
            await made.file("leave.md", LEAVE, place=place)
        made.says("28 days [1].")
        yield made


def voice(**values: object) -> Attachment:
    return attachment("voice-message.wav", wav(0.3), voice=True, **values)


async def test_a_voice_message_is_heard_and_answered(here: World, server: AudioServer) -> None:
    shown = await here.ask("", voice(), place=DIRECT)
    assert shown.text == f"> Heard as: {QUESTION}\n\n28 days [1]."
    assert "Listening…" in shown.statuses
    assert not shown.reply.files
    [request] = server.heard
    assert request["content"] == wav(0.3)
    [turn] = [turn for turn in [await here.turns.latest_of(DIRECT, "U1")] if turn]
    assert turn.question == QUESTION
    base = await here.town.own(DIRECT)
    titles = [record.document.title for record in await here.catalog.records(base.id)]
    assert titles == ["leave.md"], "the audio is no file of the place"
    await here.press(shown, "regenerate")
    assert here.last.text.endswith("28 days [1].")
    assert len(server.heard) == 1


async def test_a_follow_up_in_a_thread_of_one_person_is_heard(here: World) -> None:
    await here.ask(QUESTION, **IN_THREAD)
    shown = await here.ask("", voice(), addressed=False, **IN_THREAD)
    assert shown.text.startswith("> Heard as:")


async def test_what_is_said_to_others_is_not_heard(here: World, server: AudioServer) -> None:
    await here.ask(QUESTION, **IN_THREAD)
    posts = len(here.chat.posts)
    await here.send(here.chat.message("", voice(), addressed=False))
    assert len(here.chat.posts) == posts
    assert not server.heard


async def test_stop_said_aloud_is_small_talk_said_aloud(here: World, server: AudioServer) -> None:
    server.hears = [(0.0, 1.0, "Thank you!")]
    shown = await here.ask("", voice(), place=DIRECT)
    assert shown.text == "You are welcome. Ask me if there is more."


async def test_words_and_voice_are_one_question(here: World) -> None:
    await here.ask("About leave.md:", voice(), place=DIRECT)
    turn = await here.turns.latest_of(DIRECT, "U1")
    assert turn is not None
    assert turn.question == f"About leave.md:\n{QUESTION}"


@pytest.mark.parametrize(
    ("status", "hears", "said"),
    [
        (200, (), "I heard no words in this voice message."),
        (500, (), "The audio server is out of order (status 500); try again in a moment."),
        (415, (), "The audio server cannot read this as audio"),
    ],
)
async def test_what_went_wrong_is_said(
    here: World, server: AudioServer, status: int, hears: tuple[()], said: str
) -> None:
    server.status, server.hears = status, hears
    shown = await here.ask("", voice(), place=DIRECT)
    assert said in shown.text


async def test_without_a_server_it_names_the_setting(tmp_path: Path) -> None:
    async with world(tmp_path) as deaf:
        shown = await deaf.ask("", voice(), place=DIRECT)
    assert "FOOTNOTE_TRANSCRIPTION__BASE_URL" in shown.text
    assert "regenerate" in shown.buttons
