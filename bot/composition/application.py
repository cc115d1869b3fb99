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
from bot.composition.answer_routes import research, summaries
from bot.composition.components import Application, BaseComponents, IndexingComponents
from bot.composition.language_models import answerer, opened_models, reranker
from bot.composition.optional_services import audio_cache, transcriber, voice, web_reader
from bot.composition.retrieval import (
    base_components,
    limits,
    opened_index,
    ports_of,
    refuse_unused,
    steps,
    without_hidden,
)
from bot.composition.sources import Sources
from bot.files.originals import Originals
from bot.observability import Observers
from bot.resilience.retry import keep_trying
from rag_engine import plugins
from rag_engine.engine import Engine
from rag_engine.generation.conversation import follow_up_questions, tags, title
from rag_engine.generation.conversation.follow_up_questions import FollowUpQuestions
from rag_engine.generation.conversation.tags import TagWriter
from rag_engine.generation.conversation.title import GapNameWriter, TitleWriter
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.ingestion.text_limits import TextLimits
from rag_engine.parsing.pool import ParserPool, parser_pool
from rag_engine.speech.audio_text import AudioText
from rag_engine.storage import vector_cache
from rag_engine.summaries import mind_map
from rag_engine.tables.answers import sql_task
from rag_engine.tables.answers.computation import Computation
from rag_engine.tables.store import TableStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection
    from pathlib import Path

    from bot.observability import Sink
    from bot.observability.health import Health
    from bot.observability.metrics import Meters
    from bot.settings import Settings
    from rag_engine.ingestion.ingestion import Parse
    from rag_engine.ports import (
        Embedder,
        IndexIdentity,
        Ports,
        Splitter,
        StoredIndex,
        VectorCache,
    )
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import KnowledgeBaseId

_MB = 1 << 20
_Writer = TypeVar("_Writer")
_NOBODY = Observers()


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
        opening = opened_index(settings, base, rebuilding=rebuilding, observers=observers)
        index = await stack.enter_async_context(opening)
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
    refuse_unused(settings)
    async with voice(settings) as speaking, AsyncExitStack() as stack:
        indexing = await stack.enter_async_context(library(settings, observers=observers, vectors=vectors))
        opened = await stack.enter_async_context(opened_models(settings, indexing, observers))
        index = without_hidden(indexing, indexing.index)
        ports = replace(
            ports_of(indexing, index, opened),
            reranker=await stack.enter_async_context(reranker(settings, indexing, observers)),
            web=await stack.enter_async_context(web_reader(settings, indexing)),
        )
        prepared = partial(steps, settings=settings, observers=observers)
        engine = Engine(
            search_steps=prepared("search", ports),
            prompt_steps=prepared("prompt", ports),
            models=opened.answering,
            choices=opened.chosen,
            summary_models=opened.summarising,
            answerer=await stack.enter_async_context(answerer(settings, indexing, observers)),
            embedder=indexing.embedder,
            history=indexing.storage.history,
            metadata=indexing.catalog.metadata,
            contents=index,
            limits=limits(settings),
            summaries=summaries(settings, indexing, index) if settings.summaries.enabled else None,
            prompt_steps_for=lambda model: prepared("prompt", replace(ports, model=model)),
            research=research(settings, indexing, ports),
            computation=Computation(store=indexing.tables, model=opened.of_tasks.get(sql_task.TASK)),
        )
        made = await stack.enter_async_context(agent(settings, indexing, ports, engine.computation))
        composed = _application(settings, indexing, replace(engine, agent=made), ports, observers)
        yield replace(composed, voice=speaking)


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
