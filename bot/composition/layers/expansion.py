"""One program at a time runs the expander."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from bot.composition.language_models import language_model
from bot.composition.model_chain import model_choices, with_tasks
from bot.observability import Observers
from rag_engine.errors import BadSettings, IndexUnavailable
from rag_engine.expansion.types import TASKS, ExpansionCost, ExpansionLimits, ExpansionReport
from rag_engine.ingestion.expansion.expander import Expander
from rag_engine.storage.concurrency import file_lock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.types import DocumentRecord, Expansion, KnowledgeBaseId

_NOBODY: Final = Observers()
_LOCK: Final = "expanding.lock"


@asynccontextmanager
async def expander(
    settings: Settings, indexing: IndexingComponents, *, observers: Observers = _NOBODY
) -> AsyncGenerator[Expander]:
    """Raises `BadSettings` without a language model."""
    *choices, _ = model_choices(settings)
    choices, own = with_tasks(settings, choices)
    if not choices:
        raise BadSettings(
            "A language model makes summaries and questions of passages: set FOOTNOTE_MODEL__NAME first."
        )
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(language_model(choices[0], indexing, observers))
        yield Expander(
            store=indexing.catalog.expansions,
            index=indexing.index,
            embedder=indexing.cached_embedder,
            models={
                kind: await stack.enter_async_context(language_model(own[task], indexing, observers))
                if task in own
                else first
                for kind, task in TASKS.items()
            },
            alone=indexing.ingestion.alone,
            limits=_limits(settings),
        )


async def expand(
    settings: Settings,
    indexing: IndexingComponents,
    knowledge_base: KnowledgeBaseId | None = None,
    progress: Callable[[DocumentRecord, ExpansionReport], None] | None = None,
    *,
    observers: Observers = _NOBODY,
) -> ExpansionReport:
    """Raises `IndexUnavailable` if another program is at it."""
    if not await indexing.catalog.expansions.jobs(knowledge_base):
        return ExpansionReport()
    busy = IndexUnavailable(
        "Another program makes summaries and questions of passages; it makes these too.", reason="busy"
    )
    async with (
        file_lock.held(settings.data_dir / _LOCK, alone=True, seconds=0, refusal=busy),
        expander(settings, indexing, observers=observers) as opened,
    ):
        return await opened.work(knowledge_base, progress)


def _limits(settings: Settings) -> ExpansionLimits:
    own = settings.expansion
    temperatures: dict[Expansion, float] = {}
    for kind, task in TASKS.items():
        chosen = settings.tasks[task].temperature if task in settings.tasks else None
        if chosen is not None:
            temperatures[kind] = chosen
    return ExpansionLimits(
        longer_than=own.longer_than,
        questions=own.questions,
        at_once=own.at_once,
        seconds=own.seconds,
        prompts={"summary": own.summary_prompt, "question": own.questions_prompt},
        temperatures=temperatures,
    )


async def estimate(
    settings: Settings,
    indexing: IndexingComponents,
    knowledge_base: KnowledgeBaseId,
    kinds: Sequence[Expansion],
) -> ExpansionCost:
    """Raises `BadSettings` without a language model."""
    records = [record for record in await indexing.catalog.records(knowledge_base) if record.state == "ready"]
    async with expander(settings, indexing) as opened:
        return await opened.cost(records, kinds)
