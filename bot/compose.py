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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import BaseModel, ValidationError

from bot import exclusive
from bot import settings as bot_settings
from bot.access import DEFAULT_KNOWLEDGE_BASE, Scope, scope
from bot.service import Service
from bot.uploads import receive
from rag_engine import analysis, plugins
from rag_engine.caching import CachedEmbedder
from rag_engine.engine import Engine, Limits
from rag_engine.errors import BadSettings
from rag_engine.ingestion import Ingestion
from rag_engine.parsing import parser_pool
from rag_engine.pipeline import NamedStep
from rag_engine.ports import (
    Embedder,
    Index,
    IndexContents,
    IndexIdentity,
    LanguageModel,
    Ports,
    Reranker,
    Splitter,
    VectorCache,
)
from rag_engine.storage import jobs, sqlite, vectors
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from bot.port import Attachment, ChatService, MessageStream, Place
    from bot.settings import Settings, Slice
    from rag_engine.types import Ingested

SEARCH_STEPS = ("refine", "retrieve", "fuse", "rerank")
PROMPT_STEPS = ("pack",)
_MB = 1 << 20


class StoredIndex(Index, IndexContents, Protocol):
    """An index whose contents can be read back."""


class ConsoleModule(Protocol):
    """`adapters.console`."""

    Settings: type[BaseModel]

    async def run(self, settings: BaseModel, service: ChatService) -> None: ...

    async def read_line(self, prompt: str) -> str: ...

    def message_stream(self, console: Console) -> AbstractContextManager[MessageStream]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What is kept in SQLite."""

    catalog: SqliteCatalog
    history: SqliteHistory
    queue: jobs.SqliteJobQueue
    claims: jobs.SqliteJobClaims


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What files need to become searchable."""

    storage: Storage
    embedder: Embedder
    identity: IndexIdentity
    index: StoredIndex
    ingestion: Ingestion
    max_file_bytes: int

    @property
    def catalog(self) -> SqliteCatalog:
        """The catalog of the storage."""
        return self.storage.catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything a question needs."""

    library: Library
    engine: Engine
    settings: Settings

    @property
    def catalog(self) -> SqliteCatalog:
        """The catalog of the library."""
        return self.library.catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Laboratory:
    """The parts that are measured: the embedder with its cache, an empty index, the splitter."""

    embedder: Embedder
    index: Index
    splitter: Splitter


@asynccontextmanager
async def storage(settings: Settings) -> AsyncGenerator[Storage]:
    """The data directory's SQLite file, made or migrated when needed."""
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(sqlite.connect(settings.data_dir / "footnote.sqlite"))
        claims = await stack.enter_async_context(
            jobs.connect(database, workers=settings.data_dir / "workers")
        )
        yield Storage(
            catalog=SqliteCatalog(database),
            history=SqliteHistory(database),
            queue=jobs.SqliteJobQueue(database),
            claims=claims,
        )


@asynccontextmanager
async def library(settings: Settings, *, index_dir: Path | None = None) -> AsyncGenerator[Library]:
    """Storage, embedder, index and the way in; `index_dir` puts the index elsewhere than in the data directory.

    Raises `IndexUnavailable` while another program rebuilds the data directory's index.
    """
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(storage(settings))
        if index_dir is None:
            await stack.enter_async_context(exclusive.in_use(settings.data_dir))
        embedder = await stack.enter_async_context(_embedder(settings))
        cache = await stack.enter_async_context(_vector_cache(settings))
        identity = _identity(embedder)
        index = await stack.enter_async_context(
            _index(settings.index, data_dir=index_dir or settings.data_dir, identity=identity)
        )
        parsing = settings.parsing
        pool = await stack.enter_async_context(
            parser_pool(
                workers=parsing.workers, seconds=parsing.seconds, memory_bytes=parsing.memory_mb * _MB
            )
        )
        ingestion = Ingestion(
            parse=pool.parse,
            splitter=_splitter(settings, embedder),
            embedder=CachedEmbedder(embedder, cache),
            index=index,
            catalog=kept.catalog,
        )
        # What is loaded now lives as long as the program: later collections need not look at it again, which took them tens of
        # milliseconds in which the event loop stood still.
        gc.freeze()
        yield Library(
            storage=kept,
            embedder=embedder,
            identity=identity,
            index=index,
            ingestion=ingestion,
            max_file_bytes=int(parsing.file_mb * _MB),
        )


@asynccontextmanager
async def application(settings: Settings) -> AsyncGenerator[Application]:
    """Everything a question needs, with the models that are configured; the last one needs no server."""
    _refuse_unused(settings)
    async with AsyncExitStack() as stack:
        parts = await stack.enter_async_context(library(settings))
        models = [
            await stack.enter_async_context(_model(kind, settings, parts.embedder))
            for kind in _models(settings)
        ]
        reranker = None
        if settings.reranker.kind:
            reranker = await stack.enter_async_context(
                _reranker(settings.reranker, data_dir=settings.data_dir)
            )
        ports = Ports(embedder=parts.embedder, index=parts.index, model=models[0], reranker=reranker)
        engine = Engine(
            search_steps=[_step(name, settings, ports) for name in SEARCH_STEPS],
            prompt_steps=[_step(name, settings, ports) for name in PROMPT_STEPS],
            models=models,
            embedder=parts.embedder,
            history=parts.storage.history,
            limits=Limits(
                question_characters=settings.answering.question_characters,
                history_turns=settings.answering.history_turns,
            ),
        )
        yield Application(library=parts, engine=engine, settings=settings)


@asynccontextmanager
async def laboratory(settings: Settings, folder: Path, *, index_kind: str = "") -> AsyncGenerator[Laboratory]:
    """The parts of retrieval over an empty index in `folder`; vectors are cached in the data directory."""
    chosen = (
        settings.index if index_kind in {"", settings.index.kind} else type(settings.index)(kind=index_kind)
    )
    async with (
        _embedder(settings) as embedder,
        _vector_cache(settings) as cache,
        _index(chosen, data_dir=folder, identity=_identity(embedder)) as index,
    ):
        yield Laboratory(
            embedder=CachedEmbedder(embedder, cache), index=index, splitter=_splitter(settings, embedder)
        )


async def replace_index(settings: Settings, *, fresh: Path) -> None:
    """Put the closed index that was built in the directory `fresh` in the place of the one in use."""
    module = plugins.load("rag_engine.indexes", settings.index.kind)
    own = _validated(module, settings.index.rest(), variable="INDEX")
    await asyncio.to_thread(module.replace, own, data_dir=settings.data_dir, fresh=fresh)


def console() -> ConsoleModule:
    """The console adapter."""
    return cast("ConsoleModule", plugins.load("adapters", "console"))


def service(application: Application, *, names: Sequence[str] = ()) -> Service:
    """All behaviour behind the console: it may see the named knowledge bases, or all of them."""

    async def scope_of(place: Place) -> Scope:
        return await scope(application.catalog, names)

    async def take(place: Place, attachment: Attachment) -> Ingested:
        name = names[0] if names else DEFAULT_KNOWLEDGE_BASE
        return await receive(attachment, library=application.library, knowledge_base=name)

    return Service(
        engine=application.engine,
        scope_of=scope_of,
        receive=take,
        passages=application.settings.answering.passages,
    )


@asynccontextmanager
async def _embedder(settings: Settings) -> AsyncGenerator[Embedder]:
    slice_ = settings.embedder
    module = await asyncio.to_thread(plugins.load, "rag_engine.embedders", slice_.kind)
    values = _with_server(slice_.rest(), settings) if slice_.kind == "openai" else slice_.rest()
    async with module.connect(
        _validated(module, values, variable="EMBEDDER"), data_dir=settings.data_dir
    ) as embedder:
        yield embedder


def _vector_cache(settings: Settings) -> AbstractAsyncContextManager[VectorCache]:
    """For what is indexed. Questions and the sentences of answers are not worth a record."""
    return vectors.connect(settings.data_dir / "vectors.sqlite")


@asynccontextmanager
async def _index(slice_: Slice, *, data_dir: Path, identity: IndexIdentity) -> AsyncGenerator[StoredIndex]:
    module = plugins.load("rag_engine.indexes", slice_.kind)
    own = _validated(module, slice_.rest(), variable="INDEX")
    async with module.connect(own, data_dir=data_dir, identity=identity) as index:
        yield index


@asynccontextmanager
async def _model(kind: str, settings: Settings, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.models", kind)
    values = settings.model.rest() if kind == settings.model_kind() else {}
    if kind == "openai":
        values = _with_server(values, settings)
    async with module.connect(_validated(module, values, variable="MODEL"), embedder=embedder) as model:
        yield model


@asynccontextmanager
async def _reranker(slice_: Slice, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.rerankers", slice_.kind)
    async with module.connect(
        _validated(module, slice_.rest(), variable="RERANKER"), data_dir=data_dir
    ) as reranker:
        yield reranker


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


def _models(settings: Settings) -> list[str]:
    kind = settings.model_kind()
    return [kind] if kind == "extractive" else [kind, "extractive"]


def _step(name: str, settings: Settings, ports: Ports) -> NamedStep:
    module = plugins.load("rag_engine.steps", name)
    values = dict(settings.steps.get(name, {}))
    if name == "rerank" and ports.reranker is not None:
        values.setdefault("enabled", True)
    own = _validated(module, values, variable=f"STEPS__{name.upper()}")
    return NamedStep(name=name, run=module.build(own, ports), status=module.STATUS)


def _splitter(settings: Settings, embedder: Embedder) -> Splitter:
    module = plugins.load("rag_engine.splitters", settings.splitter.kind)
    own = _validated(module, settings.splitter.rest(), variable="SPLITTER")
    return module.build(own, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens)


def _identity(embedder: Embedder) -> IndexIdentity:
    return IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=analysis.VERSION)


def _with_server(values: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """The names that people already have for their server, unless the part's own settings say otherwise."""
    shared: dict[str, object] = {}
    if settings.openai_api_key is not None:
        shared["api_key"] = settings.openai_api_key
    if settings.openai_base_url:
        shared["base_url"] = settings.openai_base_url
    return {**shared, **values}


def _validated(module: Any, values: Mapping[str, object], *, variable: str) -> BaseModel:
    """A part's own settings; what is wrong with them is said with the name of the environment variable."""
    model = cast("type[BaseModel]", module.Settings)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise BadSettings(bot_settings.sentence(error, prefix=f"FOOTNOTE_{variable}__")) from error
