"""A chat in memory as people see it, and a service over a real engine, real SQLite files and the real scheduler."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from bot.access.question_budget import QuestionBudget
from bot.composition import loader
from bot.composition.conversation import ChatStores, Policies, Removals, assemble
from bot.conversation.dependencies import Commands, FollowedReply
from bot.conversation.explanation.explanation_view import ExplanationView
from bot.conversation.gaps.gap_list import GapList
from bot.conversation.read_aloud import ReadAloud
from bot.conversation.turn.conversation_tags import ConversationTags
from bot.files.downloads import Downloads
from bot.files.uploads import Uploads
from bot.port import (
    Action,
    Command,
    Reply,
)
from bot.settings import ChatSettings
from bot.store.gaps import Gaps
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler
from rag_engine import plugins
from rag_engine.agent.agent import Agent
from rag_engine.agent.tool import ToolPorts
from rag_engine.embedders import hashing
from rag_engine.engine import Engine, question_of
from rag_engine.indexes import embedded
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.ingestion.verified_editor import VerifiedEditor
from rag_engine.models import extractive
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from rag_engine.pipeline import NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.research.research import Research
from rag_engine.splitters import structure
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.research_findings import SqliteFindings
from rag_engine.storage.sqlite.database import connect
from rag_engine.summaries.plan import Summaries
from rag_engine.tables.answers.computation import Computation
from rag_engine.tables.store import TableStore
from rag_engine.text import analyzer
from tests.databases import new_database
from tests.unit.bot.chat_platform import (
    ADMIN,
    ANN,
    BEN,
    CHANNEL,
    DIRECT,
    THREAD,
    Chat,
    Everybody,
    Here,
    Outlet,
    Post,
    attachment,
    no_pictures,
)
from tests.unit.bot.chat_world import World
from tests.unit.bot.open_town import OpenTown

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Callable,
        Mapping,
    )
    from pathlib import Path

    from bot.conversation.dependencies import Show, ShowPictures
    from bot.conversation.follow_ups import SuggestQuestions
    from bot.conversation.service import Service
    from bot.conversation.turn.conversation_tags import ChooseTags
    from bot.conversation.turn.thread_titles import WriteTitle
    from bot.port import Room
    from bot.store.turns import ChatTurn
    from rag_engine.ports import Answerer, Embedder, LanguageModel
    from rag_engine.speech.types import Transcriber
    from rag_engine.speech.voice import Voice
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import Blob, Section


__all__ = [
    "ADMIN",
    "ANN",
    "BEN",
    "CHANNEL",
    "DIRECT",
    "THREAD",
    "Chat",
    "Everybody",
    "Here",
    "OpenTown",
    "Outlet",
    "Post",
    "World",
    "attachment",
    "no_pictures",
    "parse",
    "world",
]


async def parse(blob: Blob) -> AsyncIterator[list[Section]]:
    """The real parsers, in a thread instead of a process."""

    def read() -> list[Section]:
        return list(plugins.load(FAMILY, parser_name(blob.path, blob.name)).parse(blob.path))

    yield await asyncio.to_thread(read)


@asynccontextmanager
async def world(
    folder: Path,
    *,
    settings: ChatSettings | None = None,
    max_file_bytes: int = 1_000_000,
    budget: QuestionBudget | None = None,
    complete: bool = False,
    understands: bool = False,
    judges: bool = False,
    choices: Mapping[str, LanguageModel] | None = None,
    suggest: SuggestQuestions | None = None,
    write_title: WriteTitle | None = None,
    choose_tags: ChooseTags | None = None,
    voice: Voice | None = None,
    transcriber: Transcriber | None = None,
    show_pictures: ShowPictures | None = None,
) -> AsyncGenerator[World]:
    """A service with nothing in it yet. The model says what the world tells it to, else it quotes.

    `complete` also completes follow-ups and summarises; `judges` decides before writing whether passages answer.
    """
    async with AsyncExitStack() as stack:
        base = await _base(stack, folder)
        script: list[ScriptedLine] = []
        model = _Model(script)
        ports = Ports(
            embedder=base.embedder,
            index=base.index,
            model=model if understands else None,
            metadata=base.catalog.metadata,
            contents=base.index,
            verified=base.catalog.verified,
        )
        engine = _engine(base, model, ports, complete=complete, judges=judges, choices=choices or {})
        uploads = Uploads(intake=base.ingestion, fetching=Downloads(most_bytes=max_file_bytes, seconds=5))
        assembled = partial(
            assemble,
            engine=engine,
            stores=base.stores,
            policies=replace(
                _policies(base, budget or QuestionBudget(), voice),
                transcriber=transcriber,
                show_pictures=show_pictures,
            ),
            removals=base.removals,
            uploads=uploads,
            scheduler=Scheduler(deadlines=WriteDeadlines(final=0.2, first_wait=0.05, longest_wait=0.05)),
            settings=settings or ChatSettings(),
            passages=None,
            keep_trace=base.history.keep,
            stored_answers=base.history,
            editor=VerifiedEditor(ingestion=base.ingestion, catalog=base.catalog),
            records=base.catalog.records,
            suggest=suggest,
            write_title=write_title,
            tags=ConversationTags(store=base.history, choose=choose_tags),
        )
        yield _world(base, assembled, uploads, model, script)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    embedder: Embedder
    index: embedded.EmbeddedIndex
    quoting: Answerer
    history: SqliteHistory
    catalog: SqliteCatalog
    findings: SqliteFindings
    chats: Database
    stores: ChatStores
    ingestion: Ingestion
    removals: Removals
    town: OpenTown
    folder: Path


async def _base(stack: AsyncExitStack, folder: Path) -> _Base:
    database = await stack.enter_async_context(connect(new_database(folder / "footnote.sqlite")))
    chats = await stack.enter_async_context(
        connect(new_database(folder / "chat.sqlite"), scripts=files("bot.store") / "sql")
    )
    embedder = await stack.enter_async_context(hashing.connect(hashing.Settings(), data_dir=folder))
    identity = IndexIdentity(model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION)
    index = await stack.enter_async_context(
        embedded.connect(embedded.Settings(), data_dir=folder, identity=identity)
    )
    quoting = await stack.enter_async_context(extractive.connect(extractive.Settings(), embedder=embedder))
    history, catalog = SqliteHistory(database), SqliteCatalog(database)
    findings = SqliteFindings(database)
    ingestion = Ingestion(
        parse=parse,
        splitter=structure.build(
            structure.Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
        ),
        embedder=embedder,
        index=index,
        catalog=catalog,
        tables=TableStore(folder / "tables"),
    )
    return _Base(
        embedder=embedder,
        index=index,
        quoting=quoting,
        history=history,
        catalog=catalog,
        findings=findings,
        chats=chats,
        stores=ChatStores.over(chats, retention_seconds=90 * 86_400.0),
        ingestion=ingestion,
        removals=Removals(
            turn=lambda turn: history.forget((turn, question_of(turn))),
            document=ingestion.forget,
            source=ingestion.forget_source,
            findings=findings,
        ),
        town=OpenTown(catalog=catalog, model=embedder.model),
        folder=folder,
    )


def _engine(
    base: _Base,
    model: ScriptedModel,
    ports: Ports,
    *,
    complete: bool,
    judges: bool,
    choices: Mapping[str, LanguageModel],
) -> Engine:
    search = [*(["understand"] if complete or ports.model else []), "retrieve", "fuse", "verified"]
    return Engine(
        search_steps=[_step(name, ports) for name in search],
        prompt_steps=[_step(name, ports) for name in (*(["evidence"] if judges else []), "pack")],
        models=[model],
        choices=choices,
        answerer=base.quoting,
        embedder=base.embedder,
        history=base.history,
        metadata=base.catalog.metadata,
        summaries=_summaries(base) if complete else None,
        research=Research(embedder=base.embedder, contents=base.index, store=base.findings),
        agent=_agent(base),
        computation=Computation(store=TableStore(base.folder / "tables")),
    )


def _agent(base: _Base) -> Agent:
    compute = Computation(store=TableStore(base.folder / "tables")).passages
    ports = ToolPorts(contents=base.index, records=base.catalog.records, compute=compute)
    return Agent(tools=loader.tools(ports))


def _summaries(base: _Base) -> Summaries:
    return Summaries(
        index=base.index,
        library=base.catalog,
        unfinished=base.catalog.unfinished,
        embedder=base.embedder,
    )


def _policies(base: _Base, budget: QuestionBudget, voice: Voice | None) -> Policies:
    town = base.town
    aloud = ReadAloud(
        audiences=town, catalog=base.catalog, answers=base.history, turns=base.stores.turns, voice=voice
    )
    return Policies(
        audiences=town,
        permissions=town,
        places=town,
        commands=Commands(specs=(), execute=_execute, press=_press, form=_form),
        show_sources=_show_sources,
        show_explanation=ExplanationView(
            audiences=town, catalog=base.catalog, history=base.history, turns=base.stores.turns
        ).press,
        names=base.catalog.metadata.names,
        read_aloud=aloud,
        gaps=GapList(gaps=Gaps(base.chats), history=base.history),
        budget=budget,
    )


def _world(
    base: _Base,
    assembled: Callable[..., Service],
    uploads: Uploads,
    model: ScriptedModel,
    script: list[ScriptedLine],
) -> World:
    return World(
        chat=Chat(),
        town=base.town,
        service=assembled(),
        model=model,
        turns=base.stores.turns,
        history=base.history,
        catalog=base.catalog,
        stores=base.stores,
        removals=base.removals,
        uploads=uploads,
        assemble=assembled,
        ingestion=base.ingestion,
        intake=base.ingestion,
        script=script,
    )


class _Model(ScriptedModel):
    """The scripted model with a script that can still be written."""

    def __init__(self, script: list[ScriptedLine]) -> None:
        super().__init__(())
        self._script = script


def _step(name: str, ports: Ports) -> NamedStep:
    module = plugins.load("rag_engine.steps", name)
    return NamedStep(name=name, run=module.build(module.Settings(), ports), status=module.STATUS)


async def _execute(command: Command, room: Room, show: Show) -> Reply:
    if command.line == "fail":
        raise ValueError("a bug")
    return Reply(text=f"done: {command.name} {command.line}".strip())


async def _form(action: Action, room: Room) -> None:
    return None


async def _press(action: Action, room: Room, show: Show) -> Reply | None:
    return Reply(text="page 2") if action.name == "kb" else None


async def _show_sources(turn: ChatTurn, action: Action, room: Room) -> FollowedReply:
    assert isinstance(room, Here)
    reply = Reply(text="\n".join(citation.quote for citation in turn.citations))
    return FollowedReply(reply=reply, files=room.chat.pictures)
