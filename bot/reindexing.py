"""Splitting and embedding again, from the text of the documents as it was read."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

from bot import compose
from rag_engine.errors import UnknownDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bot.settings import Settings
    from rag_engine.types import DocumentRecord, KnowledgeBase

    Progress = Callable[[DocumentRecord], None]


async def reindex(
    library: compose.Library, bases: Iterable[KnowledgeBase], progress: Progress | None = None
) -> int:
    """Index every document of these knowledge bases again, each replaced in one step; returns how many."""
    count = 0
    for base in bases:
        for record in await library.catalog.records(base.id):
            try:
                await library.ingestion.reindex(record)
            except UnknownDocument:
                continue  # never read to the end, or removed meanwhile: there is no text to index
            count += 1
            if progress is not None:
                progress(record)
        await library.catalog.set_model(base.id, library.embedder.model)
    return count


async def rebuild(settings: Settings, progress: Progress | None = None) -> int:
    """Index everything into a fresh index beside the old one, then put it in its place; returns how many documents.

    Interrupted, it leaves the old index as it was; done again, it embeds nothing twice, since vectors are cached.
    """
    fresh = settings.data_dir / "rebuilding"
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    async with compose.library(settings, index_dir=fresh) as library:
        count = await reindex(library, await library.catalog.knowledge_bases(), progress)
    await compose.replace_index(settings, fresh=fresh)
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    return count
