"""Splitting and embedding again, from the text of the documents as it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import compose, exclusive
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
        count += await _index_again(library, base, progress)
        await library.catalog.set_model(base.id, library.embedder.model)
    return count


async def rebuild(
    settings: Settings, progress: Progress | None = None, *, patience: float = exclusive.PATIENCE_SECONDS
) -> int:
    """Index everything into a fresh index beside the old one, then put it in its place; returns how many documents.

    No other program has the index open meanwhile: what it added would be in the old one only. Raises `IndexUnavailable` when
    one still has after `patience` seconds. Interrupted, it leaves the old index and its model as they were; done again, it
    embeds nothing twice, since vectors are cached.
    """
    async with exclusive.alone(settings.data_dir, seconds=patience):
        return await _rebuild(settings, progress)


async def _rebuild(settings: Settings, progress: Progress | None) -> int:
    await compose.abandon_rebuild(settings)
    async with compose.library(settings, rebuilding=True) as library:
        bases = await library.catalog.knowledge_bases()
        count = sum([await _index_again(library, base, progress) for base in bases])
        identity = library.identity
    await compose.replace_index(settings, identity=identity)
    async with compose.storage(settings) as storage:
        for base in bases:
            await storage.catalog.set_model(base.id, identity.model)
    return count


async def _index_again(library: compose.Library, base: KnowledgeBase, progress: Progress | None) -> int:
    count = 0
    for record in await library.catalog.records(base.id):
        try:
            await library.ingestion.reindex(record)
        except UnknownDocument:
            continue  # never read to the end, or removed meanwhile: there is no text to index
        count += 1
        if progress is not None:
            progress(record)
    return count
