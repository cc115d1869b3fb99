from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from bot import commands
from bot.access.audience import Audiences
from bot.access.operator_access import OperatorAccess
from bot.access.permissions import Permissions
from bot.commands.dependencies import MODEL_SEPARATOR, CommandDependencies
from bot.composition import exports
from bot.composition.chat import answer_views, gap_parts, page_parts, upkeep
from bot.composition.chat.question_limits import question_budget
from bot.composition.conversation import ChatStores, Policies, Removals, assemble
from bot.composition.layers.expansion import estimate
from bot.composition.layers.graph import graph_cost
from bot.composition.sources.channels import channel_service
from bot.conversation import retention
from bot.conversation.dependencies import Commands
from bot.conversation.turn.conversation_tags import ConversationTags
from bot.files.downloads import Downloads
from bot.files.queue import FileQueue
from bot.files.uploads import Uploads
from bot.store.expert_requests import ExpertRequests
from bot.store.places import Places, PlaceSettings
from bot.store.topics import Topics
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler
from rag_engine.engine import question_of
from rag_engine.ingestion.text_limits import TextLimits
from rag_engine.parsing.pool import parser_pool
from rag_engine.storage.sqlite.database import connect
from rag_engine.summaries.mind_map import MindMaps
from rag_engine.text import tokens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from bot.composition.chat.page_parts import OpenPage
    from bot.composition.components import Application, IndexingComponents
    from bot.conversation.channels.channel_service import ChannelService
    from bot.conversation.dependencies import ForgetDocument
    from bot.conversation.gaps.gap_service import GapService
    from bot.conversation.service import Service
    from bot.port import ChatService
    from bot.settings import Settings
    from bot.store.channel_sources import ChannelSources
    from bot.store.web_sessions import SignInLinks
    from rag_engine.parsing.pool import ParserPool
    from rag_engine.storage.sqlite.database import Database
    from rag_engine.types import DocumentId, DocumentRecord, KnowledgeBase, KnowledgeBaseId, TurnId

_FILE = "chat.sqlite"
_PICTURE_SECONDS = 10.0


@asynccontextmanager
async def service(application: Application, *, page: OpenPage | None = None) -> AsyncGenerator[ChatService]:
    library = application.library
    if application.engine.models:
        # It blocks the interpreter for a third of a second.
        await asyncio.to_thread(tokens.prepare)
    async with (
        _database(application) as database,
        _page_pictures(application.settings) as pictures,
        upkeep.library_upkeep(application),
        _retention(application, database) as clock,
    ):
        await library.catalog.unfinished.give_up_expected()
        await library.originals.forget_unused()
        places = Places(database, defaults=default_place_settings(application.settings))
        uploads = await _uploads(application)
        channels = channel_service(library, database, places, uploads, lambda: chat.runner.scheduler)
        await _forget_removed(library, places, channels.sources)
        forget = partial(_forget, library, places, channels.sources)
        links = page_parts.sign_in_links(application, database)
        gaps = gap_parts.gap_service(application, database)
        policies = _platform_policies(
            application, database, places, uploads, forget, pictures, links, channels, gaps
        )
        chat = _assemble(application, database, uploads, policies, forget, clock, for_platforms=True)
        chat.channels = channels
        application.observers.depth("answers", lambda: chat.waiting)
        async with (
            _answers_closed(chat),
            upkeep.reviews(library, chat),
            application.sources.giving_way(lambda: chat.waiting).on_schedule(),
            chat.experts.running(),
            channels.running(lambda: chat.is_busy),
            page_parts.opened(page, application, outbound=chat.outbound, forget=forget, links=links),
            gap_parts.watched_gaps(gaps, chat, clock),
        ):
            yield application.observers.service(chat)


async def _forget_removed(library: IndexingComponents, places: Places, channels: ChannelSources) -> None:
    """Bindings must not return with a new knowledge base of that name."""
    existing = {base.id for base in await library.catalog.knowledge_bases()}
    await places.forget_others(existing)
    await channels.forget_others(existing)


@asynccontextmanager
async def _answers_closed(chat: Service) -> AsyncGenerator[None]:
    answers = chat.runner.answers
    try:
        yield
    finally:
        await answers.follow_ups.close()
        await answers.titles.close()
        await answers.tags.close()


@asynccontextmanager
async def console_service(
    application: Application, names: Sequence[str] = (), *, page: OpenPage | None = None
) -> AsyncGenerator[ChatService]:
    library = application.library
    operator = _operator(application, names)
    async with _database(application) as database, _retention(application, database) as clock:
        uploads = await _uploads(application)
        policies = Policies(
            audiences=operator,
            permissions=operator,
            places=operator,
            commands=_commands(
                _command_dependencies(
                    application,
                    database,
                    uploads,
                    library.forget,
                    access=operator,
                    audiences=operator,
                    places=operator,
                )
            ),
            gaps=gap_parts.gap_service(application, database).listed,
            show_sources=answer_views.sources_view(library, operator).show,
            show_explanation=answer_views.explanation(application, database, operator).press,
            names=library.catalog.metadata.names,
            read_aloud=answer_views.read_aloud(application, database, operator),
            transcriber=library.transcriber,
        )
        chat = _assemble(application, database, uploads, policies, library.forget, clock)
        links = page_parts.sign_in_links(application, database)
        async with page_parts.opened(
            page, application, outbound=chat.outbound, forget=library.forget, links=links
        ):
            yield application.observers.service(chat)


def _retention(
    application: Application, database: Database
) -> AbstractAsyncContextManager[Callable[[], float]]:
    library = application.library
    return retention.keeping_to(
        application.settings.retention,
        history=library.storage.history,
        chat=database,
        audio=library.audio,
    )


def _operator(application: Application, names: Sequence[str]) -> OperatorAccess:
    return OperatorAccess(
        catalog=application.catalog,
        model=application.library.embedder.model,
        names=tuple(names),
        defaults=default_place_settings(application.settings),
    )


def _assemble(
    application: Application,
    database: Database,
    uploads: Uploads,
    policies: Policies,
    forget_document: ForgetDocument,
    clock: Callable[[], float],
    *,
    for_platforms: bool = False,
) -> Service:
    settings = application.settings
    return assemble(
        engine=application.engine,
        stores=ChatStores.over(
            database, retention_seconds=retention.seconds(settings.retention), clock=clock
        ),
        policies=policies,
        removals=Removals(
            turn=partial(_forget_turn, application),
            document=forget_document,
            source=application.library.forget_source,
            findings=application.library.storage.findings,
        ),
        uploads=uploads,
        scheduler=Scheduler(deadlines=WriteDeadlines(final=settings.chat.last_word_seconds)),
        settings=settings.chat,
        keep_trace=application.library.storage.history.keep,
        stored_answers=application.library.storage.history,
        editor=upkeep.verified_editor(application),
        passages=settings.answering.passages,
        records=application.library.catalog.records,
        suggest=application.follow_ups if for_platforms else None,
        write_title=application.titles if for_platforms else None,
        tags=ConversationTags(
            store=application.library.storage.history, choose=application.tags if for_platforms else None
        ),
        observers=application.observers,
    )


def _platform_policies(
    application: Application,
    database: Database,
    places: Places,
    uploads: Uploads,
    forget: Callable[[KnowledgeBaseId, DocumentId | None], Awaitable[bool]],
    pictures: ParserPool,
    links: SignInLinks | None,
    channels: ChannelService,
    gaps: GapService,
) -> Policies:
    library = application.library
    rights = Permissions(settings=application.settings.access)
    audiences = Audiences(places=places, catalog=library.catalog, access=rights, model=library.embedder.model)
    sources = answer_views.sources_view(library, audiences, pictures)
    dependencies = _command_dependencies(
        application, database, uploads, forget, access=rights, audiences=audiences, places=places
    )
    return Policies(
        audiences=audiences,
        permissions=rights,
        places=places,
        commands=_commands(replace(dependencies, page=links, channels=channels, gaps=gaps)),
        gaps=gaps.listed,
        show_sources=sources.show,
        show_pictures=sources.pictures,
        show_explanation=answer_views.explanation(application, database, audiences).press,
        names=application.library.catalog.metadata.names,
        read_aloud=answer_views.read_aloud(application, database, audiences),
        transcriber=library.transcriber,
        budget=question_budget(application, rights),
    )


def _command_dependencies(
    application: Application,
    database: Database,
    uploads: Uploads,
    forget: Callable[[KnowledgeBaseId, DocumentId | None], Awaitable[bool]],
    *,
    access: Permissions | OperatorAccess,
    audiences: Audiences | OperatorAccess,
    places: Places | OperatorAccess,
) -> CommandDependencies:
    library = application.library
    return CommandDependencies(
        access=access,
        audiences=audiences,
        places=places,
        topics=Topics(database),
        library=library.catalog,
        synonyms=library.catalog.synonyms,
        metadata=library.catalog.metadata,
        expansions=library.catalog.expansions,
        expansion_cost=partial(estimate, application.settings, library),
        graph=library.catalog.graph,
        graph_cost=partial(graph_cost, application.settings, library),
        receive=uploads.receive,
        forget=forget,
        reindex=partial(_reindex, library),
        export=partial(exports.export, library),
        facts=partial(_facts, application),
        verified=upkeep.verified_editor(application),
        sources=application.sources,
        experts=ExpertRequests(database),
        mind_maps=application.mind_maps or MindMaps(),
        gaps=gap_parts.gap_service(application, database),
        **answer_views.answer_commands(application, database, audiences),
        models=tuple(application.engine.choices),
        has_web=bool(application.settings.web_search.kind),
    )


def _commands(dependencies: CommandDependencies) -> Commands:
    return Commands(
        specs=commands.SPECS,
        execute=lambda command, room, show: commands.execute(command, room, dependencies, show=show),
        press=lambda action, room, show: commands.press(action, room, dependencies, show=show),
        form=lambda action, room: commands.form(action, room, dependencies),
    )


def _database(application: Application) -> AbstractAsyncContextManager[Database]:
    return connect(
        application.settings.data_dir / _FILE,
        scripts=files("bot.store") / "sql",
        on_turn=partial(application.observers.waited, "chat"),
    )


def default_place_settings(settings: Settings) -> PlaceSettings:
    blended = settings.steps.get("pack", {}).get("knowledge") == "prefer_sources"
    return PlaceSettings(knowledge="blended" if blended else "strict")


async def _uploads(application: Application) -> Uploads:
    settings, library = application.settings, application.library
    downloads = Downloads(
        most_bytes=library.max_file_bytes,
        seconds=settings.chat.upload_seconds,
        folder=settings.data_dir / "uploads",
        worker=library.storage.claims.worker,
    )
    await downloads.clear(settings.data_dir / "workers")
    uploads = Uploads(
        intake=library.ingestion,
        fetching=downloads,
        patience_seconds=settings.ingestion.patience_seconds,
        keep=library.originals.keep,
        queue=FileQueue(per_place=settings.chat.files_per_place, per_person=settings.chat.files_per_person),
        limits=TextLimits(
            characters=settings.ingestion.message_characters, passages=settings.ingestion.message_passages
        ),
    )
    application.observers.depth("files", lambda: uploads.waiting)
    return uploads


def _page_pictures(settings: Settings) -> AbstractAsyncContextManager[ParserPool]:
    """In its own process: pictures do not wait for parsing."""
    return parser_pool(workers=1, seconds=_PICTURE_SECONDS, memory_bytes=settings.parsing.memory_mb << 20)


async def _forget(
    library: IndexingComponents,
    places: Places,
    channels: ChannelSources,
    knowledge_base: KnowledgeBaseId,
    document: DocumentId | None = None,
) -> bool:
    done = await library.forget(knowledge_base, document)
    if document is None:
        await channels.forget(knowledge_base)
        await places.forget(knowledge_base)
    return done


async def _forget_turn(application: Application, turn: TurnId) -> None:
    await application.library.storage.history.forget((turn, question_of(turn)))
    await application.library.forget_audio()


async def _reindex(
    library: IndexingComponents, base: KnowledgeBase, progress: Callable[[DocumentRecord], None]
) -> int:
    return await library.reindex([base], progress)


async def _facts(application: Application) -> Mapping[str, str]:
    library, settings = application.library, application.settings
    return {
        "index": settings.index.kind,
        "embedder": library.identity.model,
        "language model": MODEL_SEPARATOR.join(
            part.name for part in (*application.engine.models, application.engine.answerer)
        ),
    }
