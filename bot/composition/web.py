from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.composition import loader
from rag_engine.web.page_client import page_client
from rag_engine.web.reader import PageReader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.ports import WebReader


@asynccontextmanager
async def web_reader(settings: Settings, indexing: IndexingComponents) -> AsyncGenerator[WebReader | None]:
    if not settings.web_search.kind:
        yield None
        return
    async with loader.web_search(settings.web_search) as search, page_client() as client:
        yield PageReader(
            search=search,
            client=client,
            parse=indexing.parse,
            split=indexing.splitter,
            folder=settings.data_dir / "uploads",
            prefix=f"{indexing.storage.claims.worker}.",
        )
