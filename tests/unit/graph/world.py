"""A library whose knowledge bases may have graphs, over real SQLite files and the embedded index."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.ingestion.graph.builder import GraphBuilder
from rag_engine.ingestion.graph.task import GraphLimits
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.steps import fuse, graph, retrieve
from rag_engine.types import Query
from tests.unit.ingestion.expansion.world import ExpansionWorld, opened

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.graph.types import GraphSource
    from rag_engine.ingestion.graph.builder import GraphReport
    from rag_engine.ports import LanguageModel


class GraphWorld(ExpansionWorld):
    def builder(self, model: LanguageModel | None = None, **limits: int) -> GraphBuilder:
        return GraphBuilder(
            store=self.catalog.graph,
            index=self.index,
            alone=self.ingestion.alone,
            model=model,
            limits=GraphLimits(**limits),
        )

    async def build(self, *bases: str, source: GraphSource = "rules") -> GraphReport:
        for base in bases or ("docs",):
            await self.catalog.graph.switch(await self.base(base), source)
        return await self.builder().work()

    async def asked(self, question: str, *bases: str, weight: float = 1.0) -> Inquiry:
        """After `retrieve`, `fuse` and `graph`."""
        ports = Ports(
            embedder=self.embedder,
            index=self.index,
            contents=self.index,
            layers=self.catalog.expansions,
            graph=self.catalog.graph,
        )
        ids = frozenset([await self.base(name) for name in bases or ("docs",)])
        inquiry = Inquiry(query=Query(text=question, knowledge_bases=ids), question=question)
        for step in (
            retrieve.build(retrieve.Settings(), ports),
            fuse.build(fuse.Settings(), ports),
            graph.build(graph.Settings(weight=weight), ports),
        ):
            inquiry = await step(inquiry)
        return inquiry


@asynccontextmanager
async def graph_world(tmp_path: Path) -> AsyncGenerator[GraphWorld]:
    async with opened(tmp_path) as world:
        yield GraphWorld(world.ingestion, world.catalog, world.index, world.embedder, world.folder)
