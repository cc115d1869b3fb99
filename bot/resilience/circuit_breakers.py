from __future__ import annotations

import itertools
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.settings import BreakerSettings
from rag_engine.errors import EmbedderUnavailable, IndexUnavailable, ModelUnavailable, Unavailable
from rag_engine.wrappers.circuit_breaker import BreakerLimits, CircuitBreaker
from rag_engine.wrappers.delegation import (
    DelegatingEmbedder,
    DelegatingIndex,
    DelegatingModel,
    DelegatingReranker,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence

    from rag_engine.expansion.types import ExpansionVector
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
    from rag_engine.wrappers.circuit_breaker import BreakerState


@dataclass(slots=True, kw_only=True)
class Breakers:
    settings: BreakerSettings = field(default_factory=BreakerSettings)
    on_change: Callable[[str, BreakerState], None] | None = None
    circuits: list[CircuitBreaker] = field(default_factory=list[CircuitBreaker], init=False)

    def index(self, index: StoredIndex, *, is_local: bool) -> StoredIndex:
        """A cluster with a full disk is still searchable."""
        if is_local:
            return index
        return GuardedIndex(
            index,
            searching=self._new("search index", IndexUnavailable),
            writing=self._new("search index (writing)", IndexUnavailable),
        )

    def embedder(self, embedder: Embedder, *, is_local: bool) -> Embedder:
        if is_local:
            return embedder
        return GuardedEmbedder(embedder, breaker=self._new("embedding server", EmbedderUnavailable))

    def model(self, model: LanguageModel, *, is_local: bool) -> LanguageModel:
        if is_local:
            return model
        return GuardedModel(model, breaker=self._new(f"language model {model.name}", ModelUnavailable))

    def reranker(self, reranker: Reranker, *, is_local: bool) -> Reranker:
        if is_local:
            return reranker
        return GuardedReranker(reranker, breaker=self._new("reranker", Unavailable))

    def _new(self, backend: str, away: type[Unavailable]) -> CircuitBreaker:
        known = {breaker.backend for breaker in self.circuits}
        names = (backend if number == 1 else f"{backend} ({number})" for number in itertools.count(1))
        limits = BreakerLimits(**self.settings.model_dump())
        name = next(name for name in names if name not in known)
        self.circuits.append(CircuitBreaker(name, limits=limits, away=away, on_change=self._changed))
        return self.circuits[-1]

    def _changed(self, backend: str, state: BreakerState) -> None:
        if self.on_change is not None:
            self.on_change(backend, state)


@dataclass(frozen=True, slots=True)
class GuardedIndex(DelegatingIndex):
    """Guards all calls but `scan`."""

    searching: CircuitBreaker
    writing: CircuitBreaker

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        with self.writing.call():
            await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        with self.writing.call():
            await self.index.drop(knowledge_base, document)

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        with self.writing.call():
            return await self.index.expand(document, vectors)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        with self.searching.call():
            return await self.index.search(searches)

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        with self.searching.call():
            return await self.index.count(knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        with self.searching.call():
            return await self.index.chunks(knowledge_base, document, limit=limit, start=start)


@dataclass(frozen=True, slots=True)
class GuardedEmbedder(DelegatingEmbedder):
    breaker: CircuitBreaker

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        with self.breaker.call():
            return await self.embedder.embed(texts, side=side)


@dataclass(frozen=True, slots=True)
class GuardedModel(DelegatingModel):
    """Guards only the opening."""

    breaker: CircuitBreaker

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        async with AsyncExitStack() as stack:
            with self.breaker.call():
                pieces = await stack.enter_async_context(self.model.stream(prompt, task=task))
            yield pieces


@dataclass(frozen=True, slots=True)
class GuardedReranker(DelegatingReranker):
    breaker: CircuitBreaker

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        with self.breaker.call():
            return await self.reranker.rerank(query, hits, limit=limit)
