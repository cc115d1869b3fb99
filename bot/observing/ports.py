"""The ports of the engine, each round another of its kind."""

from __future__ import annotations

import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from bot.observing.operations import Embedding, IndexUse, ModelCall, Parsing, Reranking
from rag_engine import tokens
from rag_engine.around import AroundEmbedder, AroundIndex, AroundModel
from rag_engine.media_types import ALIASES, is_readable, suffix_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from contextlib import AbstractContextManager

    from bot.observing.operations import Operation
    from rag_engine.ingestion import Parse
    from rag_engine.ports import Reranker
    from rag_engine.types import (
        Blob,
        Chunk,
        Document,
        DocumentId,
        Hit,
        KnowledgeBaseId,
        Matrix,
        Prompt,
        Ranking,
        Search,
        Section,
        Side,
        Vector,
    )


class Around(Protocol):
    """`bot.observing.observers.Observers`."""

    def around(self, operation: Operation) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class ObservedIndex(AroundIndex):
    observers: Around

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        with self.observers.around(IndexUse(name="put", passages=len(chunks))):
            await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        with self.observers.around(IndexUse(name="drop")):
            await self.index.drop(knowledge_base, document)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        use = IndexUse(name="search")
        with self.observers.around(use):
            rankings = await self.index.search(searches)
            use.incomplete = tuple(ranking.leg for ranking in rankings if not ranking.complete)
        return rankings

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        with self.observers.around(IndexUse(name="read")):
            return await self.index.chunks(knowledge_base, document, limit=limit)


@dataclass(frozen=True, slots=True)
class ObservedEmbedder(AroundEmbedder):
    observers: Around

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        with self.observers.around(Embedding(side=side, texts=len(texts))):
            return await self.embedder.embed(texts, side=side)


@dataclass(frozen=True, slots=True)
class ObservedModel(AroundModel):
    observers: Around

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        call = ModelCall(model=self.name, task=task, prompt_tokens=prompt.tokens)
        started = time.perf_counter()
        with self.observers.around(call):
            async with self.model.stream(prompt, task=task) as pieces:
                counted = _Pieces(pieces)
                try:
                    yield counted
                finally:
                    if counted.first_at:
                        call.first_text_seconds = counted.first_at - started
                        call.reply_tokens = tokens.count("".join(counted.texts))


@dataclass(slots=True)
class _Pieces:
    """The pieces of a reply as they come. No generator: whoever stops listening has nothing to close."""

    pieces: AsyncIterator[str]
    first_at: float = field(default=0.0, init=False)
    texts: list[str] = field(default_factory=list[str], init=False)

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> str:
        piece = await anext(self.pieces)
        self.first_at = self.first_at or time.perf_counter()
        self.texts.append(piece)
        return piece


@dataclass(frozen=True, slots=True)
class ObservedReranker:
    reranker: Reranker
    observers: Around

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        with self.observers.around(Reranking(hits=len(hits))):
            return await self.reranker.rerank(query, hits, limit=limit)


@dataclass(frozen=True, slots=True)
class ObservedParse:
    parse: Parse
    observers: Around

    async def __call__(self, blob: Blob) -> AsyncGenerator[list[Section]]:
        suffix = suffix_of(blob.name)
        kind = ALIASES.get(suffix, suffix) if is_readable(blob.name) else "other"
        with self.observers.around(Parsing(format=kind)):
            async with aclosing(cast("AsyncGenerator[list[Section]]", self.parse(blob))) as batches:
                async for batch in batches:
                    yield batch
