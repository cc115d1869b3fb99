"""A server with OpenAI's API for audio."""

from __future__ import annotations

import asyncio
import io
import math
import struct
import wave
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

_RATE = 8000
_LETTERS_A_SECOND = 15
_MP3_FRAME = bytes.fromhex("fffb9064") + bytes(413)
"""26 milliseconds of silence."""


def wav(seconds: float, *, rate: int = _RATE) -> bytes:
    """A tone."""
    count = int(seconds * rate)
    samples = (int(12_000 * math.sin(2 * math.pi * 440 * number / rate)) for number in range(count))
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(struct.pack(f"<{count}h", *samples))
    return written.getvalue()


@dataclass(slots=True, kw_only=True)
class AudioServer:
    url: str = ""
    spoken: list[dict[str, Any]] = field(default_factory=list)
    heard: list[dict[str, Any]] = field(default_factory=list)
    hears: Sequence[tuple[float, float, str]] = ((0.0, 1.5, "Hello."),)
    status: int = 200
    body: bytes | None = None
    waits: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def speech(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.spoken.append({**body, "key": request.headers.get("Authorization", "")})
        await self._pause()
        if self.status != 200:
            return _failure(self.status)
        if not body.get("input") or len(body["input"]) > 4096:
            return _failure(400)
        seconds = len(body["input"]) / _LETTERS_A_SECOND
        if self.body is not None:
            return web.Response(body=self.body, content_type="application/json")
        if body["response_format"] == "wav":
            return web.Response(body=wav(seconds), content_type="audio/wav")
        return web.Response(body=_MP3_FRAME * round(seconds / 0.026), content_type="audio/mpeg")

    async def transcriptions(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        with file.file:
            content = file.file.read()
        self.heard.append({**form, "file": file.filename, "content": content})
        await self._pause()
        if self.status != 200:
            return _failure(self.status)
        if self.body is not None:
            return web.Response(body=self.body, content_type="application/json")
        assert form["response_format"] == "verbose_json"
        return web.json_response(
            {
                "task": "transcribe",
                "language": "english",
                "duration": max((end for _, end, _ in self.hears), default=0.0),
                "text": " ".join(text for _, _, text in self.hears),
                "segments": [_segment(number, *one) for number, one in enumerate(self.hears)],
            }
        )

    async def _pause(self) -> None:
        self.asked.set()
        if self.waits:
            await asyncio.Event().wait()


def _segment(number: int, start: float, end: float, text: str) -> dict[str, Any]:
    return {
        "id": number,
        "seek": 0,
        "start": start,
        "end": end,
        "text": f" {text}",
        "tokens": [50364, 13],
        "temperature": 0.0,
        "avg_logprob": -0.2,
        "compression_ratio": 1.1,
        "no_speech_prob": 0.01,
    }


def _failure(status: int) -> web.Response:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": None}
    return web.json_response({"error": error}, status=status, headers={"x-should-retry": "false"})


@asynccontextmanager
async def audio_server() -> AsyncGenerator[AudioServer]:
    server = AudioServer()
    application = web.Application(client_max_size=64 << 20)
    application.router.add_post("/v1/audio/speech", server.speech)
    application.router.add_post("/v1/audio/transcriptions", server.transcriptions)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
