from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.ports import Answerer, Embedder, LanguageModel, Reranker, StoredIndex
    from rag_engine.types import (
        AnswerRequest,
        Chunk,
        Document,
        DocumentId,
        Expansion,
        Hit,
        KnowledgeBaseId,
        Matrix,
        Prompt,
        Ranking,
        Search,
        Side,
        Vector,
    )


@dataclass(frozen=True, slots=True)
class DelegatingEmbedder:
    embedder: Embedder

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def max_tokens(self) -> int:
        return self.embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        return self.embedder.count_tokens(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        return await self.embedder.embed(texts, side=side)


@dataclass(frozen=True, slots=True)
class DelegatingIndex:
    index: StoredIndex

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        await self.index.drop(knowledge_base, document)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        return await self.index.search(searches)

    def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        return self.index.scan(knowledge_base, document)

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return await self.index.count(knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        return await self.index.chunks(knowledge_base, document, limit=limit, start=start)

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        return await self.index.expand(document, vectors)

    async def expansions(self, knowledge_base: KnowledgeBaseId, kind: Expansion) -> int:
        return await self.index.expansions(knowledge_base, kind)


@dataclass(frozen=True, slots=True)
class DelegatingModel:
    model: LanguageModel

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context_tokens(self) -> int:
        return self.model.context_tokens

    @property
    def window_is_assumed(self) -> bool:
        return self.model.window_is_assumed

    def stream(self, prompt: Prompt, *, task: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        return self.model.stream(prompt, task=task)


@dataclass(frozen=True, slots=True)
class DelegatingAnswerer:
    answerer: Answerer

    @property
    def name(self) -> str:
        return self.answerer.name

    def answer(self, request: AnswerRequest) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        return self.answerer.answer(request)


@dataclass(frozen=True, slots=True)
class DelegatingReranker:
    reranker: Reranker

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        return await self.reranker.rerank(query, hits, limit=limit)
