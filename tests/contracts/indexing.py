"""Documents, chunks, vectors and searches for the contract of the index, and BM25 written out."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from rag_engine.ports import Index, IndexContents, IndexExpansions, IndexIdentity
from rag_engine.text.analyzer import VERSION, query_tokens
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Ranking, Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rag_engine.types import Vector

DIMENSIONS = 24
IDENTITY = IndexIdentity(model="test@fp32", dimensions=DIMENSIONS, analyzer=VERSION)


class StoredIndex(Index, IndexContents, IndexExpansions, Protocol):
    pass


OpenIndex: TypeAlias = Callable[[IndexIdentity], AbstractAsyncContextManager[StoredIndex]]


def base(name: str) -> KnowledgeBaseId:
    return KnowledgeBaseId(name)


def document(name: str, *, knowledge_base: str = "kb") -> Document:
    return Document(
        id=DocumentId(name),
        knowledge_base=base(knowledge_base),
        title=name,
        uri=f"file:///{name}",
        media_type="text/plain",
        digest="",
    )


def chunk(of: Document, text: str, *, ordinal: int = 0, name: str = "", language: str = "en") -> Chunk:
    return Chunk(
        id=ChunkId(name or f"{of.id}/{ordinal}"),
        document=of.id,
        knowledge_base=of.knowledge_base,
        ordinal=ordinal,
        text=text,
        language=language,
    )


def vector(seed: int, *, dimensions: int = DIMENSIONS) -> Vector:
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def near(asked: Vector, seed: int, *, noise: float = 0.3) -> Vector:
    """At a cosine of about .96 (by default) with it."""
    moved = asked + noise * vector(seed, dimensions=asked.size)
    return (moved / np.linalg.norm(moved)).astype(np.float32)


async def put(index: Index, of: Document, *texts: str, seed: int = 0) -> None:
    await index.put(of, pairs(of, *texts, seed=seed))


async def put_all(index: Index, documents: Iterable[tuple[Document, Sequence[tuple[Chunk, Vector]]]]) -> None:
    """Put many documents, some at the same time."""
    waiting = iter(documents)

    async def work() -> None:
        for of, pairs in waiting:
            await index.put(of, pairs)

    async with asyncio.TaskGroup() as group:
        for _ in range(16):
            group.create_task(work())


def pairs(of: Document, *texts: str, seed: int = 0) -> list[tuple[Chunk, Vector]]:
    return [(chunk(of, text, ordinal=i), vector(seed + i)) for i, text in enumerate(texts)]


def grouped(texts: Sequence[str], size: int) -> Iterator[tuple[int, Sequence[str]]]:
    """With the place of each group: a put costs more than the chunks in it."""
    return ((start, texts[start : start + size]) for start in range(0, len(texts), size))


def lexical(question: str, *bases: str, limit: int = 10) -> Search:
    return Search(
        leg="lexical",
        knowledge_bases=frozenset(map(base, bases or ("kb",))),
        limit=limit,
        tokens=query_tokens(question),
    )


def dense(asked: Vector, *bases: str, limit: int = 10) -> Search:
    return Search(
        leg="dense", knowledge_bases=frozenset(map(base, bases or ("kb",))), limit=limit, vector=asked
    )


async def found(index: Index, *searches: Search) -> list[list[str]]:
    return [ids(ranking) for ranking in await index.search(searches)]


def ids(ranking: Ranking) -> list[str]:
    return [hit.chunk.id for hit in ranking.hits]


WORDS = [f"w{number}" for number in range(120)]


def random_texts(count: int, seed: int) -> list[str]:
    """Short enough (two tokens a word) for Lucene, which rounds the lengths of texts of more than 40 tokens."""
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [
        " ".join(random.choice(WORDS, size=random.integers(3, 19), p=weights / weights.sum()))
        for _ in range(count)
    ]


def bm25(texts: Sequence[list[str]], asked: Sequence[str]) -> list[float]:
    """Lucene's BM25, written out."""
    average = sum(map(len, texts)) / len(texts)
    counted = [Counter(text) for text in texts]
    frequency = Counter(token for text in counted for token in text)
    return [
        sum(
            math.log(1 + (len(texts) - frequency[token] + 0.5) / (frequency[token] + 0.5))
            * text[token]
            / (text[token] + 1.2 * (0.25 + 0.75 * sum(text.values()) / average))
            for token in asked
        )
        for text in counted
    ]
