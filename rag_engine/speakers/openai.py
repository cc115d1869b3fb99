from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.speech import audio_server
from rag_engine.speech.audio_server import translated_errors
from rag_engine.speech.types import MOST_BYTES, AudioTooLong
from rag_engine.text.header_secret import HeaderSecret

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import openai

    from rag_engine.speech.types import Speaker


class Settings(BaseModel):
    """A server with OpenAI's API."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = "gpt-4o-mini-tts"
    """Model."""
    voice: str = "alloy"
    """Voice."""
    api_key: HeaderSecret = SecretStr("")
    """API key."""
    base_url: str = "https://api.openai.com/v1"
    """URL."""
    format: Literal["mp3", "wav", "opus", "aac", "flac"] = "mp3"
    """`mp3`, `wav`, `opus`, `aac` or `flac`."""
    characters: int = Field(default=4000, ge=100, le=4096)
    """The longest text."""
    timeout: float = Field(default=60.0, gt=0)
    """Time limit."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[Speaker]:
    async with audio_server.client(
        settings.api_key, base_url=settings.base_url, timeout=settings.timeout
    ) as client:
        yield _Server(client, settings)


class _Server:
    def __init__(self, client: openai.AsyncOpenAI, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self.identity = f"{settings.model} {settings.voice} {settings.format}"
        self.suffix = settings.format
        self.characters = settings.characters

    async def speak(self, text: str, *, language: str) -> bytes:
        del language
        settings = self._settings
        content = bytearray()
        with translated_errors("FOOTNOTE_SPEECH"):
            async with (
                asyncio.timeout(settings.timeout),
                self._client.audio.speech.with_streaming_response.create(
                    model=settings.model,
                    voice=settings.voice,
                    input=text,
                    response_format=settings.format,
                ) as response,
            ):
                async for block in response.iter_bytes():
                    content += block
                    if len(content) > MOST_BYTES:
                        raise AudioTooLong
            if not content or response.headers.get("content-type", "").startswith(
                ("text/", "application/json")
            ):
                raise ValueError("no audio")
        return bytes(content)
