"""What a search needs, without ingestion and answers, which take half of a start."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.composition import loader, wrappers
from bot.composition.components import BaseComponents
from bot.composition.language_models import OpenedModels, opened_models, reranker
from bot.composition.storage import storage
from bot.data_directory import index_lock
from bot.observability import Observers
from bot.observability.operations import IndexUse
from bot.resilience.circuit_breakers import Breakers
from bot.resilience.retry import keep_trying
from rag_engine.errors import BadSettings
from rag_engine.ports import Embedder, IndexIdentity, Ports, StoredIndex
from rag_engine.retriever import Limits, Retriever
from rag_engine.text import analyzer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.settings import Settings
    from rag_engine.pipeline import NamedStep
    from rag_engine.storage.catalog import SqliteCatalog

_NOBODY = Observers()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchComponents:
    catalog: SqliteCatalog
    retriever: Retriever


@asynccontextmanager
async def searching(
    settings: Settings, *, observers: Observers = _NOBODY
) -> AsyncGenerator[SearchComponents]:
    refuse_unused(settings)
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(base_components(settings, observers=observers))
        index = await stack.enter_async_context(opened_index(settings, base, observers=observers))
        opened = await stack.enter_async_context(opened_models(settings, base, observers))
        ports = replace(
            ports_of(base, without_hidden(base, index), opened),
            reranker=await stack.enter_async_context(reranker(settings, base, observers)),
        )
        retriever = Retriever(
            steps=steps("search", ports, settings=settings, observers=observers),
            metadata=base.catalog.metadata,
            limits=limits(settings),
        )
        yield SearchComponents(catalog=base.catalog, retriever=retriever)


@asynccontextmanager
async def base_components(
    settings: Settings, *, observers: Observers = _NOBODY
) -> AsyncGenerator[BaseComponents]:
    async with AsyncExitStack() as stack:
        stored = await stack.enter_async_context(storage(settings, observers=observers))
        embedder = await keep_trying(lambda: stack.enter_async_context(loader.embedder(settings)))
        breakers = Breakers(settings=settings.breakers, on_change=observers.circuit)
        is_local = loader.is_local("embedders", settings.embedder.kind)
        wrapped = wrappers.wrapped(embedder, wrappers.of_embedder(observers, breakers, is_local=is_local))
        yield BaseComponents(
            storage=stored, embedder=wrapped, identity=identity_of(embedder), breakers=breakers
        )


@asynccontextmanager
async def opened_index(
    settings: Settings, base: BaseComponents, *, rebuilding: bool = False, observers: Observers = _NOBODY
) -> AsyncGenerator[StoredIndex]:
    async with AsyncExitStack() as stack:
        connecting = lambda: stack.enter_async_context(  # noqa: E731
            _index(settings, identity=base.identity, rebuilding=rebuilding, observers=observers)
        )
        is_local = loader.is_local("indexes", settings.index.kind)
        wraps = wrappers.of_index(observers, base.breakers, is_local=is_local)
        yield wrappers.wrapped(await keep_trying(connecting), wraps)


@asynccontextmanager
async def _index(
    settings: Settings, *, identity: IndexIdentity, rebuilding: bool, observers: Observers
) -> AsyncGenerator[StoredIndex]:
    module, own = loader.index_module(settings.index, settings)
    connecting = module.connect(own, data_dir=settings.data_dir, identity=identity, rebuilding=rebuilding)
    async with AsyncExitStack() as stack:
        if not rebuilding:
            await stack.enter_async_context(index_lock.in_use(settings.data_dir))
        with observers.around(IndexUse(name="open")):
            index = await stack.enter_async_context(connecting)
        yield index


def without_hidden(base: BaseComponents, index: StoredIndex) -> StoredIndex:
    return wrappers.wrapped(index, wrappers.of_searched_index(base.catalog.unfinished))


def ports_of(base: BaseComponents, index: StoredIndex, opened: OpenedModels) -> Ports:
    catalog = base.catalog
    return Ports(
        embedder=base.embedder,
        index=index,
        model=opened.answering[0] if opened.answering else None,
        contents=index,
        metadata=catalog.metadata,
        task_models=opened.of_tasks,
        synonyms=catalog.synonyms,
        verified=catalog.verified,
        layers=catalog.expansions,
        graph=catalog.graph,
    )


def steps(phase: str, ports: Ports, *, settings: Settings, observers: Observers) -> Sequence[NamedStep]:
    return observers.steps([loader.step(name, settings, ports) for name in loader.step_names()[phase]])


def limits(settings: Settings) -> Limits:
    return Limits(**settings.answering.model_dump(exclude={"passages"}))


def refuse_unused(settings: Settings) -> None:
    if settings.reranker.rest() and not settings.reranker.kind:
        raise BadSettings(
            "FOOTNOTE_RERANKER__KIND is not set, so the other settings of the reranker do nothing."
        )
    if not settings.steps:
        return
    names = [name for phase in loader.step_names().values() for name in phase]
    for name in settings.steps:
        if name not in (*names, *loader.RENAMED_STEPS):
            raise BadSettings(
                f"FOOTNOTE_STEPS__{name.upper()}: there is no such step; there are: {', '.join(names)}."
            )


def identity_of(embedder: Embedder) -> IndexIdentity:
    return IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION)
