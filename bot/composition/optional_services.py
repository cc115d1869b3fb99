from __future__ import annotations

import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.composition import loader
from rag_engine.speech.audio_cache import AudioCache
from rag_engine.speech.voice import Voice
from rag_engine.web.reader import PageReader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from bot.settings.slices import Slice
    from rag_engine.ports import WebReader
    from rag_engine.speech.types import Transcriber

OFF: Final = "off"
_SERVER: Final = "openai"
_LOCAL: Final = "espeak"
_PROGRAM: Final = "espeak-ng"


def audio_cache(settings: Settings) -> AudioCache:
    return AudioCache(settings.data_dir / "speech")


@asynccontextmanager
async def voice(settings: Settings) -> AsyncGenerator[Voice | None]:
    kind = _kind(settings.speech) or (_LOCAL if shutil.which(_PROGRAM) else "")
    if kind in ("", OFF):
        yield None
        return
    async with loader.speaker(settings.speech, kind) as speaker:
        yield Voice(speaker=speaker, cache=audio_cache(settings))


@asynccontextmanager
async def transcriber(settings: Settings) -> AsyncGenerator[Transcriber | None]:
    kind = _kind(settings.transcription)
    if kind in ("", OFF):
        yield None
        return
    async with loader.transcriber(settings.transcription, kind) as connected:
        yield connected


def _kind(slice_: Slice) -> str:
    given = slice_.rest()
    return slice_.kind or (_SERVER if given.get("base_url") or given.get("api_key") else "")


@asynccontextmanager
async def web_reader(settings: Settings, indexing: IndexingComponents) -> AsyncGenerator[WebReader | None]:
    if not settings.web_search.kind:
        yield None
        return
    # It imports aiohttp.
    from rag_engine.web.page_client import page_client

    async with loader.web_search(settings.web_search) as search, page_client() as client:
        yield PageReader(
            search=search,
            client=client,
            parse=indexing.parse,
            split=indexing.splitter,
            folder=settings.data_dir / "uploads",
            prefix=f"{indexing.storage.claims.worker}.",
        )
