from __future__ import annotations

import io
import shutil
import struct
import wave
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import AudioUnavailable, BadSettings, RagError, RateLimited, UserError
from rag_engine.speakers import espeak, openai
from rag_engine.speech.types import AudioTooLong
from tests.doubles.audio_server import audio_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.speech.types import Speaker
    from tests.doubles.audio_server import AudioServer

needs_espeak = pytest.mark.skipif(not shutil.which("espeak-ng"), reason="espeak-ng is not installed")


@asynccontextmanager
async def served(**values: object) -> AsyncGenerator[tuple[AudioServer, Speaker]]:
    async with audio_server() as server:
        settings = openai.Settings.model_validate({"base_url": server.url, "api_key": "k", **values})
        async with openai.connect(settings) as speaker:
            yield server, speaker


def sound(audio: bytes) -> tuple[float, float]:
    """Seconds and mean loudness."""
    with wave.open(io.BytesIO(audio)) as file:
        count = file.getnframes()
        samples = struct.unpack(f"<{count}h", file.readframes(count))
        return count / file.getframerate(), (sum(each * each for each in samples) / max(1, count)) ** 0.5


def test_each_speaker_is_tested() -> None:
    assert plugins.modules("rag_engine.speakers") == ["espeak", "openai"]


async def test_a_server_reads_aloud() -> None:
    async with served(voice="coral", model="tts", format="wav") as (server, speaker):
        audio = await speaker.speak("Three months of notice.", language="en")
        seconds, loudness = sound(audio)
        assert seconds == pytest.approx(23 / 15, abs=0.01)
        assert loudness > 1000
        [request] = server.spoken
        assert request == {
            "input": "Three months of notice.",
            "model": "tts",
            "voice": "coral",
            "response_format": "wav",
            "key": "Bearer k",
        }


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (401, AudioUnavailable, "FOOTNOTE_SPEECH__API_KEY"),
        (404, AudioUnavailable, "FOOTNOTE_SPEECH__MODEL"),
        (400, AudioUnavailable, "status 400"),
        (429, RateLimited, "slow down"),
        (500, AudioUnavailable, "out of order"),
    ],
)
async def test_a_server_that_refuses(status: int, error: type[RagError], said: str) -> None:
    async with served() as (server, speaker):
        server.status = status
        with pytest.raises(error, match=said):
            await speaker.speak("Words.", language="en")


@pytest.mark.parametrize("body", [b"", b'{"audio": null}'])
async def test_a_server_that_sends_no_audio(body: bytes) -> None:
    async with served() as (server, speaker):
        server.body = body
        with pytest.raises(AudioUnavailable, match="cannot be read"):
            await speaker.speak("Words.", language="en")


async def test_a_server_that_does_not_answer() -> None:
    async with served(timeout=0.2) as (server, speaker):
        server.waits = True
        with pytest.raises(AudioUnavailable, match="too long"):
            await speaker.speak("Words.", language="en")
    async with openai.connect(openai.Settings(base_url="http://127.0.0.1:9/v1", timeout=1)) as gone:
        with pytest.raises(AudioUnavailable, match="reached"):
            await gone.speak("Words.", language="en")


@needs_espeak
@pytest.mark.process
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The notice period is three months."),
        ("de", "Die Kündigungsfrist beträgt drei Monate."),
        ("zh", "通知期为三个月。"),
        ("", "Three months. [[h@'loU]] -v de"),
    ],
)
async def test_espeak_is_heard(language: str, text: str) -> None:
    async with espeak.connect(espeak.Settings()) as speaker:
        seconds, loudness = sound(await speaker.speak(text, language=language))
    assert 1 < seconds < 12
    assert loudness > 500


@needs_espeak
@pytest.mark.process
async def test_espeak_reads_no_more_than_a_platform_takes() -> None:
    async with espeak.connect(espeak.Settings()) as speaker:
        with pytest.raises(AudioTooLong):
            await speaker.speak("1234567890 " * 300, language="en")
        with pytest.raises(UserError, match="no voice"):
            await speaker.speak("ပထမ", language="xx")
    async with espeak.connect(espeak.Settings(timeout=0.001)) as slow:
        with pytest.raises(AudioUnavailable, match="too long"):
            await slow.speak("word " * 500, language="en")


async def test_espeak_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadSettings, match="espeak-ng is not installed"):
        async with espeak.connect(espeak.Settings()):
            pass
