"""One program at a time builds graphs."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.composition.language_models import language_model
from bot.composition.model_chain import model_choices, with_tasks
from bot.observability import Observers
from rag_engine.errors import IndexUnavailable
from rag_engine.ingestion.graph.builder import GraphBuilder, GraphCost, GraphReport
from rag_engine.ingestion.graph.task import TASK, GraphLimits
from rag_engine.storage.concurrency import file_lock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

_NOBODY: Final = Observers()
_LOCK: Final = "graph.lock"


def has_model(settings: Settings) -> bool:
    return TASK in settings.tasks


@asynccontextmanager
async def builder(
    settings: Settings, indexing: IndexingComponents, *, observers: Observers = _NOBODY
) -> AsyncGenerator[GraphBuilder]:
    async with AsyncExitStack() as stack:
        model = None
        if has_model(settings):
            _, own = with_tasks(settings, model_choices(settings)[:-1])
            model = await stack.enter_async_context(language_model(own[TASK], indexing, observers))
        yield GraphBuilder(
            store=indexing.catalog.graph,
            index=indexing.index,
            alone=indexing.ingestion.alone,
            model=model,
            limits=GraphLimits(**settings.graph.model_dump()),
        )


async def build_graphs(
    settings: Settings,
    indexing: IndexingComponents,
    knowledge_base: KnowledgeBaseId | None = None,
    progress: Callable[[DocumentRecord, GraphReport], None] | None = None,
    *,
    observers: Observers = _NOBODY,
) -> GraphReport:
    """Raises `IndexUnavailable` if another program is at it."""
    if not await indexing.catalog.graph.jobs(knowledge_base):
        return GraphReport()
    busy = IndexUnavailable("Another program builds graphs; it builds this one too.", reason="busy")
    async with (
        file_lock.held(settings.data_dir / _LOCK, alone=True, seconds=0, refusal=busy),
        builder(settings, indexing, observers=observers) as opened,
    ):
        return await opened.work(knowledge_base, progress)


async def graph_cost(
    settings: Settings, indexing: IndexingComponents, knowledge_base: KnowledgeBaseId
) -> GraphCost | None:
    """None if rules alone build it."""
    if not has_model(settings):
        return None
    records = [record for record in await indexing.catalog.records(knowledge_base) if record.state == "ready"]
    async with builder(settings, indexing) as opened:
        return await opened.cost(records)
