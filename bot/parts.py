"""One concrete part at a time, loaded by the name that the settings give it. Only `bot.compose` puts them together."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import BaseModel, ValidationError

from bot import settings as bot_settings
from rag_engine import plugins
from rag_engine.errors import BadSettings
from rag_engine.pipeline import NamedStep

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from pydantic import SecretStr

    from bot.model_chain import ModelChoice
    from bot.port import ChatService, CommandSpec, Finding, Signals
    from bot.settings import IndexSlice, Settings, Slice
    from rag_engine.ports import (
        Embedder,
        IndexIdentity,
        LanguageModel,
        Ports,
        Reranker,
        Splitter,
        StoredIndex,
    )
    from rag_engine.steps import pack
    from rag_engine.types import KnowledgeBaseId


_CLUSTER = "elasticsearch"
"""The index that is reached by `ELASTICSEARCH_URL`, and in which several have a name of their own."""


class IndexModule(Protocol):
    """`rag_engine.indexes.<name>`: one index in use, and at most one that is being rebuilt beside it."""

    Settings: type[BaseModel]

    def connect(
        self, settings: BaseModel, *, data_dir: Path, identity: IndexIdentity, rebuilding: bool = False
    ) -> AbstractAsyncContextManager[StoredIndex]:
        """Open the index, made now if there is none; `rebuilding` opens the one that is built beside the one in use.

        What an interrupted rebuild left is kept, unless it is of another identity.
        """
        ...

    async def replace(
        self,
        settings: BaseModel,
        *,
        data_dir: Path,
        identity: IndexIdentity,
        knowledge_bases: Collection[KnowledgeBaseId] | None = None,
    ) -> None:
        """Put the rebuilt index (closed) in the place of the one in use, in one step, and remove the old one.

        Nothing is done when none was rebuilt, so that doing it twice is harmless. Raises `Misconfigured` when the old one, shared
        by mistake, holds others than the `knowledge_bases` there are.
        """
        ...

    async def abandon(self, settings: BaseModel, *, data_dir: Path) -> None:
        """Remove an unfinished rebuild; no error when there is none."""
        ...

    async def remove(self, settings: BaseModel, *, data_dir: Path) -> None:
        """Remove the whole index (closed) with everything in it; no error when there is none."""
        ...

    def files(self, settings: BaseModel) -> Mapping[str, int]:
        """The files in the data directory that are the index, each with the newest schema that is known; none for a server's."""
        ...

    async def erase(self, settings: BaseModel, *, data_dir: Path) -> bool:
        """Leave nothing on the disk of what was removed; False where a server does that when it likes."""
        ...


def index_module(slice_: IndexSlice, settings: Settings) -> tuple[IndexModule, BaseModel]:
    """The module of an index with its own settings."""
    module = plugins.load("rag_engine.indexes", slice_.kind)
    own = _validated(module, index_values(slice_, settings), variable="INDEX")
    return cast("IndexModule", module), own


def index_values(slice_: IndexSlice, settings: Settings) -> dict[str, object]:
    """What an index is given: its slice, and the names that people already have for their server."""
    values = slice_.rest()
    if slice_.kind != _CLUSTER:
        return values
    return _shared(values, url=settings.elasticsearch_url, api_key=settings.elasticsearch_api_key)


def throw_away(slice_: IndexSlice, *, kind: str = "") -> IndexSlice:
    """The slice of an index beside the one in use, of the same kind with its settings, or of another kind."""
    if kind not in {"", slice_.kind}:
        slice_ = type(slice_)(kind=kind)
    if slice_.kind != _CLUSTER:
        return slice_
    # A key that is limited to names like the team's own still works.
    alias = f"{str(slice_.rest().get('alias', 'footnote'))[:60]}-eval-{secrets.token_hex(6)}"
    return type(slice_).model_validate({**slice_.model_dump(), "alias": alias})


@asynccontextmanager
async def embedder(settings: Settings) -> AsyncGenerator[Embedder]:
    """The embedder of the settings."""
    slice_ = settings.embedder
    module = await asyncio.to_thread(plugins.load, "rag_engine.embedders", slice_.kind)
    values = with_openai(slice_.rest(), settings) if slice_.kind == "openai" else slice_.rest()
    async with module.connect(
        _validated(module, values, variable="EMBEDDER"), data_dir=settings.data_dir
    ) as connected:
        yield connected


@asynccontextmanager
async def model(choice: ModelChoice, *, embedder: Embedder) -> AsyncGenerator[LanguageModel]:
    """A language model of those that are configured."""
    module = await asyncio.to_thread(plugins.load, "rag_engine.models", choice.kind)
    own = _validated(module, choice.values, variable=choice.variable)
    async with module.connect(own, embedder=embedder) as connected:
        yield connected


@asynccontextmanager
async def reranker(slice_: Slice, *, data_dir: Path) -> AsyncGenerator[Reranker]:
    """The reranker of the settings."""
    module = await asyncio.to_thread(plugins.load, "rag_engine.rerankers", slice_.kind)
    async with module.connect(
        _validated(module, slice_.rest(), variable="RERANKER"), data_dir=data_dir
    ) as connected:
        yield connected


def step(name: str, settings: Settings, ports: Ports) -> NamedStep:
    """A step of the pipeline, built on the ports."""
    module = plugins.load("rag_engine.steps", name)
    values = dict(settings.steps.get(name, {}))
    if name == "rerank" and ports.reranker is not None:
        values.setdefault("enabled", True)
    own = _validated(module, values, variable=f"STEPS__{name.upper()}")
    return NamedStep(name=name, run=module.build(own, ports), status=module.STATUS)


def packing(settings: Settings) -> pack.Settings:
    """How prompts are made, for whoever makes some beside the pipeline."""
    module = plugins.load("rag_engine.steps", "pack")
    own = _validated(module, dict(settings.steps.get("pack", {})), variable="STEPS__PACK")
    return cast("pack.Settings", own)


def splitter(settings: Settings, embedder: Embedder) -> Splitter:
    """The splitter of the settings, sized by the embedder's own tokenizer."""
    module = plugins.load("rag_engine.splitters", settings.splitter.kind)
    own = _validated(module, settings.splitter.rest(), variable="SPLITTER")
    return module.build(own, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens)


class PlatformModule(Protocol):
    """`adapters.slack`, `adapters.discord`: a chat platform."""

    Settings: type[BaseModel]

    async def run(self, settings: BaseModel, service: ChatService, *, signals: Signals) -> None:
        """Serve until cancelled.

        Raises `bot.port.Refused` for what the operator must mend.
        """
        ...

    def check(self, settings: BaseModel, commands: Sequence[CommandSpec]) -> AsyncGenerator[Finding]:
        """Ask the platform whether everything is granted that the bot needs."""
        ...

    def setup(self, settings: BaseModel, commands: Sequence[CommandSpec]) -> str:
        """What the operator pastes or opens to set the platform up."""
        ...


PLATFORMS = ("slack", "discord")


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A chat platform with its own settings."""

    name: str
    module: PlatformModule
    settings: BaseModel


def platform_names(settings: Settings) -> list[str]:
    """The platforms whose tokens are set."""
    tokens = {"slack": settings.slack_bot_token, "discord": settings.discord_token}
    return [name for name in PLATFORMS if tokens[name]]


async def platform(name: str, settings: Settings, **missing: object) -> Platform:
    """The adapter of a platform, with its settings; `missing` stand in for what is not set."""
    module = await asyncio.to_thread(plugins.load, "adapters", name)
    own = _validated(module, {**missing, **_platform_values(name, settings)}, variable=name.upper())
    return Platform(name=name, module=cast("PlatformModule", module), settings=own)


async def unset_platform(name: str, settings: Settings) -> Platform:
    """The adapter of a platform that may not have its tokens yet: for what can be told before there are any."""
    return await platform(name, settings, **{} if name in platform_names(settings) else _NO_TOKEN[name])


_NO_TOKEN: dict[str, dict[str, object]] = {"slack": {"bot_token": ""}, "discord": {"token": ""}}


def _platform_values(name: str, settings: Settings) -> dict[str, object]:
    """The adapter's slice, and the names that people already have for its tokens and servers."""
    if name == "slack":
        return _shared(
            settings.slack.model_extra or {},
            bot_token=settings.slack_bot_token,
            app_token=settings.slack_app_token,
            signing_secret=settings.slack_signing_secret,
            api_base_url=settings.slack_api_base_url,
        )
    return _shared(
        settings.discord.model_extra or {},
        token=settings.discord_token,
        api_base=settings.discord_api_base,
        gateway_url=settings.discord_gateway_url,
    )


def with_openai(values: Mapping[str, object], settings: Settings) -> dict[str, object]:
    """The values of a part that is reached as OpenAI is, with the key and the address that people already have for it."""
    return _shared(values, api_key=settings.openai_api_key, base_url=settings.openai_base_url)


def _shared(values: Mapping[str, object], **known: str | SecretStr | None) -> dict[str, object]:
    """The names that people already have for their server, unless the part's own settings say otherwise."""
    return {**{name: value for name, value in known.items() if value}, **values}


def _validated(module: Any, values: Mapping[str, object], *, variable: str) -> BaseModel:
    """A part's own settings; what is wrong with them is said with the name of the environment variable."""
    own = cast("type[BaseModel]", module.Settings)
    try:
        return own.model_validate(values)
    except ValidationError as error:
        raise BadSettings(bot_settings.sentence(error, prefix=f"FOOTNOTE_{variable}__")) from error
