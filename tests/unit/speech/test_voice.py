from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from rag_engine.speech.audio_cache import AudioCache
from rag_engine.speech.types import AudioTooLong
from rag_engine.speech.voice import Voice

if TYPE_CHECKING:
    from pathlib import Path

OMITTED = {"code": "Code left out", "table": "Table left out"}
ANSWER = "The notice period is three months. It begins with the month after the letter [1]."


class Parrot:
    identity = "parrot"
    suffix = "wav"

    def __init__(self, characters: int = 1000, *, holds: int = 1000) -> None:
        self.characters = characters
        self._holds = holds
        self.said: list[tuple[str, str]] = []

    async def speak(self, text: str, *, language: str) -> bytes:
        self.said.append((language, text))
        if len(text) > self._holds:
            raise AudioTooLong
        return text.encode()


@pytest.fixture
def cache(tmp_path: Path) -> AudioCache:
    return AudioCache(tmp_path / "speech", most_bytes=300)


async def test_the_same_text_is_spoken_once(cache: AudioCache, tmp_path: Path) -> None:
    parrot = Parrot()
    voice = Voice(speaker=parrot, cache=cache)
    first = await voice.read(ANSWER, omitted=OMITTED)
    assert first is not None
    assert first.characters == 0
    assert (await voice.read(ANSWER, omitted=OMITTED)) == first
    [(language, text)] = parrot.said
    assert language == "en"
    assert "[1]" not in text
    [kept] = (tmp_path / "speech").iterdir()
    assert not kept.stat().st_mode & 0o077
    await voice.forget()
    assert not (tmp_path / "speech").exists()
    await voice.read(ANSWER, omitted=OMITTED)
    assert len(parrot.said) == 2


async def test_a_long_answer_is_cut_at_a_sentence_and_says_so(cache: AudioCache) -> None:
    spoken = await Voice(speaker=Parrot(40), cache=cache).read(ANSWER, omitted=OMITTED)
    assert spoken is not None
    assert spoken.content == b"The notice period is three months."
    assert spoken.characters == len(spoken.content)


async def test_audio_that_is_too_large_is_of_less_text(cache: AudioCache) -> None:
    spoken = await Voice(speaker=Parrot(holds=40), cache=cache).read(ANSWER, omitted=OMITTED)
    assert spoken is not None
    assert spoken.content == b"The notice period is three months."


async def test_an_answer_without_words_has_no_audio(cache: AudioCache) -> None:
    assert await Voice(speaker=Parrot(), cache=cache).read("[1] …", omitted=OMITTED) is None


def test_the_oldest_audio_makes_room(cache: AudioCache, tmp_path: Path) -> None:
    for number in range(5):
        cache.keep(bytes(100), str(number))
        for path in (tmp_path / "speech").iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10))
    assert [cache.find(str(number)) is not None for number in range(5)] == [False, False, True, True, True]


def test_old_audio_expires(cache: AudioCache, tmp_path: Path) -> None:
    cache.keep(b"words", "old")
    cache.keep(b"words", "new")
    old = min((tmp_path / "speech").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    os.utime(old, (0, time.time() - 2 * 86_400))
    assert cache.find("old") is None
    cache.expire()
    assert not old.exists()
    assert cache.find("new") == b"words"
