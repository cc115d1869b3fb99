"""Places, audiences and access over real SQLite files, in a town with channels of every kind."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from bot.access.audience import Audiences
from bot.access.permissions import Permissions
from bot.port import Person, Place
from bot.settings import AccessSettings
from bot.store.expert_requests import ExpertRequests
from bot.store.places import Places
from bot.store.topics import Topics
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.sqlite import database
from rag_engine.sync.store import SqliteSources
from rag_engine.types import Document, DocumentId, DocumentRecord
from tests.databases import new_database
from tests.doubles.town import Town

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.types import DocumentState, KnowledgeBase

ANN, BEN, EVE = Person(id="ANN"), Person(id="BEN"), Person(id="EVE")
"""An admin, a member, and a guest who is only in #general."""


def place(
    channel: str = "GENERAL", thread: str = "", *, workspace: str = "T1", platform: str = "slack"
) -> Place:
    return Place(platform=platform, workspace=workspace, channel=channel, thread=thread)


def town() -> Town:
    made = Town(members={"ANN", "BEN", "CYN"}, admins={"ANN"}, guests={"EVE"})
    made.add("GENERAL", "public", "ANN", "BEN", "CYN", "EVE")
    made.add("RANDOM", "public", "ANN", "BEN")
    made.add("LEGAL", "private", "ANN", "BEN")
    made.add("BOARD", "private", "ANN")
    made.add("TRIO", "group", "ANN", "BEN", "CYN")
    made.add("DM_ANN", "direct", "ANN")
    made.add("DM_BEN", "direct", "BEN")
    made.add("SHARED", "public", "ANN", "STRANGER", external=True)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """What is under test, and a town to ask."""

    catalog: SqliteCatalog
    places: Places
    topics: Topics
    experts: ExpertRequests
    audiences: Audiences
    town: Town
    sources: SqliteSources

    @property
    def access(self) -> Permissions:
        return self.audiences.access

    def with_settings(self, **settings: object) -> Chat:
        access = Permissions(settings=AccessSettings.model_validate(settings))
        return replace(self, audiences=replace(self.audiences, access=access))

    async def names(self, where: Place, person: Person | None = None) -> str:
        return (await self.audiences.scope(where, self.town, person=person)).name

    async def asks(self, where: Place, asker: Person) -> frozenset[str]:
        """What the person's message searches there."""
        return (await self.audiences.scope(where, self.town, asker=asker)).knowledge_bases

    async def operators(self, name: str) -> KnowledgeBase:
        return await self.catalog.open(name, model="hashing")

    async def put(
        self, base: KnowledgeBase, title: str, state: DocumentState = "ready", reason: str = ""
    ) -> DocumentRecord:
        document = Document(
            id=DocumentId(f"{base.id}-{title}"),
            knowledge_base=base.id,
            title=title,
            uri=f"https://chat.test/{base.id}/{title}",
            media_type="text/plain",
            digest=title,
        )
        record = DocumentRecord(document=document, state=state, reason=reason, chunks=3, pages=2)
        await self.catalog.save(record)
        return record


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Chat]:
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(database.connect(new_database(folder / "footnote.sqlite")))
        chat = await stack.enter_async_context(
            database.connect(new_database(folder / "chat.sqlite"), scripts=files("bot.store") / "sql")
        )
        catalog, places = SqliteCatalog(kept), Places(chat)
        audiences = Audiences(
            places=places, catalog=catalog, access=Permissions(settings=AccessSettings()), model="hashing"
        )
        yield Chat(
            catalog=catalog,
            places=places,
            topics=Topics(chat),
            experts=ExpertRequests(chat),
            audiences=audiences,
            town=town(),
            sources=SqliteSources(kept),
        )


PLACES = {
    "channel": place(),
    "second channel": place("RANDOM"),
    "private channel": place("LEGAL"),
    "group": place("TRIO"),
    "DM of Ann": place("DM_ANN"),
    "DM of Ben": place("DM_BEN"),
    "thread": place("RANDOM", "1"),
    "second thread": place("RANDOM", "2"),
    "thread of a DM": place("DM_ANN", "1"),
    "external channel": place("SHARED"),
    "second workspace": place(workspace="T2"),
    "second platform": place(platform="discord"),
    "thread of the second workspace": place("RANDOM", "1", workspace="T2"),
}


async def ids(chat: Chat, where: Place, person: Person | None = None) -> frozenset[str]:
    return (await chat.audiences.scope(where, chat.town, person=person)).knowledge_bases
