from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.conversation import triggers
from bot.messages.refusals import Refusal
from rag_engine.speech.audio_cache import AudioCache
from rag_engine.speech.voice import Voice
from tests.unit.bot.asked import IN_THREAD, LEAVE, QUESTION
from tests.unit.bot.chatting import ANN, BEN, THREAD, Here, world
from tests.unit.speech.test_voice import Parrot

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.conversation.read_aloud import ReadAloud
    from bot.port import Person, Reply
    from tests.unit.bot.chatting import World

ANSWER = "Everybody has 28 days of leave a year [1]."


class Slow(Parrot):
    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.ended_by: type[BaseException] | None = None

    async def speak(self, text: str, *, language: str) -> bytes:
        self.begun.set()
        try:
            await self.go_on.wait()
        except BaseException as error:
            self.ended_by = type(error)
            raise
        return await super().speak(text, language=language)


@pytest.fixture
def parrot() -> Parrot:
    return Parrot()


@pytest.fixture
async def here(tmp_path: Path, parrot: Parrot) -> AsyncGenerator[World]:
    voice = Voice(speaker=parrot, cache=AudioCache(tmp_path / "speech"))
    async with world(tmp_path, voice=voice) as made:
        await made.file("leave.md", LEAVE)
        made.says(ANSWER)
        await made.ask(QUESTION, **IN_THREAD)
        yield made


def aloud(here: World) -> ReadAloud:
    return here.service.runner.read_aloud


async def latest(here: World, person: Person) -> Reply:
    return await aloud(here).latest(THREAD, person, Here(here.chat, THREAD), "en")


@pytest.mark.parametrize("text", ["read that aloud", "Lies vor!", "/speak", "朗读", "Прочитай вслух."])
def test_what_asks_for_it(text: str) -> None:
    assert triggers.is_read_aloud(text)


@pytest.mark.parametrize("text", ["", "read", "Who read that aloud?", "Lies vor allem das Kapitel 3"])
def test_what_does_not(text: str) -> None:
    assert not triggers.is_read_aloud(text)


async def test_a_thread_gets_one_file_under_its_question(here: World, parrot: Parrot) -> None:
    calls = len(here.model.prompts)
    shown = await here.ask("Read that aloud", **IN_THREAD)
    [file] = shown.reply.files
    assert (file.name, file.media_type) == ("answer.wav", "audio/wav")
    assert file.content == b"Everybody has 28 days of leave a year."
    assert shown.text == "The answer read aloud."
    assert shown.statuses[-1] == "Reading aloud…"
    assert len(here.model.prompts) == calls
    again = await here.ask("Read that aloud", person=BEN, **IN_THREAD)
    assert again.reply.files[0].content == file.content
    assert len(parrot.said) == 1


async def test_the_command_reads_the_persons_own_answer(here: World) -> None:
    assert (await latest(here, ANN)).files
    with pytest.raises(Refusal, match="no answer of mine"):
        await latest(here, BEN)


async def test_a_private_answer_is_read_to_its_person_alone(here: World) -> None:
    here.says("Privately, 28 days of leave a year [1].")
    await here.ask(QUESTION, person=BEN, private=True, **IN_THREAD)
    assert b"Privately" in (await latest(here, BEN)).files[0].content
    shown = await here.ask("Read that aloud", **IN_THREAD)
    assert b"Privately" not in shown.reply.files[0].content


async def test_files_that_may_not_be_read_any_more_are_not_read_aloud(here: World, parrot: Parrot) -> None:
    here.town.empty = True
    with pytest.raises(Refusal, match="removed or closed"):
        await latest(here, ANN)
    shown = await here.ask("Read that aloud", **IN_THREAD)
    assert "removed or closed" in shown.text
    assert not parrot.said


async def test_stop_ends_it(here: World) -> None:
    slow = Slow()
    voice = aloud(here).voice
    assert voice is not None
    object.__setattr__(voice, "speaker", slow)
    asking = asyncio.create_task(here.ask("Read that aloud", **IN_THREAD))
    await asyncio.wait_for(slow.begun.wait(), 5)
    await here.chat.until(lambda: here.last.pages and "stop" in here.last.buttons)
    await here.press(here.last, "stop")
    shown = await asking
    assert slow.ended_by is asyncio.CancelledError
    assert "Stopped" in shown.text
    assert not shown.reply.files


async def test_an_answer_that_is_forgotten_meanwhile_leaves_no_audio(here: World, tmp_path: Path) -> None:
    slow = Slow()
    voice = aloud(here).voice
    assert voice is not None
    object.__setattr__(voice, "speaker", slow)
    reading = asyncio.create_task(latest(here, ANN))
    await asyncio.wait_for(slow.begun.wait(), 5)
    turn = await here.turns.latest_of(THREAD, ANN.id)
    assert turn is not None
    assert turn.turn
    await here.removals.turn(turn.turn)
    slow.go_on.set()
    with pytest.raises(Refusal, match="no answer of mine"):
        await reading
    assert not (tmp_path / "speech").exists()


async def test_without_a_voice_it_says_what_is_missing(tmp_path: Path) -> None:
    async with world(tmp_path) as silent:
        shown = await silent.ask("Read that aloud", **IN_THREAD)
    assert "FOOTNOTE_SPEECH__BASE_URL" in shown.text
    assert "espeak-ng" in shown.text
