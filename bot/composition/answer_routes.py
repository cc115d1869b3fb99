from __future__ import annotations

from typing import TYPE_CHECKING

from bot.composition import loader
from rag_engine.research import calls
from rag_engine.research.budget import ResearchLimits
from rag_engine.research.research import Research
from rag_engine.summaries.plan import Summaries, SummaryLimits

if TYPE_CHECKING:
    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.ports import Ports, StoredIndex


def research(settings: Settings, indexing: IndexingComponents, ports: Ports) -> Research | None:
    if ports.contents is None:
        return None
    own = {task: model for task, model in ports.task_models.items() if task in calls.TASKS}
    return Research(
        embedder=indexing.embedder,
        contents=ports.contents,
        store=indexing.storage.findings,
        task_models=own,
        limits=ResearchLimits(**settings.research.model_dump(exclude={"automatic"})),
        automatic=settings.research.automatic,
    )


def summaries(settings: Settings, indexing: IndexingComponents, index: StoredIndex) -> Summaries:
    packing = loader.packing(settings)
    own = settings.tasks.get("summary")
    return Summaries(
        index=index,
        library=indexing.catalog,
        unfinished=indexing.catalog.unfinished,
        embedder=indexing.embedder,
        limits=SummaryLimits(**settings.summaries.model_dump(exclude={"enabled"})),
        reply_tokens=(own.max_tokens if own else None) or packing.reply_tokens,
        ratio=packing.context_ratio,
    )
