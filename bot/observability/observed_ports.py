from __future__ import annotations

import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from bot.observability.operations import Embedding, IndexUse, ModelCall, Parsing, Reranking
from rag_engine.parsing.media_types import parser_of_name
from rag_engine.text import tokens
from rag_engine.wrappers.delegation import (
    DelegatingAnswerer,
    DelegatingEmbedder,
    DelegatingIndex,
    DelegatingModel,
    DelegatingReranker,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from bot.observability.operations import Operation
    from rag_engine.expansion.types import ExpansionVector
    from rag_engine.ingestion.ingestion import Parse
    from rag_engine.types import (
        AnswerRequest,
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
    def around(self, operation: Operation) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class ObservedIndex(DelegatingIndex):
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

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        with self.observers.around(IndexUse(name="put")):
            return await self.index.expand(document, vectors)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        with self.observers.around(IndexUse(name="read")):
            return await self.index.chunks(knowledge_base, document, limit=limit, start=start)


@dataclass(frozen=True, slots=True)
class ObservedEmbedder(DelegatingEmbedder):
    observers: Around

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        with self.observers.around(Embedding(side=side, texts=len(texts))):
            return await self.embedder.embed(texts, side=side)


@dataclass(frozen=True, slots=True)
class ObservedModel(DelegatingModel):
    observers: Around

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        call = ModelCall(model=self.name, task=task, prompt_tokens=prompt.tokens)
        with self.observers.around(call):
            async with _measured(call, self.model.stream(prompt, task=task)) as pieces:
                yield pieces


@dataclass(frozen=True, slots=True)
class ObservedAnswerer(DelegatingAnswerer):
    observers: Around

    @asynccontextmanager
    async def answer(self, request: AnswerRequest) -> AsyncGenerator[AsyncIterator[str]]:
        call = ModelCall(model=self.name, task="answer", prompt_tokens=0)
        with self.observers.around(call):
            async with _measured(call, self.answerer.answer(request)) as pieces:
                yield pieces


@asynccontextmanager
async def _measured(
    call: ModelCall, opening: AbstractAsyncContextManager[AsyncIterator[str]]
) -> AsyncGenerator[AsyncIterator[str]]:
    started = time.perf_counter()
    async with opening as pieces:
        counted = _Pieces(pieces)
        try:
            yield counted
        finally:
            if counted.first_at:
                call.first_text_seconds = counted.first_at - started
                call.reply_tokens = tokens.count("".join(counted.texts))


@dataclass(slots=True)
class _Pieces:
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
class ObservedReranker(DelegatingReranker):
    observers: Around

    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
        with self.observers.around(Reranking(hits=len(hits))):
            return await self.reranker.rerank(query, hits, limit=limit)


@dataclass(frozen=True, slots=True)
class ObservedParse:
    parse: Parse
    observers: Around

    async def __call__(self, blob: Blob) -> AsyncGenerator[list[Section]]:
        with self.observers.around(Parsing(format=parser_of_name(blob.name) or "other")):
            async with aclosing(cast("AsyncGenerator[list[Section]]", self.parse(blob))) as batches:
                async for batch in batches:
                    yield batch
