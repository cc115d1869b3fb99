from __future__ import annotations

import asyncio
import gc
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bot.composition import loader, wrappers
from bot.composition.agent import agent
from bot.composition.components import Application, BaseComponents, IndexingComponents
from bot.composition.language_models import OpenedModels, opened_models
from bot.composition.optional_services import audio_cache, reranker, transcriber, voice, web_reader
from bot.composition.research import research
from bot.composition.sources import Sources
from bot.composition.storage import storage
from bot.composition.summaries import summaries
from bot.data_directory import index_lock
from bot.files.originals import Originals
from bot.observability import Observers
from bot.observability.operations import IndexUse
from bot.resilience.circuit_breakers import Breakers
from bot.resilience.retry import keep_trying
from rag_engine import plugins
from rag_engine.engine import Engine, Limits
from rag_engine.errors import BadSettings
from rag_engine.generation.conversation import follow_up_questions, tags, title
from rag_engine.generation.conversation.follow_up_questions import FollowUpQuestions
from rag_engine.generation.conversation.tags import TagWriter
from rag_engine.generation.conversation.title import GapNameWriter, TitleWriter
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.ingestion.text_limits import TextLimits
from rag_engine.parsing.pool import ParserPool, parser_pool
from rag_engine.ports import (
    Embedder,
    IndexIdentity,
    Ports,
    StoredIndex,
    VectorCache,
)
from rag_engine.speech.audio_text import AudioText
from rag_engine.storage import vector_cache
from rag_engine.summaries import mind_map
from rag_engine.tables.answers import sql_task
from rag_engine.tables.answers.computation import Computation
from rag_engine.tables.store import TableStore
from rag_engine.text import analyzer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence
    from pathlib import Path

    from bot.observability import Sink
    from bot.observability.health import Health
    from bot.observability.metrics import Meters
    from bot.settings import Settings
    from rag_engine.ingestion.ingestion import Parse
    from rag_engine.pipeline import NamedStep
    from rag_engine.ports import Splitter
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import KnowledgeBaseId

_MB = 1 << 20
_Writer = TypeVar("_Writer")
_NOBODY = Observers()


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
async def library(
    settings: Settings,
    *,
    on: BaseComponents | None = None,
    rebuilding: bool = False,
    observers: Observers = _NOBODY,
    vectors: Path | None = None,
) -> AsyncGenerator[IndexingComponents]:
    """`rebuilding` opens the index being built. Raises `IndexUnavailable` while another program rebuilds."""
    async with AsyncExitStack() as stack:
        base = on or await stack.enter_async_context(base_components(settings, observers=observers))
        cache = await stack.enter_async_context(cached_vectors(vectors or settings.data_dir))
        index = await stack.enter_async_context(_wrapped_index(settings, base, rebuilding, observers))
        files = await stack.enter_async_context(_file_text(settings))
        parse = observers.parse(files.parse)
        cached = wrappers.wrapped(base.embedder, wrappers.of_ingesting_embedder(cache))
        # Scanning it blocked the event loop for tens of milliseconds.
        gc.freeze()
        splitter = loader.splitter(settings, base.embedder)
        tables = TableStore(settings.data_dir / "tables")
        ingestion = _ingestion(
            settings, base, index, parse=parse, splitter=splitter, embedder=cached, tables=tables
        )
        yield IndexingComponents(
            storage=base.storage,
            embedder=base.embedder,
            identity=base.identity,
            breakers=base.breakers,
            index=index,
            splitter=splitter,
            cached_embedder=cached,
            ingestion=ingestion,
            tables=tables,
            originals=_originals(settings, base.storage.catalog),
            audio=audio_cache(settings),
            transcriber=files.transcriber,
            max_file_bytes=int(settings.parsing.file_mb * _MB),
            parse=parse,
        )


@asynccontextmanager
async def application(
    settings: Settings, *, observers: Observers = _NOBODY, vectors: Path | None = None
) -> AsyncGenerator[Application]:
    _refuse_unused(settings)
    async with voice(settings) as speaking, AsyncExitStack() as stack:
        indexing = await stack.enter_async_context(library(settings, observers=observers, vectors=vectors))
        opened = await stack.enter_async_context(opened_models(settings, indexing, observers))
        index = wrappers.wrapped(indexing.index, wrappers.of_searched_index(indexing.catalog.unfinished))
        ports = replace(
            _ports(indexing, index, opened),
            reranker=await stack.enter_async_context(reranker(settings, indexing, observers)),
            web=await stack.enter_async_context(web_reader(settings, indexing)),
        )
        steps = partial(_steps, settings, observers)
        engine = Engine(
            search_steps=steps("search", ports),
            prompt_steps=steps("prompt", ports),
            models=opened.answering,
            choices=opened.chosen,
            summary_models=opened.summarising,
            answerer=opened.answerer,
            embedder=indexing.embedder,
            history=indexing.storage.history,
            metadata=indexing.catalog.metadata,
            limits=Limits(**settings.answering.model_dump(exclude={"passages"})),
            summaries=summaries(settings, indexing, index) if settings.summaries.enabled else None,
            prompt_steps_for=lambda model: steps("prompt", replace(ports, model=model)),
            research=research(settings, indexing, ports),
            computation=Computation(store=indexing.tables, model=opened.of_tasks.get(sql_task.TASK)),
        )
        made = await stack.enter_async_context(agent(settings, indexing, ports, engine.computation))
        composed = _application(settings, indexing, replace(engine, agent=made), ports, observers)
        yield replace(composed, voice=speaking)


@asynccontextmanager
async def _wrapped_index(
    settings: Settings, base: BaseComponents, rebuilding: bool, observers: Observers
) -> AsyncGenerator[StoredIndex]:
    opened = partial(_index, settings, identity=base.identity, rebuilding=rebuilding, observers=observers)
    async with AsyncExitStack() as stack:
        found = await keep_trying(lambda: stack.enter_async_context(opened()))
        is_local = loader.is_local("indexes", settings.index.kind)
        yield wrappers.wrapped(found, wrappers.of_index(observers, base.breakers, is_local=is_local))


def _ingestion(
    settings: Settings,
    base: BaseComponents,
    index: StoredIndex,
    *,
    parse: Parse,
    splitter: Splitter,
    embedder: Embedder,
    tables: TableStore,
) -> Ingestion:
    limits = settings.ingestion
    return Ingestion(
        parse=parse,
        splitter=splitter,
        embedder=embedder,
        index=index,
        catalog=base.storage.catalog,
        reading=base.storage.active_files.reading,
        limits=TextLimits(characters=limits.document_characters, passages=limits.document_passages),
        folder=settings.data_dir,
        tables=tables,
        contents=index,
    )


def _ports(indexing: IndexingComponents, index: StoredIndex, opened: OpenedModels) -> Ports:
    catalog = indexing.catalog
    return Ports(
        embedder=indexing.embedder,
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


def _application(
    settings: Settings, indexing: IndexingComponents, engine: Engine, ports: Ports, observers: Observers
) -> Application:
    return Application(
        library=indexing,
        engine=engine,
        sources=Sources(settings=settings, library=indexing, observers=observers),
        settings=settings,
        observers=observers,
        follow_ups=_follow_ups(settings, engine, ports),
        mind_maps=mind_map.MindMaps(model=ports.task_models.get(mind_map.TASK)),
        titles=_of_task(ports, title.TASK, TitleWriter),
        tags=_of_task(ports, tags.TASK, TagWriter),
        gap_names=_of_task(ports, title.GAPS, GapNameWriter),
    )


def _follow_ups(settings: Settings, engine: Engine, ports: Ports) -> FollowUpQuestions | None:
    model = ports.task_models.get(follow_up_questions.TASK)
    if model is None:
        return None
    judge = loader.step("evidence", settings, replace(ports, model=None)).run
    return FollowUpQuestions(model=model, answers=partial(engine.answers, judge=judge))


def _of_task(ports: Ports, task: str, writer: Callable[..., _Writer]) -> _Writer | None:
    model = ports.task_models.get(task)
    return None if model is None else writer(model=model)


def _steps(settings: Settings, observers: Observers, phase: str, ports: Ports) -> Sequence[NamedStep]:
    return observers.steps([loader.step(name, settings, ports) for name in loader.step_names()[phase]])


async def replace_index(
    settings: Settings, *, identity: IndexIdentity, knowledge_bases: Collection[KnowledgeBaseId]
) -> None:
    """It may hold only these knowledge bases. Both must be closed."""
    module, own = loader.index_module(settings.index, settings)
    await keep_trying(
        lambda: module.replace(
            own, data_dir=settings.data_dir, identity=identity, knowledge_bases=knowledge_bases
        )
    )


async def abandon_rebuild(settings: Settings) -> None:
    module, own = loader.index_module(settings.index, settings)
    await keep_trying(lambda: module.abandon(own, data_dir=settings.data_dir))


@asynccontextmanager
async def metrics(settings: Settings, health: Health) -> AsyncGenerator[Meters | None]:
    if settings.metrics.port is None:
        yield None
        return
    measuring = await asyncio.to_thread(plugins.load, "bot.observability", "metrics")
    server = await asyncio.to_thread(plugins.load, "bot.observability", "health_server")
    meters = measuring.Meters()
    async with server.served(settings.metrics, registry=meters.registry, health=health):
        yield meters


@asynccontextmanager
async def observers(settings: Settings, *given: Sink | None) -> AsyncGenerator[Observers]:
    """Raises `MissingExtra`."""
    async with AsyncExitStack() as stack:
        sinks = [sink for sink in given if sink is not None]
        if settings.tracing.endpoint:
            tracing = await asyncio.to_thread(plugins.load, "bot.observability", "otel_traces", extra="otel")
            sinks.append(await stack.enter_async_context(tracing.exported(settings.tracing)))
        yield Observers(sinks=tuple(sinks))


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


def _originals(settings: Settings, catalog: SqliteCatalog) -> Originals:
    return Originals(
        settings.data_dir / "originals",
        catalog=catalog,
        most_bytes=int(settings.ingestion.originals_mb * _MB),
    )


@asynccontextmanager
async def _file_text(settings: Settings) -> AsyncGenerator[AudioText]:
    async with _parser_pool(settings) as pool, transcriber(settings) as connected:
        yield AudioText(parse_file=pool.parse, transcriber=connected)


def _parser_pool(settings: Settings) -> AbstractAsyncContextManager[ParserPool]:
    parsing = settings.parsing
    return parser_pool(
        workers=parsing.workers,
        seconds=parsing.seconds,
        memory_bytes=parsing.memory_mb * _MB,
        recognition_seconds=parsing.ocr_seconds,
        languages=parsing.ocr_languages,
    )


def cached_vectors(folder: Path) -> AbstractAsyncContextManager[VectorCache]:
    return vector_cache.connect(folder / "vectors.sqlite")


def _refuse_unused(settings: Settings) -> None:
    if settings.reranker.rest() and not settings.reranker.kind:
        raise BadSettings(
            "FOOTNOTE_RERANKER__KIND is not set, so the other settings of the reranker do nothing."
        )
    if not settings.steps:
        return
    steps = [name for names in loader.step_names().values() for name in names]
    for name in settings.steps:
        if name not in (*steps, *loader.RENAMED_STEPS):
            raise BadSettings(
                f"FOOTNOTE_STEPS__{name.upper()}: there is no such step; there are: {', '.join(steps)}."
            )


def identity_of(embedder: Embedder) -> IndexIdentity:
    return IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION)
