from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.speech import audio_server
from rag_engine.speech.audio_server import translated_errors
from rag_engine.speech.types import Transcript, Utterance
from rag_engine.text.header_secret import HeaderSecret

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    import openai
    from openai.types.audio import TranscriptionVerbose

    from rag_engine.speech.types import Transcriber

_TYPES: Final = {"oga": "ogg", "opus": "ogg", "mpga": "mp3", "aac": "m4a"}


class Settings(BaseModel):
    """A server with OpenAI's API."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "whisper-1"
    """Model."""
    api_key: HeaderSecret = SecretStr("")
    """API key."""
    base_url: str = "https://api.openai.com/v1"
    """URL."""
    file_mb: float = Field(default=25.0, gt=0)
    """The largest file, in megabytes."""
    minutes: float = Field(default=120.0, gt=0)
    """The longest audio."""
    timeout: float = Field(default=300.0, gt=0)
    """Time limit."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[Transcriber]:
    async with audio_server.client(
        settings.api_key, base_url=settings.base_url, timeout=settings.timeout
    ) as client:
        yield _Server(client, settings)


class _Server:
    def __init__(self, client: openai.AsyncOpenAI, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self.most_bytes = int(settings.file_mb * 1e6)
        self.most_seconds = settings.minutes * 60

    async def transcribe(self, path: Path, *, suffix: str) -> Transcript:
        content = await asyncio.to_thread(path.read_bytes)
        name = f"audio.{_TYPES.get(suffix, suffix)}"
        with translated_errors("FOOTNOTE_TRANSCRIPTION", unreadable=True):
            async with asyncio.timeout(self._settings.timeout):
                answer = await self._client.audio.transcriptions.create(
                    file=(name, content), model=self._settings.model, response_format="verbose_json"
                )
            return _transcript(answer)


def _transcript(answer: TranscriptionVerbose) -> Transcript:
    seconds = max(0.0, float(answer.duration or 0))
    segments = answer.segments or ()
    spoken = [
        Utterance(
            start=max(0.0, float(one.start)), end=max(0.0, float(one.end)), text=" ".join(one.text.split())
        )
        for one in segments
    ]
    if not spoken:
        spoken = [Utterance(start=0.0, end=seconds, text=" ".join(answer.text.split()))]
    return Transcript(utterances=tuple(one for one in spoken if one.text), seconds=seconds)
