from __future__ import annotations

import asyncio
import hashlib
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.errors import first_error
from rag_engine.evaluation.dataset import DatasetRow, count_documents, read_corpus
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, Document, DocumentId, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rag_engine.ports import Embedder, Index, Splitter
    from rag_engine.types import KnowledgeBaseId, Matrix

    Progress: TypeAlias = Callable[[str, int, int], None]
    """The activity, how many are done, how many there are."""
    _Split: TypeAlias = tuple[Document, list[Chunk]]

_BATCH = 256
"""Keeps every core busy; about 400 KB of vectors."""


async def index_corpus(
    folder: Path,
    *,
    knowledge_base: KnowledgeBaseId,
    embedder: Embedder,
    index: Index,
    splitter: Splitter,
    progress: Progress | None = None,
) -> tuple[int, int]:
    total = await asyncio.to_thread(count_documents, folder)
    batches = _batches(_split(row, splitter, knowledge_base) for row in read_corpus(folder))
    documents = chunks = 0
    with first_error():
        async with asyncio.TaskGroup() as group:
            writing: asyncio.Task[None] | None = None
            while batch := await asyncio.to_thread(next, batches, None):
                texts = [searchable_text(chunk) for _, its_chunks in batch for chunk in its_chunks]
                vectors = await embedder.embed(texts, side="passage")
                if writing is not None:
                    await writing
                writing = group.create_task(_put(index, batch, vectors), name="evaluation-put")
                documents += len(batch)
                chunks += len(texts)
                if progress:
                    progress("indexing", documents, total)
    return documents, chunks


def _split(row: DatasetRow, splitter: Splitter, knowledge_base: KnowledgeBaseId) -> _Split:
    text, title = (row.text, row.title) if row.text.strip() else (row.title, "")
    encoded = text.encode("utf-8", "replace")
    document = Document(
        id=DocumentId(row.id),
        knowledge_base=knowledge_base,
        title=title,
        uri="",
        media_type="text/plain",
        digest=hashlib.sha256(encoded).hexdigest(),
        size=len(encoded),
    )
    return document, list(splitter(document, [Section(text=text)] if text.strip() else []))


def _batches(split: Iterable[_Split]) -> Iterator[list[_Split]]:
    batch: list[_Split] = []
    chunks = 0
    for document, its_chunks in split:
        batch.append((document, its_chunks))
        chunks += len(its_chunks)
        if chunks >= _BATCH:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


async def _put(index: Index, batch: list[_Split], vectors: Matrix) -> None:
    rows = iter(vectors)
    for document, chunks in batch:
        await index.put(document, list(zip(chunks, islice(rows, len(chunks)), strict=True)))
