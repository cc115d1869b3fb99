from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.composition import loader
from bot.composition.application import cached_vectors
from bot.composition.retrieval import identity_of
from bot.data_directory import data_lock
from rag_engine.storage.concurrency.uncancellable import uninterrupted
from rag_engine.wrappers.cached_embedder import CachedEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.settings import Settings
    from rag_engine.ports import Embedder, Splitter, StoredIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationComponents:
    embedder: Embedder
    index: StoredIndex
    splitter: Splitter


@asynccontextmanager
async def retrieval_laboratory(
    settings: Settings, folder: Path, *, index_kind: str = ""
) -> AsyncGenerator[EvaluationComponents]:
    """Over a temporary index in `folder`. Vectors stay cached."""
    module, own = loader.index_module(loader.temporary_index(settings.index, kind=index_kind), settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(data_lock.in_use(settings.data_dir))
        embedder = await stack.enter_async_context(loader.embedder(settings))
        cache = await stack.enter_async_context(cached_vectors(settings.data_dir))
        stack.push_async_callback(lambda: uninterrupted(module.remove(own, data_dir=folder)))
        # The index could be created after its removal.
        index = await uninterrupted(
            stack.enter_async_context(module.connect(own, data_dir=folder, identity=identity_of(embedder)))
        )
        yield EvaluationComponents(
            embedder=CachedEmbedder(embedder, cache),
            index=index,
            splitter=loader.splitter(settings, embedder),
        )
