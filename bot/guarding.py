"""Circuit breakers round the ports of what is reached over a network, so that nobody waits for a service that is known to be down."""

from __future__ import annotations

import itertools
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.settings import BreakerSettings
from rag_engine.around import AroundEmbedder, AroundIndex, AroundModel
from rag_engine.breaking import Breaker, Limits
from rag_engine.errors import EmbedderUnavailable, IndexUnavailable, ModelUnavailable, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from rag_engine.breaking import BreakerState
    from rag_engine.ports import Embedder, LanguageModel, Reranker, StoredIndex
    from rag_engine.types import (
        Chunk,
        Document,
        DocumentId,
        Hit,
        KnowledgeBaseId,
        Matrix,
        Prompt,
        Ranking,
        Search,
        Side,
        Vector,
    )

_LOCAL: Final = frozenset({"embedded", "extractive", "hashing", "local", "scripted", "sentence_transformers"})
"""Kinds of parts that work in this process: they are not away."""


@dataclass(slots=True, kw_only=True)
class Breakers:
    """Those of the process, one for each service."""

    settings: BreakerSettings = field(default_factory=BreakerSettings)
    on_change: Callable[[str, BreakerState], None] | None = None
    """Told the service and its breaker's state when that changes; may be set at any time."""
    made: list[Breaker] = field(default_factory=list[Breaker], init=False)

    def index(self, index: StoredIndex, *, kind: str) -> StoredIndex:
        """Searching and writing have one each: a cluster whose disk is full can still be searched."""
        if kind in _LOCAL:
            return index
        return GuardedIndex(
            index,
            searching=self._made("search index", IndexUnavailable),
            writing=self._made("search index (writing)", IndexUnavailable),
        )

    def embedder(self, embedder: Embedder, *, kind: str) -> Embedder:
        """The embedder, guarded where it is a server."""
        if kind in _LOCAL:
            return embedder
        return GuardedEmbedder(embedder, breaker=self._made("embedding server", EmbedderUnavailable))

    def model(self, model: LanguageModel, *, kind: str) -> LanguageModel:
        """The language model, guarded where it is a server."""
        if kind in _LOCAL:
            return model
        return GuardedModel(model, breaker=self._made(f"language model {model.name}", ModelUnavailable))

    def reranker(self, reranker: Reranker, *, kind: str) -> Reranker:
        """The reranker, guarded where it is a server."""
        if kind in _LOCAL:
            return reranker
        return GuardedReranker(reranker, breaker=self._made("reranker", Unavailable))

    def _made(self, backend: str, away: type[Unavailable]) -> Breaker:
        known = {breaker.backend for breaker in self.made}
        names = (backend if number == 1 else f"{backend} ({number})" for number in itertools.count(1))
        limits = Limits(**self.settings.model_dump())
        name = next(name for name in names if name not in known)
        self.made.append(Breaker(name, limits=limits, away=away, on_change=self._changed))
        return self.made[-1]

    def _changed(self, backend: str, state: BreakerState) -> None:
        if self.on_change is not None:
            self.on_change(backend, state)


@dataclass(frozen=True, slots=True)
class GuardedIndex(AroundIndex):
    """The same port round `index`."""

    searching: Breaker
    writing: Breaker

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        with self.writing.call():
            await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        with self.writing.call():
            await self.index.drop(knowledge_base, document)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        with self.searching.call():
            return await self.index.search(searches)

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        with self.searching.call():
            return await self.index.count(knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        with self.searching.call():
            return await self.index.chunks(knowledge_base, document, limit=limit)


@dataclass(frozen=True, slots=True)
class GuardedEmbedder(AroundEmbedder):
    """The same port round `embedder`."""

    breaker: Breaker

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        with self.breaker.call():
            return await self.embedder.embed(texts, side=side)


@dataclass(frozen=True, slots=True)
class GuardedModel(AroundModel):
    """The same port round `model`. A reply that has begun is an answer; what becomes of it later says nothing of the next one."""

    breaker: Breaker

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        async with AsyncExitStack() as stack:
            with self.breaker.call():
                pieces = await stack.enter_async_context(self.model.stream(prompt, task=task))
            yield pieces


@dataclass(frozen=True, slots=True)
class GuardedReranker:
    """The same port round `reranker`."""

    reranker: Reranker
    breaker: Breaker

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        with self.breaker.call():
            return await self.reranker.rerank(query, hits, limit=limit)
