"""A library with the embedded index and an expander over a scripted model."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.expansion.types import ExpansionLimits
from rag_engine.indexes import embedded
from rag_engine.ingestion.expansion.expander import Expander
from rag_engine.ingestion.ingestion import Ingestion, blob_from_path
from rag_engine.pipeline import Inquiry
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.splitters.structure import Settings, build
from rag_engine.steps import fuse, retrieve
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite.database import connect
from rag_engine.text.analyzer import VERSION
from rag_engine.types import Query
from tests.doubles.expansion_model import ExpansionModel
from tests.unit.ingestion.world import LineParser

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.embedders.hashing import HashingEmbedder
    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import DocumentRecord, Expansion, KnowledgeBaseId


def paragraph(number: int, length: int = 260) -> str:
    """A text of this many characters that only its number tells from the others."""
    text = f"Paragraph number{number} tells of topic{number}."
    return text + " filler" * ((length - len(text)) // 7) + "x" * ((length - len(text)) % 7)


@dataclass
class ExpansionWorld:
    ingestion: Ingestion
    catalog: SqliteCatalog
    index: EmbeddedIndex
    embedder: HashingEmbedder
    folder: Path

    async def base(self, name: str = "docs") -> KnowledgeBaseId:
        return (await self.catalog.open(name, model=self.embedder.model)).id

    async def add(self, name: str, *paragraphs: str, base: str = "docs") -> DocumentRecord:
        path = self.folder / name
        # Pages keep paragraphs in passages of their own.
        path.write_text("\n\n".join(paragraphs), encoding="utf-8")
        blob = await blob_from_path(path)
        return (await self.ingestion.ingest(blob, knowledge_base=await self.base(base))).record

    def expander(self, model: ExpansionModel | None = None, **changes: object) -> Expander:
        made = model or ExpansionModel()
        models = changes.pop("models", {"summary": made, "question": made})
        return Expander(
            store=self.catalog.expansions,
            index=self.index,
            embedder=self.embedder,
            models=models,  # pyright: ignore[reportArgumentType]
            alone=self.ingestion.alone,
            limits=ExpansionLimits(**changes),  # pyright: ignore[reportArgumentType]
        )

    async def counts(self, base: str = "docs") -> tuple[int, int]:
        knowledge_base = await self.base(base)
        return (
            await self.index.expansions(knowledge_base, "summary"),
            await self.index.expansions(knowledge_base, "question"),
        )

    async def found(self, question: str, *bases: str, **settings: object) -> Inquiry:
        """After `retrieve` and `fuse`."""
        ports = Ports(embedder=self.embedder, index=self.index, layers=self.catalog.expansions)
        ids = frozenset([await self.base(name) for name in bases or ("docs",)])
        inquiry = Inquiry(query=Query(text=question, knowledge_bases=ids), question=question)
        found = await retrieve.build(retrieve.Settings.model_validate(settings), ports)(inquiry)
        return await fuse.build(fuse.Settings(), ports)(found)

    async def switch(self, *kinds: Expansion, base: str = "docs") -> None:
        await self.catalog.expansions.switch(await self.base(base), kinds)


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[ExpansionWorld]:
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    async with (
        connect(tmp_path / "footnote.sqlite") as database,
        hashing.connect(hashing.Settings(max_tokens=64), data_dir=tmp_path) as embedder,
        embedded.connect(
            embedded.Settings(),
            data_dir=tmp_path,
            identity=IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=VERSION),
        ) as index,
    ):
        catalog = SqliteCatalog(database)
        ingestion = Ingestion(
            parse=LineParser().parse,
            splitter=build(Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
            embedder=embedder,
            index=index,
            catalog=catalog,
        )
        yield ExpansionWorld(ingestion, catalog, index, embedder, folder)
