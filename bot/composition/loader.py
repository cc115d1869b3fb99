from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, get_origin

from pydantic import BaseModel, ValidationError

from bot import settings as bot_settings
from bot.settings.platforms import platforms
from rag_engine import plugins
from rag_engine.agent.tool import always, typed_tool
from rag_engine.errors import BadSettings
from rag_engine.pipeline import NamedStep
from rag_engine.sync.types import SourceRefused

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from pathlib import Path

    from pydantic import SecretStr
    from rich.console import Console

    from bot.composition.model_chain import ModelChoice
    from bot.port import ChatService, CommandSpec, Finding, Outlet, Signals
    from bot.settings import Settings
    from bot.settings.slices import IndexSlice, Slice
    from rag_engine.agent.tool import Tool, ToolPorts
    from rag_engine.ports import (
        Answerer,
        Embedder,
        IndexIdentity,
        LanguageModel,
        Ports,
        Reranker,
        Splitter,
        StoredIndex,
        WebSearch,
    )
    from rag_engine.sources import Surroundings
    from rag_engine.speech.types import Speaker, Transcriber
    from rag_engine.steps import fuse, pack, retrieve
    from rag_engine.sync.types import ListedSource
    from rag_engine.types import KnowledgeBaseId, Leg


_STEPS = "rag_engine.steps"
_TOOLS = "rag_engine.tools"
_SOURCES = "rag_engine.sources"
RENAMED_STEPS: Final = {"refine": "understand"}
"""Settings of the former name still count."""
_TASK_OF_STEP: Final = {
    "pack": "answer",
    "understand": "understand",
    "outline": "outline",
    "hypothesis": "hypothesis",
}
_CLUSTER = "elasticsearch"


class IndexModule(Protocol):
    Settings: type[BaseModel]

    def connect(
        self, settings: BaseModel, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
    ) -> AbstractAsyncContextManager[StoredIndex]:
        """`rebuilding`: the one beside it; an interrupted rebuild continues."""
        ...

    async def replace(
        self,
        settings: BaseModel,
        *,
        data_dir: Path,
        identity: IndexIdentity,
        knowledge_bases: Collection[KnowledgeBaseId] | None = None,
    ) -> None:
        """In one step, by the rebuilt one (closed). Repeatable. Raises `Misconfigured` if the old one holds other
        knowledge bases.
        """
        ...

    async def abandon(self, settings: BaseModel, *, data_dir: Path) -> None: ...

    async def remove(self, settings: BaseModel, *, data_dir: Path) -> None: ...

    def files(self, settings: BaseModel) -> Mapping[str, int]:
        """Of local files the newest known schemas; none for a server."""
        ...

    async def erase(self, settings: BaseModel, *, data_dir: Path) -> bool:
        """False if the server decides when."""
        ...


def index_module(slice_: IndexSlice, settings: Settings) -> tuple[IndexModule, BaseModel]:
    module = plugins.load("rag_engine.indexes", slice_.kind)
    own = _validated(module, index_values(slice_, settings), variable="INDEX")
    return cast("IndexModule", module), own


def index_values(slice_: IndexSlice, settings: Settings) -> dict[str, object]:
    values = slice_.rest()
    if slice_.kind != _CLUSTER:
        return values
    return _shared(values, url=settings.elasticsearch_url, api_key=settings.elasticsearch_api_key)


def temporary_index(slice_: IndexSlice, *, kind: str = "") -> IndexSlice:
    if kind not in {"", slice_.kind}:
        slice_ = type(slice_)(kind=kind)
    if slice_.kind != _CLUSTER:
        return slice_
    # An API key may be limited to names that begin alike.
    alias = f"{str(slice_.rest().get('alias', 'footnote'))[:60]}-eval-{secrets.token_hex(6)}"
    return type(slice_).model_validate({**slice_.model_dump(), "alias": alias})


def is_local(family: str, kind: str) -> bool:
    """Needs no circuit breaker."""
    return getattr(plugins.load(f"rag_engine.{family}", kind), "IS_LOCAL", False)


@asynccontextmanager
async def embedder(settings: Settings) -> AsyncGenerator[Embedder]:
    slice_ = settings.embedder
    module = await asyncio.to_thread(plugins.load, "rag_engine.embedders", slice_.kind)
    values = with_openai(slice_.rest(), settings) if slice_.kind == "openai" else slice_.rest()
    async with module.connect(
        _validated(module, values, variable="EMBEDDER"), data_dir=settings.data_dir
    ) as connected:
        yield connected


def model(choice: ModelChoice, *, embedder: Embedder) -> AbstractAsyncContextManager[LanguageModel]:
    return _chosen(choice, embedder=embedder)


def answerer(choice: ModelChoice, *, embedder: Embedder) -> AbstractAsyncContextManager[Answerer]:
    return _chosen(choice, embedder=embedder)


@asynccontextmanager
async def _chosen(choice: ModelChoice, *, embedder: Embedder) -> AsyncGenerator[Any]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.models", choice.kind)
    own = _validated(module, choice.values, variable=choice.variable)
    async with module.connect(own, embedder=embedder) as connected:
        yield connected


@asynccontextmanager
async def reranker(slice_: Slice, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.rerankers", slice_.kind)
    async with module.connect(
        _validated(module, slice_.rest(), variable="RERANKER"), data_dir=data_dir
    ) as connected:
        yield connected


@asynccontextmanager
async def web_search(slice_: Slice) -> AsyncGenerator[WebSearch]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.web_search", slice_.kind)
    own = _validated(module, slice_.rest(), variable="WEB_SEARCH")
    async with module.connect(own) as connected:
        yield connected


def source_kinds() -> dict[str, SourceKind]:
    found: dict[str, SourceKind] = {}
    for name in plugins.available(_SOURCES):
        said = plugins.declarations(_SOURCES, name, "POSITION", "ADDRESSES", "PUBLIC", "KEEPS_UNLISTED")
        found[name] = SourceKind(
            name=name,
            position=cast("int", said.get("POSITION", 0)),
            addresses=re.compile(cast("str", said.get("ADDRESSES", "")), re.IGNORECASE | re.DOTALL),
            is_public=bool(said.get("PUBLIC")),
            keeps_unlisted=bool(said.get("KEEPS_UNLISTED")),
        )
    return dict(sorted(found.items(), key=lambda item: item[1].position))


@asynccontextmanager
async def source(
    kind: str, address: str, options: Mapping[str, str], *, surroundings: Surroundings
) -> AsyncGenerator[ListedSource]:
    """Raises `BadSettings`, `MissingExtra`, and a `UserError` for a wrong address."""
    module = await asyncio.to_thread(plugins.load, _SOURCES, kind)
    try:
        own = module.Settings.model_validate(options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        known = ", ".join(module.Settings.model_fields) or "none"
        name = ".".join(map(str, first["loc"]))
        raise SourceRefused(
            f"The option {name!r} is wrong; a source of the kind {kind} has: {known}."
        ) from error
    async with module.connect(address, own, surroundings=surroundings) as opened:
        yield opened


@asynccontextmanager
async def speaker(slice_: Slice, kind: str) -> AsyncGenerator[Speaker]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.speakers", kind)
    async with module.connect(_validated(module, slice_.rest(), variable="SPEECH")) as connected:
        yield connected


@asynccontextmanager
async def transcriber(slice_: Slice, kind: str) -> AsyncGenerator[Transcriber]:
    module = await asyncio.to_thread(plugins.load, "rag_engine.transcribers", kind)
    async with module.connect(_validated(module, slice_.rest(), variable="TRANSCRIPTION")) as connected:
        yield connected


def step_names() -> dict[str, list[str]]:
    found = {
        name: plugins.declarations(_STEPS, name, "PHASE", "POSITION") for name in plugins.available(_STEPS)
    }
    ordered = sorted(found, key=lambda name: cast("int", found[name]["POSITION"]))
    return {
        phase: [name for name in ordered if found[name]["PHASE"] == phase] for phase in ("search", "prompt")
    }


def step(name: str, settings: Settings, ports: Ports) -> NamedStep:
    module = plugins.load(_STEPS, name)
    values = _step_values(name, settings)
    if name == "rerank" and ports.reranker is not None:
        values.setdefault("enabled", True)
    if name == "retrieve":
        values.setdefault("legs", _legs(settings))
    if name == "hypothesis":
        values.setdefault("candidates", _retrieval(settings).candidates)
        if "dense" not in _retrieval(settings).legs:
            values["passages"] = 0
    own = _validated(module, values, variable=f"STEPS__{name.upper()}")
    status = module.STATUS if getattr(own, "enabled", True) else ""
    return NamedStep(name=name, run=module.build(own, ports), status=status)


def tools(ports: ToolPorts) -> list[Tool]:
    found: list[Tool] = []
    for name in plugins.available(_TOOLS):
        module = plugins.load(_TOOLS, name)
        if (run := module.build(ports)) is not None:
            is_offered = getattr(module, "is_offered", always)
            found.append(typed_tool(name, module.DESCRIPTION, module.Arguments, run, is_offered=is_offered))
    return found


def _retrieval(settings: Settings) -> retrieve.Settings:
    values = {"legs": _legs(settings), **_step_values("retrieve", settings)}
    own = _validated(plugins.load(_STEPS, "retrieve"), values, variable="STEPS__RETRIEVE")
    return cast("retrieve.Settings", own)


def _legs(settings: Settings) -> tuple[Leg, ...]:
    module = plugins.load(_STEPS, "fuse")
    fusion = cast("fuse.Settings", _validated(module, _step_values("fuse", settings), variable="STEPS__FUSE"))
    if fusion.method != "mix" or fusion.dense_share not in (0, 1):
        return ("lexical", "dense")
    return ("dense",) if fusion.dense_share else ("lexical",)


def packing(settings: Settings) -> pack.Settings:
    module = plugins.load(_STEPS, "pack")
    own = _validated(module, _step_values("pack", settings), variable="STEPS__PACK")
    return cast("pack.Settings", own)


def _step_values(name: str, settings: Settings) -> dict[str, object]:
    former = [old for old, new in RENAMED_STEPS.items() if new == name]
    values = {key: value for step in (*former, name) for key, value in settings.steps.get(step, {}).items()}
    task = settings.tasks.get(_TASK_OF_STEP.get(name, ""))
    if task is not None and task.max_tokens:
        values.setdefault("reply_tokens", task.max_tokens)
    return values


def splitter(settings: Settings, embedder: Embedder) -> Splitter:
    module = plugins.load("rag_engine.splitters", settings.splitter.kind)
    own = _validated(module, settings.splitter.rest(), variable="SPLITTER")
    return module.build(own, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    name: str
    position: int
    addresses: re.Pattern[str]
    is_public: bool
    keeps_unlisted: bool


class PlatformModule(Protocol):
    """The wizard also wants `INSTALLATION`."""

    Settings: type[BaseModel]

    async def run(self, settings: BaseModel, service: ChatService, *, signals: Signals) -> None:
        """Until cancelled. Raises `bot.port.WriteRefused` for what the operator must fix."""
        ...

    def check(self, settings: BaseModel, commands: Sequence[CommandSpec]) -> AsyncGenerator[Finding]: ...

    def setup(self, settings: BaseModel, commands: Sequence[CommandSpec]) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    name: str
    module: PlatformModule
    settings: BaseModel


class ConsoleModule(Protocol):
    Settings: type[BaseModel]

    async def run(self, settings: BaseModel, service: ChatService) -> None: ...

    async def read_line(self, prompt: str) -> str: ...

    def outlet(self, console: Console) -> AbstractContextManager[Outlet]: ...


def console() -> ConsoleModule:
    return cast("ConsoleModule", plugins.load("adapters", "console"))


def platform_names(settings: Settings) -> list[str]:
    return [
        declared.name
        for declared in platforms()
        if settings.platforms[declared.name].rest().get(declared.required)
    ]


async def platform(name: str, settings: Settings, **missing: object) -> Platform:
    module = await asyncio.to_thread(plugins.load, "adapters", name)
    (declared,) = [declared for declared in platforms() if declared.name == name]
    values = {**missing, **settings.platforms[name].rest()}
    own = _validated(module, values, variable=name.upper(), variables=declared.variables)
    return Platform(name=name, module=cast("PlatformModule", module), settings=own)


async def unset_platform(name: str, settings: Settings) -> Platform:
    (declared,) = [declared for declared in platforms() if declared.name == name]
    return await platform(name, settings, **{declared.required: ""})


def with_openai(values: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """Adds `OPENAI_API_KEY` and `OPENAI_BASE_URL` where unset."""
    return _shared(values, api_key=settings.openai_api_key, base_url=settings.openai_base_url)


def _shared(values: Mapping[str, object], **known: str | SecretStr | None) -> dict[str, object]:
    return {**{name: value for name, value in known.items() if value}, **values}


def _validated(
    module: Any,
    values: Mapping[str, object],
    *,
    variable: str,
    variables: Mapping[str, str] | None = None,
) -> BaseModel:
    own = cast("type[BaseModel]", module.Settings)
    try:
        return own.model_validate({name: _listed(value, own, name) for name, value in values.items()})
    except ValidationError as error:
        prefix = f"FOOTNOTE_{variable}__"
        raise BadSettings(bot_settings.sentence(error, prefix=prefix, variables=variables)) from error


def _listed(value: object, own: type[BaseModel], name: str) -> object:
    field = own.model_fields.get(name)
    is_list = field is not None and get_origin(field.annotation) is tuple
    return [part.strip() for part in value.split(",")] if is_list and isinstance(value, str) else value
