from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.composition import loader, wrappers
from bot.composition.model_chain import chosen_models, model_choices, with_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from bot.composition.components import BaseComponents
    from bot.composition.model_chain import ModelChoice
    from bot.observability import Observers
    from bot.settings import Settings
    from rag_engine.ports import Answerer, LanguageModel, Reranker


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedModels:
    answering: Sequence[LanguageModel]
    of_tasks: Mapping[str, LanguageModel]
    chosen: Mapping[str, LanguageModel]

    @property
    def summarising(self) -> Sequence[LanguageModel]:
        own = self.of_tasks.get("summary")
        return self.answering if own is None else (own, *self.answering)


@asynccontextmanager
async def opened_models(
    settings: Settings, base: BaseComponents, observers: Observers
) -> AsyncGenerator[OpenedModels]:
    *choices, _ = model_choices(settings)
    labelled = chosen_models(settings, choices)
    choices, own = with_tasks(settings, choices)
    async with AsyncExitStack() as stack:

        async def opened(choice: ModelChoice) -> LanguageModel:
            return await stack.enter_async_context(language_model(choice, base, observers))

        yield OpenedModels(
            answering=[await opened(choice) for choice in choices],
            of_tasks={task: await opened(choice) for task, choice in own.items()},
            chosen={label: await opened(choice) for label, choice in labelled.items()},
        )


@asynccontextmanager
async def language_model(
    choice: ModelChoice, base: BaseComponents, observers: Observers
) -> AsyncGenerator[LanguageModel]:
    is_local = loader.is_local("models", choice.kind)
    wraps = wrappers.of_model(observers, base.breakers, is_local=is_local)
    async with loader.model(choice, embedder=base.embedder) as model:
        yield wrappers.wrapped(model, wraps)


@asynccontextmanager
async def answerer(
    settings: Settings, base: BaseComponents, observers: Observers
) -> AsyncGenerator[Answerer]:
    *_, quoting = model_choices(settings)
    async with loader.answerer(quoting, embedder=base.embedder) as opened:
        yield wrappers.wrapped(opened, wrappers.of_answerer(observers))


@asynccontextmanager
async def reranker(
    settings: Settings, base: BaseComponents, observers: Observers
) -> AsyncGenerator[Reranker | None]:
    if not settings.reranker.kind:
        yield None
        return
    async with loader.reranker(settings.reranker, data_dir=settings.data_dir) as found:
        is_local = loader.is_local("rerankers", settings.reranker.kind)
        yield wrappers.wrapped(found, wrappers.of_reranker(observers, base.breakers, is_local=is_local))
