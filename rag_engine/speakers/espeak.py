from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import AudioUnavailable, BadSettings, UserError
from rag_engine.speech.types import MOST_BYTES, AudioTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.speech.types import Speaker

PROGRAM: Final = "espeak-ng"
_BACKEND: Final = "espeak-ng"
_NAMES: Final = {"zh": "cmn", "no": "nb"}
_FALLBACK: Final = "en"
_LIST_SECONDS: Final = 10.0
_BLOCK: Final = 1 << 16


class Settings(BaseModel):
    """A robot's voice on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words_per_minute: int = Field(default=160, ge=80, le=450)
    """Speed."""
    characters: int = Field(default=3000, ge=100, le=4000)
    """The longest text, within 9 MiB of audio."""
    timeout: float = Field(default=30.0, gt=0)
    """Time limit."""


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[Speaker]:
    program = shutil.which(PROGRAM)
    if program is None:
        raise BadSettings(
            "FOOTNOTE_SPEECH__KIND is espeak, but espeak-ng is not installed: install it, or choose openai."
        )
    yield _Espeak(program, settings)


class _Espeak:
    def __init__(self, program: str, settings: Settings) -> None:
        self._program = program
        self._settings = settings
        self._voices: frozenset[str] = frozenset()
        self.identity = f"espeak-ng {settings.words_per_minute}"
        self.suffix = "wav"
        self.characters = settings.characters

    async def speak(self, text: str, *, language: str) -> bytes:
        self._voices = self._voices or await self._listed()
        wanted = language or _FALLBACK
        voice = _NAMES.get(wanted, wanted)
        voice = next(
            (name for name in sorted(self._voices) if name == voice or name.startswith(f"{voice}-")), ""
        )
        if not voice:
            raise UserError("There is no voice for the language of this answer.")
        arguments = [
            "-v",
            voice,
            "-s",
            str(self._settings.words_per_minute),
            "-b",
            "1",
            "--stdin",
            "--stdout",
        ]
        words = text.replace("[[", "[ [").encode("utf-8", "replace")
        audio = await _run([self._program, *arguments], words, seconds=self._settings.timeout)
        return _with_length(audio)

    async def _listed(self) -> frozenset[str]:
        listed = await _run([self._program, "--voices"], b"", seconds=_LIST_SECONDS)
        rows = [line.split() for line in listed.decode("utf-8", "replace").splitlines()[1:]]
        return frozenset(row[1] for row in rows if len(row) > 1)


async def _run(command: list[str], text: bytes, *, seconds: float) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise AudioUnavailable("espeak-ng cannot be started.", backend=_BACKEND) from error
    try:
        async with asyncio.timeout(seconds):
            output = await _output(process, text)
    except TimeoutError as error:
        raise AudioUnavailable("espeak-ng takes too long.", backend=_BACKEND) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode or not output:
        raise AudioUnavailable("espeak-ng could not read this text aloud.", backend=_BACKEND)
    return output


async def _output(process: asyncio.subprocess.Process, text: bytes) -> bytes:
    if process.stdin is None or process.stdout is None:
        raise AudioUnavailable("espeak-ng cannot be started.", backend=_BACKEND)
    with suppress(ConnectionError):
        process.stdin.write(text)
        await process.stdin.drain()
    process.stdin.close()
    output = bytearray()
    while block := await process.stdout.read(_BLOCK):
        output += block
        if len(output) > MOST_BYTES:
            raise AudioTooLong
    await process.wait()
    return bytes(output)


def _with_length(audio: bytes) -> bytes:
    at = audio.find(b"data", 12, 200)
    if audio[:4] != b"RIFF" or at < 0:
        raise AudioUnavailable("espeak-ng wrote no audio.", backend=_BACKEND)
    sizes = {4: len(audio) - 8, at + 4: len(audio) - at - 8}
    fixed = bytearray(audio)
    for position, size in sizes.items():
        fixed[position : position + 4] = size.to_bytes(4, "little")
    return bytes(fixed)
