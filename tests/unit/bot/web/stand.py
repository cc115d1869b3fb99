"""A page over a real socket, with what everybody of the audience's world holds and asked: `tests/journeys/audience/world.py`."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING

import httpx2

from bot.access.audience import Audiences
from bot.access.permissions import Permissions
from bot.composition import application as composition
from bot.composition.chat.page_parts import PageParts
from bot.conversation.outbound import OutboundRooms
from bot.observability.health import Health
from bot.observability.turn_measurements import TurnMeasurements
from bot.settings import AccessSettings, EmbedderSlice, ModelSlice, ParsingSettings, Settings, WebSettings
from bot.store.places import Places, StoredAudience
from bot.store.turns import ChatTurn, Turns
from bot.store.web_sessions import OPERATOR, SignInLinks, Visitor, WebSessions
from bot.web import server
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.storage.sqlite.database import connect
from rag_engine.types import Answer, Query
from tests.databases import new_database
from tests.doubles.town import TownRoom
from tests.journeys.audience import world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from bot.port import IncomingMessage, Person
    from rag_engine.types import KnowledgeBaseId
    from tests.doubles.town import Town

ANN_IN_T1 = Visitor(platform="slack", workspace="T1", person="UA", name="Ann")


@dataclass(slots=True, kw_only=True)
class Stand:
    url: str
    parts: PageParts
    towns: dict[tuple[str, str], Town]
    health: Health
    measurements: TurnMeasurements
    listens: str
    """Where the page listens, whatever people open."""
    bases: dict[str, KnowledgeBaseId] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    turns: dict[str, ChatTurn] = field(default_factory=dict)

    @asynccontextmanager
    async def signed_in(self, visitor: Visitor = OPERATOR) -> AsyncGenerator[httpx2.AsyncClient]:
        async with self.client() as client:
            link = await self.parts.links.link(visitor)
            done = await client.post(link, headers={"origin": self.url})
            assert done.status_code == 303, done.text
            yield client

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[httpx2.AsyncClient]:
        async with httpx2.AsyncClient(base_url=self.url, timeout=30) as client:
            yield client


def form_token(html: str) -> str:
    return html.partition('name="token" value="')[2].partition('"')[0]


@asynccontextmanager
async def empty_stand(folder: Path, **web: object) -> AsyncGenerator[Stand]:
    new_database(folder / "chat.sqlite")
    new_database(folder / "footnote.sqlite")
    settings = Settings(
        data_dir=folder,
        embedder=EmbedderSlice(kind="hashing"),
        model=ModelSlice.model_validate({"kind": "extractive"}),
        parsing=ParsingSettings(workers=1),
        access=AccessSettings(add="everyone"),
        web=WebSettings.model_validate({"port": 0, **web}),
        steps={"evidence": {"enabled": False}},
    )
    towns = world.towns()
    outbound = OutboundRooms()

    async def recall(message: IncomingMessage) -> tuple[None, TownRoom]:
        place = message.place
        return None, TownRoom(directory=towns[place.platform, place.workspace])

    outbound.recalls.update(slack=recall, discord=recall)
    health, measurements = Health(), TurnMeasurements()
    async with (
        composition.application(settings) as application,
        connect(folder / "chat.sqlite", scripts=files("bot.store") / "sql") as chat,
        connect(folder / "footnote.sqlite") as engine,
    ):
        places, access = Places(chat), Permissions(settings=settings.access)
        library = application.library
        parts = PageParts(
            application=application,
            chat=chat,
            engine=engine,
            catalog=library.catalog,
            history=library.storage.history,
            sources=library.storage.sources,
            places=places,
            access=access,
            audiences=Audiences(
                places=places, catalog=library.catalog, access=access, model=library.embedder.model
            ),
            outbound=outbound,
            forget=library.forget,
            links=SignInLinks(WebSessions(chat)),
        )
        async with server.served(parts, health=health, measurements=measurements) as port:
            yield Stand(
                url=parts.links.address,
                listens=f"http://127.0.0.1:{port}",
                parts=parts,
                towns=towns,
                health=health,
                measurements=measurements,
            )


@asynccontextmanager
async def full_stand(folder: Path, **web: object) -> AsyncGenerator[Stand]:
    """Everybody holds a document with a secret, and asked about it."""
    async with empty_stand(folder, **web) as stand:
        for holder in world.HOLDERS:
            await add_holder(stand, holder, folder)
        yield stand


async def add_holder(stand: Stand, holder: str, folder: Path) -> None:
    library, secret = stand.parts.application.library, world.SECRETS[holder]
    name = (
        "handbook" if holder == world.OPERATOR else f"{world.PLACES[holder].platform}:{holder}~0123456789ab"
    )
    base = await library.catalog.open(name, model=library.embedder.model)
    path = folder / world.TITLES[holder]
    await asyncio.to_thread(path.write_text, f"The launch code of the harbour project is {secret}.\n")
    done = await library.ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)
    stand.bases[holder], stand.documents[holder] = base.id, done.record.document.id
    if holder == world.OPERATOR:
        return
    place = world.PLACES[holder]
    await stand.parts.places.admit(
        StoredAudience(
            knowledge_base=base.id,
            platform=place.platform,
            workspace=place.workspace,
            channel=place.channel,
            thread=place.thread,
        )
    )
    stand.turns[holder] = await ask(stand, holder, f"{world.QUESTION} Is it {secret}?")


async def ask(
    stand: Stand, holder: str, question: str, *, person: Person | None = None, private: bool = False
) -> ChatTurn:
    place, asker = world.PLACES[holder], person or world.ASKERS[holder][-1]
    turn = ChatTurn(
        place=place, message=f"m-{len(stand.turns)}-{holder}", person=asker, question=question, private=private,
        asked_at=time.time() - 60 * len(stand.turns),
    )  # fmt: skip
    turns, answer = Turns(stand.parts.chat), None
    assert await turns.claim(turn)
    query = Query(
        text=question,
        knowledge_bases=frozenset({stand.bases[holder]}),
        turn=turn.engine_turn,
        limit=5,
    )
    async with aclosing(stand.parts.application.engine.answer(query)) as events:
        async for event in events:
            answer = event if isinstance(event, Answer) else answer
    assert answer is not None
    turn = replace(turn, state="final", turn=answer.turn, citations=answer.citations, messages=("1.2",))
    assert await turns.save(turn)
    return turn
