from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from pathlib import Path


MOST_BYTES: Final = 9 << 20
"""Discord takes 10 MiB."""


class AudioTooLong(Exception):
    """More than `MOST_BYTES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """Times in seconds."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    utterances: tuple[Utterance, ...]
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.utterances)


class Speaker(Protocol):
    @property
    def identity(self) -> str: ...

    @property
    def suffix(self) -> str: ...

    @property
    def characters(self) -> int: ...

    async def speak(self, text: str, *, language: str) -> bytes:
        """`language`: ISO 639-1 or empty. Raises `AudioTooLong`, `AudioUnavailable`, `RateLimited`,
        and `UserError` for a language without a voice.
        """
        ...


class Transcriber(Protocol):
    @property
    def most_bytes(self) -> int: ...

    @property
    def most_seconds(self) -> float: ...

    async def transcribe(self, path: Path, *, suffix: str) -> Transcript:
        """Raises `AudioUnavailable`, `RateLimited`, and `CorruptFile` for what is no audio."""
        ...
