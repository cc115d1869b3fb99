"""The chat service put together: what Slack and Discord are served with, and the console."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from bot import access, commands, reindexing
from bot.access import Access
from bot.audience import Audiences
from bot.checking import Checking
from bot.claims import Claims
from bot.commands.desk import Desk
from bot.files.fetching import Fetching
from bot.files.file_queue import FileQueue
from bot.files.removing import removing
from bot.files.taken_files import TakenFiles
from bot.files.uploads import Uploads
from bot.inbox import Heard, SqliteInbox
from bot.keeping import retention
from bot.places import Places, PlaceSettings
from bot.service import Service
from bot.serving import Commands, Parts
from bot.streaming import Scheduler
from bot.streaming.writing import Patience
from bot.turns import Turns
from rag_engine import archive, tokens
from rag_engine.engine import question_of
from rag_engine.errors import UserError
from rag_engine.parsing import parser_pool
from rag_engine.storage import sqlite

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot import serving
    from bot.access import Scope
    from bot.checking import Draw
    from bot.library import Application, Library
    from bot.port import Action, ChatService, Command, Directory, Person, Place, Reply, Room
    from bot.serving import Show
    from bot.settings import Settings
    from rag_engine.archive import Contents
    from rag_engine.parsing import ParserPool
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.storage.sqlite import Database
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId, TurnId

_FILE = "chat.sqlite"
_PICTURE_SECONDS = 10.0


@asynccontextmanager
async def service(application: Application) -> AsyncGenerator[ChatService]:
    """Everything behind the adapters of chat platforms, over `chat.sqlite` in the data directory."""
    settings, library = application.settings, application.library
    if len(application.engine.models) > 1:
        # What prompts are counted with holds the interpreter for a third of a second: better now, while nobody is connected.
        await asyncio.to_thread(tokens.prepare)
    async with (
        _database(application) as database,
        _pictures(settings) as pictures,
        removing(library.ingestion.finish_removals),
        retention.keeping_to(settings.retention, history=library.storage.history, chat=database),
    ):
        await library.catalog.unfinished.give_up_expected()
        await library.originals.forget_unused()
        places = Places(database, defaults=_defaults(settings))
        # What `footnote kb remove` has removed meanwhile is bound nowhere when it comes again.
        await places.forget_others({base.id for base in await library.catalog.knowledge_bases()})
        rights = Access(settings=settings.access)
        audiences = Audiences(
            places=places, catalog=library.catalog, access=rights, model=library.embedder.model
        )
        uploads = await _uploads(application)
        forget = partial(_forget, library, places)
        desk = Desk(
            access=rights,
            audiences=audiences,
            places=places,
            library=library.catalog,
            receive=uploads.receive,
            forget=forget,
            reindex=partial(_reindex, library),
            export=partial(_export, library),
            facts=partial(_facts, application),
        )
        own = _Own(
            audiences=audiences,
            access=rights,
            places=places,
            commands=Commands(
                specs=commands.SPECS,
                execute=lambda command, room, show: commands.execute(command, room, desk, show=show),
                press=lambda action, room, show: commands.press(action, room, desk, show=show),
            ),
            checking=_checking(library, audiences, pictures.picture),
            forget_document=forget,
        )
        behind = Service(_parts(application, database, uploads, own))
        application.observers.depth("answers", lambda: behind.waiting)
        yield application.observers.service(behind)


@asynccontextmanager
async def console_service(application: Application, names: Sequence[str] = ()) -> AsyncGenerator[ChatService]:
    """Everything behind the console: it may see the named knowledge bases, or all of them, and do what it likes."""
    settings = application.settings
    operator = _Operator(
        catalog=application.catalog,
        model=application.library.embedder.model,
        names=tuple(names),
        defaults=_defaults(settings),
    )
    async with (
        _database(application) as database,
        retention.keeping_to(settings.retention, history=application.library.storage.history, chat=database),
    ):
        own = _Own(
            audiences=operator,
            access=operator,
            places=operator,
            commands=Commands(specs=(), execute=_no_command, press=_no_button),
            checking=_checking(application.library, operator),
            forget_document=application.library.forget,
        )
        behind = Service(_parts(application, database, await _uploads(application), own))
        yield application.observers.service(behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    """What platforms and the console have each of their own: who may see and do what."""

    audiences: serving.Audiences
    access: serving.Access
    places: serving.Places
    commands: Commands
    checking: Checking
    forget_document: Callable[[KnowledgeBaseId, DocumentId], Awaitable[bool]]


def _parts(application: Application, database: Database, uploads: Uploads, own: _Own) -> Parts:
    settings, library = application.settings, application.library
    return Parts(
        engine=application.engine,
        turns=Turns(database, kept_seconds=retention.seconds(settings.retention)),
        taken=TakenFiles(database),
        claims=Claims(database),
        inbox=SqliteInbox(database),
        heard=Heard(database),
        scheduler=Scheduler(patience=Patience(final=settings.chat.last_word_seconds)),
        audiences=own.audiences,
        access=own.access,
        places=own.places,
        uploads=uploads,
        commands=own.commands,
        passages_of=own.checking.passages_of,
        forget_turn=partial(_forget_turn, application),
        forget_document=own.forget_document,
        forget_source=library.forget_source,
        settings=settings.chat,
        observers=application.observers,
        passages=settings.answering.passages,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operator:
    """Whoever runs Footnote: sees everything, and may do anything."""

    catalog: SqliteCatalog
    model: str
    names: tuple[str, ...]
    defaults: PlaceSettings

    async def scope(self, place: Place, directory: Directory, *, person: Person | None = None) -> Scope:
        return await access.scope(self.catalog, self.names)

    async def own(self, place: Place) -> KnowledgeBase:
        name = self.names[0] if self.names else access.DEFAULT_KNOWLEDGE_BASE
        return await self.catalog.open(name, model=self.model)

    def admit(self, place: Place) -> None:
        """Every place is served."""

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: access.Act, asker: str = ""
    ) -> None:
        """Everything is allowed."""

    async def settings(self, place: Place) -> PlaceSettings:
        return self.defaults


def _database(application: Application) -> AbstractAsyncContextManager[Database]:
    return sqlite.connect(
        application.settings.data_dir / _FILE,
        scripts=files("bot") / "sql",
        on_turn=partial(application.observers.waited, "chat"),
    )


def _defaults(settings: Settings) -> PlaceSettings:
    """How the bot behaves where nobody said otherwise: the operator's setting of the prompt holds."""
    blended = settings.steps.get("pack", {}).get("knowledge") == "prefer_sources"
    return PlaceSettings(knowledge="blended" if blended else "strict")


async def _uploads(application: Application) -> Uploads:
    settings, library = application.settings, application.library
    fetching = Fetching(
        most_bytes=library.max_file_bytes,
        seconds=settings.chat.upload_seconds,
        folder=settings.data_dir / "uploads",
        worker=library.storage.claims.worker,
    )
    await fetching.clear(settings.data_dir / "workers")
    queue = FileQueue(per_place=settings.chat.files_per_place, per_person=settings.chat.files_per_person)
    uploads = Uploads(
        intake=library.intake,
        fetching=fetching,
        patience_seconds=settings.ingestion.patience_seconds,
        keep=library.originals.keep,
        queue=queue,
    )
    application.observers.depth("files", lambda: uploads.waiting)
    return uploads


def _pictures(settings: Settings) -> AbstractAsyncContextManager[ParserPool]:
    """Draws pages of PDFs in a process of its own, so that nobody who asks for one waits for files that are being read."""
    return parser_pool(workers=1, seconds=_PICTURE_SECONDS, memory_bytes=settings.parsing.memory_mb << 20)


def _checking(library: Library, audiences: serving.Audiences, draw: Draw | None = None) -> Checking:
    return Checking(audiences=audiences, catalog=library.catalog, originals=library.originals, draw=draw)


async def _no_command(command: Command, room: Room, show: Show) -> Reply:
    raise UserError("There are no commands here.")


async def _no_button(action: Action, room: Room, show: Show) -> Reply | None:
    return None


async def _forget(
    library: Library,
    places: Places,
    knowledge_base: KnowledgeBaseId,
    document: DocumentId | None = None,
) -> bool:
    """Out of the index and the catalog; what was kept beside them goes, too. False when the index does so later."""
    done = await library.forget(knowledge_base, document)
    if document is None:
        await places.forget(knowledge_base)
    return done


async def _forget_turn(application: Application, turn: TurnId) -> None:
    await application.library.storage.history.forget((turn, question_of(turn)))


async def _reindex(library: Library, base: KnowledgeBase, progress: Callable[[DocumentRecord], None]) -> int:
    return await reindexing.reindex(library, [base], progress)


async def _export(library: Library, base: KnowledgeBase, path: Path) -> Contents:
    return await archive.export(
        base, path, library=library.catalog, contents=library.index, identity=library.identity
    )


async def _facts(application: Application) -> Mapping[str, str]:
    """What the installation runs on."""
    library, settings = application.library, application.settings
    return {
        "index": settings.index.kind,
        "embedder": library.identity.model,
        "language model": " → ".join(model.name for model in application.engine.models),
    }
