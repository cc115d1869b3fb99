from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import AudioUnavailable, CorruptFile, RagError, RateLimited
from rag_engine.speech.types import Utterance
from rag_engine.transcribers import openai
from tests.doubles.audio_server import audio_server, wav

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.speech.types import Transcriber
    from tests.doubles.audio_server import AudioServer


@asynccontextmanager
async def served(**values: object) -> AsyncGenerator[tuple[AudioServer, Transcriber]]:
    async with audio_server() as server:
        settings = openai.Settings.model_validate({"base_url": server.url, "api_key": "k", **values})
        async with openai.connect(settings) as transcriber:
            yield server, transcriber


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    path = tmp_path / "salary talk with Ann.wav"
    path.write_bytes(wav(0.5))
    return path


def test_each_transcriber_is_tested() -> None:
    assert plugins.modules("rag_engine.transcribers") == ["openai"]


async def test_segments_have_their_times(spoken: Path) -> None:
    async with served(model="whisper-large") as (server, transcriber):
        server.hears = [(0.0, 1.5, "Good morning."), (1.5, 3.2, "The budget is closed."), (3.2, 3.3, " ")]
        transcript = await transcriber.transcribe(spoken, suffix="wav")
        [request] = server.heard
    assert transcript.seconds == 3.3
    assert transcript.utterances == (
        Utterance(start=0.0, end=1.5, text="Good morning."),
        Utterance(start=1.5, end=3.2, text="The budget is closed."),
    )
    assert request["content"] == wav(0.5)
    assert (request["model"], request["response_format"]) == ("whisper-large", "verbose_json")
    assert request["file"] == "audio.wav", "the name of the file stays here"


async def test_a_server_without_segments_gives_one(spoken: Path) -> None:
    async with served() as (server, transcriber):
        server.body = b'{"text": " All of it. ", "duration": 2.5, "language": "en"}'
        [only] = (await transcriber.transcribe(spoken, suffix="wav")).utterances
    assert (only.text, only.end) == ("All of it.", 2.5)


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (400, CorruptFile, "cannot read this as audio"),
        (401, AudioUnavailable, "FOOTNOTE_TRANSCRIPTION__API_KEY"),
        (404, AudioUnavailable, "FOOTNOTE_TRANSCRIPTION__BASE_URL"),
        (413, AudioUnavailable, "status 413"),
        (429, RateLimited, "slow down"),
        (503, AudioUnavailable, "out of order"),
    ],
)
async def test_a_server_that_refuses(spoken: Path, status: int, error: type[RagError], said: str) -> None:
    async with served() as (server, transcriber):
        server.status = status
        with pytest.raises(error, match=said):
            await transcriber.transcribe(spoken, suffix="wav")


@pytest.mark.parametrize(
    "body", [b"<html>", b'"text"', b'{"segments": [{"start": "x"}]}', b"null", b'{"text": 3}']
)
async def test_a_server_that_talks_nonsense(spoken: Path, body: bytes) -> None:
    async with served() as (server, transcriber):
        server.body = body
        with pytest.raises(AudioUnavailable, match="cannot be read"):
            await transcriber.transcribe(spoken, suffix="wav")


async def test_a_server_that_does_not_answer(spoken: Path) -> None:
    async with served(timeout=0.2) as (server, transcriber):
        server.waits = True
        with pytest.raises(AudioUnavailable, match="too long"):
            await transcriber.transcribe(spoken, suffix="wav")
