"""A library in one folder: the real catalog and splitter, with doubles that can stop at any point."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine.errors import CorruptFile
from rag_engine.ingestion.ingestion import Ingestion, blob_from_path
from rag_engine.types import (
    Blob,
    Chunk,
    Document,
    DocumentId,
    DocumentRecord,
    KnowledgeBaseId,
    Ranking,
    Search,
    Section,
    Side,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from rag_engine.embedders.hashing import HashingEmbedder
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Matrix, Vector


STATED = "!properties "
"""Begins a paragraph with what the file says of itself, as JSON."""


class ListedIndex:
    """An index that stores its input.

    `refuse` makes `put` raise without effect and `drop` raise after its work; `refuse_before` makes `drop` raise without effect.
    """

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], tuple[Document, list[tuple[Chunk, Vector]]]] = {}
        self.puts = 0
        self.refuse: Exception | None = None
        self.refuse_before: Exception | None = None
        self.after_drop: Callable[[], Awaitable[None]] | None = None

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        await asyncio.sleep(0)
        if self.refuse is not None:
            raise self.refuse
        self.puts += 1
        self.documents[document.knowledge_base, document.id] = (document, list(chunks))

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        if self.refuse_before is not None:
            raise self.refuse_before
        for key in list(self.documents):
            if key[0] == knowledge_base and document in {None, key[1]}:
                del self.documents[key]
        if self.after_drop is not None:
            await self.after_drop()
        if self.refuse is not None:
            raise self.refuse

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        return [Ranking(leg=search.leg, hits=()) for search in searches]

    async def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        for (base, held), (_, chunks) in list(self.documents.items()):
            if base == knowledge_base and document in {None, held}:
                for pair in chunks:
                    yield pair

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        return len([pair async for pair in self.scan(knowledge_base)])

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        held = [chunk async for chunk, _ in self.scan(knowledge_base, document)]
        return held[start : start + limit]

    def text(self, document: DocumentId) -> str:
        return " ".join(
            chunk.text
            for (_, held), (_, chunks) in self.documents.items()
            if held == document
            for chunk, _ in chunks
        )


@dataclass
class GatedEmbedder:
    """The hashing embedder behind a gate, with a count of calls."""

    inner: HashingEmbedder
    texts: list[str] = field(default_factory=list[str])
    refuse: Exception | None = None
    passes: int = 0
    """Calls let through although `refuse` is set."""
    gate: asyncio.Event | None = None
    entered: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    calls: int = 0
    most_at_once: int = 0
    at_once: int = 0

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    def count_tokens(self, text: str) -> int:
        return self.inner.count_tokens(text)

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        self.calls += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.entered.release()
            if self.gate is not None:
                await self.gate.wait()
            if self.refuse is not None:
                if not self.passes:
                    raise self.refuse
                self.passes -= 1
            self.texts.extend(texts)
            return await self.inner.embed(texts, side=side)
        finally:
            self.at_once -= 1


@dataclass
class LineParser:
    """Parses text files: a section per paragraph, a batch per page (form feed); a page with `!broken` fails."""

    read: list[str] = field(default_factory=list[str])
    closed: int = 0
    gate: asyncio.Event | None = None
    entered: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def parse(self, blob: Blob) -> AsyncIterator[list[Section]]:
        self.read.append(blob.name)
        self.entered.release()
        try:
            for number, page in enumerate(blob.path.read_text(encoding="utf-8").split("\f"), start=1):
                if self.gate is not None:
                    await self.gate.wait()
                if "!broken" in page:
                    raise CorruptFile(f"{blob.name} is damaged.")
                yield [_section(text, number) for text in page.split("\n\n") if text.strip()]
        finally:
            self.closed += 1


def _section(text: str, page: int) -> Section:
    if text.startswith(STATED):
        return Section(text=text.removeprefix(STATED), kind="properties")
    return Section(text=text, anchor=f"p. {page}")


@dataclass
class World:
    ingestion: Ingestion
    catalog: SqliteCatalog
    index: ListedIndex
    embedder: GatedEmbedder
    parser: LineParser
    base: KnowledgeBaseId
    folder: Path
    database: Database

    async def blob(self, name: str, text: str) -> Blob:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return await blob_from_path(path)

    async def add(self, name: str, text: str) -> DocumentRecord:
        return (await self.ingestion.ingest(await self.blob(name, text), knowledge_base=self.base)).record

    async def record(self, name: str) -> DocumentRecord:
        found = await self.catalog.find(self.base, uri=(self.folder / name).as_uri())
        assert found is not None
        return found


def long_text(label: str, pages: int = 3, paragraphs: int = 30) -> str:
    page = "\n\n".join(
        f"{label} paragraph {number} tells of budget item {number * 7}. It has two sentences."
        for number in range(paragraphs)
    )
    return "\f".join(f"{label} page {number}.\n\n{page}" for number in range(pages))
