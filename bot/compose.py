"""Settings -> parts -> a running program. The only place that loads concrete parts, by name."""

from __future__ import annotations

import asyncio
import gc
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from bot import parts
from bot.files import separately
from bot.files.hiding import HidingIndex
from bot.files.intake import Intake
from bot.files.originals import Originals
from bot.guarding import Breakers
from bot.keeping import directory
from bot.library import Application, Foundation, Library, Storage
from bot.model_chain import model_choices
from bot.observing import Observers
from bot.observing.operations import IndexUse
from bot.patience import PatientEmbedder, PatientIndex, keep_trying
from bot.process import exclusive
from rag_engine import analysis, plugins
from rag_engine.caching import CachedEmbedder
from rag_engine.engine import Engine, Limits
from rag_engine.errors import BadSettings
from rag_engine.ingestion import Ingestion
from rag_engine.parsing import ParserPool, parser_pool
from rag_engine.ports import Embedder, Index, IndexIdentity, Ports, Splitter, VectorCache
from rag_engine.storage import jobs, sqlite, vectors
from rag_engine.storage.attempts import SqliteAttempts
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.waiting import uninterrupted
from rag_engine.summarizing.summaries import Limits as SummaryLimits
from rag_engine.summarizing.summaries import Summaries

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection
    from pathlib import Path

    from pydantic import BaseModel
    from rich.console import Console

    from bot.measuring import Meters
    from bot.observing import Sink
    from bot.port import ChatService, Outlet
    from bot.process.health import Health
    from bot.settings import Settings
    from rag_engine.types import KnowledgeBaseId

SEARCH_STEPS = ("refine", "retrieve", "fuse", "rerank")
PROMPT_STEPS = ("pack",)
_MB = 1 << 20
_NOBODY = Observers()


class ConsoleModule(Protocol):
    """`adapters.console`."""

    Settings: type[BaseModel]

    async def run(self, settings: BaseModel, service: ChatService) -> None: ...

    async def read_line(self, prompt: str) -> str: ...

    def outlet(self, console: Console) -> AbstractContextManager[Outlet]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """The parts that are measured: the embedder with its cache, an empty index, the splitter."""

    embedder: Embedder
    index: Index
    splitter: Splitter


@asynccontextmanager
async def storage(settings: Settings, *, observers: Observers = _NOBODY) -> AsyncGenerator[Storage]:
    """The data directory's SQLite file, made or migrated when needed."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(directory.in_use(settings.data_dir))
        database = await stack.enter_async_context(
            sqlite.connect(
                settings.data_dir / "footnote.sqlite", on_turn=partial(observers.waited, "footnote")
            )
        )
        claims = await stack.enter_async_context(
            jobs.connect(database, workers=settings.data_dir / "workers")
        )
        attempts = SqliteAttempts(database, workers=settings.data_dir / "workers", worker=claims.worker)
        await attempts.sweep()
        yield Storage(
            catalog=SqliteCatalog(database),
            history=SqliteHistory(database),
            queue=jobs.SqliteJobQueue(database),
            claims=claims,
            attempts=attempts,
        )


@asynccontextmanager
async def foundation(settings: Settings, *, observers: Observers = _NOBODY) -> AsyncGenerator[Foundation]:
    """Storage and embedder: all that must be there when the index is not."""
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(storage(settings, observers=observers))
        embedder = await keep_trying(lambda: stack.enter_async_context(parts.embedder(settings)))
        breakers = Breakers(settings=settings.breakers, on_change=observers.circuit)
        guarded = breakers.embedder(observers.embedder(embedder), kind=settings.embedder.kind)
        yield Foundation(storage=kept, embedder=guarded, identity=_identity(embedder), breakers=breakers)


@asynccontextmanager
async def library(
    settings: Settings,
    *,
    on: Foundation | None = None,
    rebuilding: bool = False,
    observers: Observers = _NOBODY,
) -> AsyncGenerator[Library]:
    """A foundation (`on`, or one of its own), the index and the way in; `rebuilding` takes the index that is built beside the one in use.

    Raises `IndexUnavailable` while another program rebuilds the data directory's index. Inside `patience.patient`, opening it
    and what files need of it wait for what does not answer.
    """
    async with AsyncExitStack() as stack:
        base = on or await stack.enter_async_context(foundation(settings, observers=observers))
        cache = await stack.enter_async_context(_vector_cache(settings))
        opened = partial(_index, settings, identity=base.identity, rebuilding=rebuilding, observers=observers)
        found = await keep_trying(lambda: stack.enter_async_context(opened()))
        index = PatientIndex(base.breakers.index(found, kind=settings.index.kind))
        pool = await stack.enter_async_context(_parser_pool(settings))
        splitter = parts.splitter(settings, base.embedder)
        cached = CachedEmbedder(PatientEmbedder(base.embedder), cache)
        # What is loaded now lives as long as the program: later collections need not look at it again, which took them tens of
        # milliseconds in which the event loop stood still.
        gc.freeze()
        ingestion = Ingestion(
            parse=observers.parse(pool.parse),
            splitter=splitter,
            embedder=cached,
            index=index,
            catalog=base.storage.catalog,
        )
        yield Library(
            storage=base.storage,
            embedder=base.embedder,
            identity=base.identity,
            breakers=base.breakers,
            index=index,
            splitter=splitter,
            cached_embedder=cached,
            ingestion=ingestion,
            intake=Intake(ingestion=ingestion, attempts=base.storage.attempts, separately=separately.ingest),
            originals=Originals(
                settings.data_dir / "originals",
                catalog=base.storage.catalog,
                most_bytes=int(settings.ingestion.originals_mb * _MB),
            ),
            max_file_bytes=int(settings.parsing.file_mb * _MB),
        )


@asynccontextmanager
async def application(settings: Settings, *, observers: Observers = _NOBODY) -> AsyncGenerator[Application]:
    """Everything a question needs, with the models that are configured; the last one needs no server."""
    _refuse_unused(settings)
    async with AsyncExitStack() as stack:
        books = await stack.enter_async_context(library(settings, observers=observers))
        models = [
            books.breakers.model(
                observers.model(
                    await stack.enter_async_context(parts.model(choice, embedder=books.embedder))
                ),
                kind=choice.kind,
            )
            for choice in model_choices(settings)
        ]
        reranker = None
        if settings.reranker.kind:
            reranker = books.breakers.reranker(
                observers.reranker(
                    await stack.enter_async_context(
                        parts.reranker(settings.reranker, data_dir=settings.data_dir)
                    )
                ),
                kind=settings.reranker.kind,
            )
        index = HidingIndex(books.index, books.catalog.unfinished)
        ports = Ports(embedder=books.embedder, index=index, model=models[0], reranker=reranker)
        engine = Engine(
            search_steps=observers.steps([parts.step(name, settings, ports) for name in SEARCH_STEPS]),
            prompt_steps=observers.steps([parts.step(name, settings, ports) for name in PROMPT_STEPS]),
            models=models,
            embedder=books.embedder,
            history=books.storage.history,
            limits=Limits(
                question_characters=settings.answering.question_characters,
                history_turns=settings.answering.history_turns,
                first_text_seconds=settings.answering.first_text_seconds,
            ),
            summaries=_summaries(settings, books, index) if settings.summaries.enabled else None,
            prompt_steps_for=lambda model: observers.steps(
                [parts.step(name, settings, replace(ports, model=model)) for name in PROMPT_STEPS]
            ),
        )
        yield Application(library=books, engine=engine, settings=settings, observers=observers)


def _summaries(settings: Settings, books: Library, index: HidingIndex) -> Summaries:
    """Summaries of what may be found, written as answers are."""
    packing = parts.packing(settings)
    return Summaries(
        index=index,
        library=books.catalog,
        unfinished=books.catalog.unfinished,
        embedder=books.embedder,
        limits=SummaryLimits(**settings.summaries.model_dump(exclude={"enabled"})),
        reply_tokens=packing.reply_tokens,
        ratio=packing.context_ratio,
    )


@asynccontextmanager
async def laboratory(settings: Settings, folder: Path, *, index_kind: str = "") -> AsyncGenerator[Laboratory]:
    """The parts of retrieval over an empty index of its own, which is removed at the end; vectors are cached in the data directory.

    `folder` is where the index may keep files.
    """
    module, own = parts.index_module(parts.throw_away(settings.index, kind=index_kind), settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(directory.in_use(settings.data_dir))
        embedder = await stack.enter_async_context(parts.embedder(settings))
        cache = await stack.enter_async_context(_vector_cache(settings))
        stack.push_async_callback(lambda: uninterrupted(module.remove(own, data_dir=folder)))
        # Interrupted while it is being made, it might be made only after it has been removed.
        index = await uninterrupted(
            stack.enter_async_context(module.connect(own, data_dir=folder, identity=_identity(embedder)))
        )
        yield Laboratory(
            embedder=CachedEmbedder(embedder, cache),
            index=index,
            splitter=parts.splitter(settings, embedder),
        )


async def replace_index(
    settings: Settings, *, identity: IndexIdentity, knowledge_bases: Collection[KnowledgeBaseId]
) -> None:
    """Put the rebuilt index, closed, in the place of the one in use, which must hold these knowledge bases at most."""
    module, own = parts.index_module(settings.index, settings)
    await keep_trying(
        lambda: module.replace(
            own, data_dir=settings.data_dir, identity=identity, knowledge_bases=knowledge_bases
        )
    )


async def abandon_rebuild(settings: Settings) -> None:
    """Remove an index that an interrupted rebuild left, if there is one."""
    module, own = parts.index_module(settings.index, settings)
    await keep_trying(lambda: module.abandon(own, data_dir=settings.data_dir))


def console() -> ConsoleModule:
    """The console adapter."""
    return cast("ConsoleModule", plugins.load("adapters", "console"))


@asynccontextmanager
async def metrics(settings: Settings, health: Health) -> AsyncGenerator[Meters | None]:
    """What `application` counts with, shown to others with `health` until the block ends; None when no port is set for it."""
    if settings.metrics.port is None:
        yield None
        return
    # Nobody else should pay for their import.
    measuring = await asyncio.to_thread(plugins.load, "bot", "measuring")
    server = await asyncio.to_thread(plugins.load, "bot.process", "health_server")
    meters = measuring.Meters()
    async with server.served(settings.metrics, registry=meters.registry, health=health):
        yield meters


@asynccontextmanager
async def observers(settings: Settings, meters: Meters | None = None) -> AsyncGenerator[Observers]:
    """Whoever counts (`meters`) and, where an endpoint is set for it, whoever traces. Raises `MissingExtra`."""
    async with AsyncExitStack() as stack:
        sinks: list[Sink] = [] if meters is None else [meters]
        if settings.tracing.endpoint:
            tracing = await asyncio.to_thread(plugins.load, "bot", "tracing", extra="otel")
            sinks.append(await stack.enter_async_context(tracing.exported(settings.tracing)))
        yield Observers(sinks=tuple(sinks))


@asynccontextmanager
async def _index(
    settings: Settings, *, identity: IndexIdentity, rebuilding: bool, observers: Observers
) -> AsyncGenerator[parts.StoredIndex]:
    """The index, observed where anybody does."""
    module, own = parts.index_module(settings.index, settings)
    connecting = module.connect(own, data_dir=settings.data_dir, identity=identity, rebuilding=rebuilding)
    async with AsyncExitStack() as stack:
        if not rebuilding:
            await stack.enter_async_context(exclusive.in_use(settings.data_dir))
        with observers.around(IndexUse(name="open")):
            index = await stack.enter_async_context(connecting)
        yield observers.index(index)


def _parser_pool(settings: Settings) -> AbstractAsyncContextManager[ParserPool]:
    parsing = settings.parsing
    return parser_pool(
        workers=parsing.workers,
        seconds=parsing.seconds,
        memory_bytes=parsing.memory_mb * _MB,
        recognition_seconds=parsing.ocr_seconds,
        languages=parsing.ocr_languages,
    )


def _vector_cache(settings: Settings) -> AbstractAsyncContextManager[VectorCache]:
    """For what is indexed. Questions and the sentences of answers are not worth a record."""
    return vectors.connect(settings.data_dir / "vectors.sqlite")


def _refuse_unused(settings: Settings) -> None:
    """A setting that nothing reads is a mistake of the writer's, not a wish."""
    if settings.reranker.rest() and not settings.reranker.kind:
        raise BadSettings(
            "FOOTNOTE_RERANKER__KIND is not set, so the other settings of the reranker do nothing."
        )
    steps = (*SEARCH_STEPS, *PROMPT_STEPS)
    for name in settings.steps:
        if name not in steps:
            raise BadSettings(
                f"FOOTNOTE_STEPS__{name.upper()}: there is no such step; there are: {', '.join(steps)}."
            )


def _identity(embedder: Embedder) -> IndexIdentity:
    return IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=analysis.VERSION)
