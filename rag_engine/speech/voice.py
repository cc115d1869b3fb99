from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag_engine.errors import AudioUnavailable
from rag_engine.speech.spoken_text import cut, spoken
from rag_engine.speech.types import AudioTooLong
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from rag_engine.speech.audio_cache import AudioCache
    from rag_engine.speech.types import Speaker

_AT_ONCE: Final = 2
_ATTEMPTS: Final = 6
_MEDIA_TYPES: Final = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenAnswer:
    content: bytes
    suffix: str
    characters: int
    """Of a cut text; else 0."""

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES.get(self.suffix, "application/octet-stream")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    speaker: Speaker
    cache: AudioCache
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)

    async def read(self, markdown: str, *, omitted: dict[str, str]) -> SpokenAnswer | None:
        """None if nothing can be read."""
        whole = await asyncio.to_thread(spoken, markdown, omitted=omitted)
        most = self.speaker.characters
        for _ in range(_ATTEMPTS):
            text = cut(whole, most)
            if not any(map(str.isalnum, text)):
                return None
            try:
                content = await self._audio(text, detect(text))
            except AudioTooLong:
                most = len(text) // 2
                continue
            read = len(text) if len(text) < len(whole) else 0
            return SpokenAnswer(content=content, suffix=self.speaker.suffix, characters=read)
        raise AudioUnavailable("The audio of this answer is too large to be sent.")

    async def _audio(self, text: str, language: str) -> bytes:
        key = (self.speaker.identity, language, text)
        async with self._slots:
            try:
                found = await asyncio.to_thread(self.cache.find, *key)
            except OSError:
                found = None
            if found is not None:
                return found
            content = await self.speaker.speak(text, language=language)
        try:
            await asyncio.to_thread(self.cache.keep, content, *key)
        except OSError as error:
            _log.warning("%d bytes of audio could not be stored: %s", len(content), error.strerror)
        return content

    async def forget(self) -> None:
        await asyncio.to_thread(self.cache.clear)
