from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.research import calls
from rag_engine.research.budget import ResearchLimits
from rag_engine.research.research import Research

if TYPE_CHECKING:
    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.ports import Ports


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
