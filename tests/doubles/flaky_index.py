"""A plug-in: the embedded index, which a file in the data directory makes fail."""

from __future__ import annotations

import dataclasses
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.errors import IndexUnavailable
from rag_engine.indexes import embedded
from rag_engine.indexes.embedded import Settings, abandon, erase, files, remove, replace

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.ports import IndexIdentity
    from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Ranking, Search, Vector

__all__ = ["Settings", "abandon", "connect", "erase", "files", "remove", "replace"]

SENTENCE = "The search index is away; try again in a moment."
ENVIRONMENT = {"FOOTNOTE_INDEX__KIND": "flaky"}

GONE = "index.gone"
"""It cannot be opened."""
AWAY = "index.away"
"""It opens, and then every use fails."""
PART = "index.part"
"""Rankings are partial."""
BUG = "index.bug"
"""Searches raise a bug whose error repeats the query."""


def install(folder: Path) -> None:
    """Register it as `flaky` for programs that import from `folder`."""
    information = folder / "flaky-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: flaky\nVersion: 1.0\n", "utf-8")
    (information / "entry_points.txt").write_text(
        "[rag_engine.indexes]\nflaky = tests.doubles.flaky_index\n", "utf-8"
    )


@asynccontextmanager
async def connect(
    settings: Settings, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
) -> AsyncGenerator[FlakyIndex]:
    if _exists(data_dir, GONE):
        raise _away()
    async with embedded.connect(
        settings, data_dir=data_dir, identity=identity, rebuilding=rebuilding
    ) as index:
        yield FlakyIndex(index=index, data_dir=data_dir)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyIndex:
    index: EmbeddedIndex
    data_dir: Path

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        self._check()
        await self.index.put(document, chunks)

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        self._check()
        await self.index.drop(knowledge_base, document)

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        self._check()
        if _exists(self.data_dir, BUG):
            _stumble(searches)
        complete = not _exists(self.data_dir, PART)
        return [
            dataclasses.replace(ranking, complete=complete) for ranking in await self.index.search(searches)
        ]

    def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        return self.index.scan(knowledge_base, document)

    async def count(self, knowledge_base: KnowledgeBaseId) -> int:
        self._check()
        return await self.index.count(knowledge_base)

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        self._check()
        return await self.index.chunks(knowledge_base, document, limit=limit, start=start)

    def _check(self) -> None:
        if _exists(self.data_dir, AWAY) or _exists(self.data_dir, GONE):
            raise _away()


def _away() -> IndexUnavailable:
    return IndexUnavailable(SENTENCE, backend="flaky", reason="unreachable")


def _stumble(searches: Sequence[Search]) -> None:
    words = " ".join(token for search in searches for token in search.tokens)
    try:
        int(words)
    except ValueError as error:
        raise LookupError(f"no such words: {words}") from error


def _exists(data_dir: Path, name: str) -> bool:
    return (data_dir / name).exists()
