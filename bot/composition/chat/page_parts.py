"""What the page reads: the stores of the commands, by connections of its own, so that no answer waits for it."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from bot.access.audience import Audiences
from bot.access.permissions import Permissions
from bot.port import ChatError, Person, Place
from bot.store.places import Places
from bot.store.web_sessions import SignInLinks, WebSessions
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.sync.store import SqliteSources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from bot.access.visitor_access import PageScopes
    from bot.composition.components import Application
    from bot.conversation.dependencies import ForgetDocument
    from bot.conversation.outbound import OutboundRooms
    from bot.port import Directory
    from rag_engine.storage.sqlite.database import Database

_NOBODY = Person(id="0")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    application: Application
    chat: Database
    engine: Database
    catalog: SqliteCatalog
    history: SqliteHistory
    sources: SqliteSources
    places: Places
    access: Permissions
    audiences: PageScopes
    outbound: OutboundRooms
    forget: ForgetDocument
    links: SignInLinks

    async def directory(self, platform: str, workspace: str) -> Directory | None:
        place = Place(platform=platform, workspace=workspace, channel="")
        try:
            room = await self.outbound.room(place, _NOBODY, key="page")
        except (ChatError, TimeoutError, ValueError) as error:
            _log.info("the page cannot reach the directory of %s: %s", platform, type(error).__name__)
            return None
        directory = room.directory
        return directory if directory.home == workspace else directory.of_workspace(workspace)


class OpenPage(Protocol):
    def __call__(self, parts: PageParts) -> AbstractAsyncContextManager[object]: ...


@asynccontextmanager
async def opened(
    page: OpenPage | None,
    application: Application,
    *,
    outbound: OutboundRooms,
    forget: ForgetDocument,
    links: SignInLinks | None,
) -> AsyncGenerator[None]:
    if page is None or links is None:
        yield
        return
    data_dir = application.settings.data_dir
    access = Permissions(settings=application.settings.access)
    async with (
        connect(data_dir / "chat.sqlite", scripts=files("bot.store") / "sql") as chat,
        connect(data_dir / "footnote.sqlite") as engine,
    ):
        catalog, places = SqliteCatalog(engine), Places(chat)
        parts = PageParts(
            application=application,
            chat=chat,
            engine=engine,
            catalog=catalog,
            history=SqliteHistory(engine),
            sources=SqliteSources(engine),
            places=places,
            access=access,
            audiences=Audiences(
                places=places, catalog=catalog, access=access, model=application.library.embedder.model
            ),
            outbound=outbound,
            forget=forget,
            links=links,
        )
        async with page(parts):
            yield


def sign_in_links(application: Application, chat: Database) -> SignInLinks | None:
    if application.settings.web.port is None:
        return None
    return SignInLinks(WebSessions(chat))
