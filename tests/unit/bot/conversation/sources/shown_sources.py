"""Documents with readers, and a pen that draws their pages, for the Sources view."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from bot.access.permissions import Scope
from bot.conversation.sources.sources_view import SourcesView
from bot.port import Action, Citation, Person, Place
from bot.store.turns import ChatTurn
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.parsers.documents import pdf as pdf_parser
from rag_engine.parsing.pool import PagePicture
from rag_engine.types import (
    ChunkId,
    Document,
    DocumentId,
    DocumentRecord,
    KnowledgeBaseId,
    Section,
)
from tests.page_marks import PNG, pdf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.conversation.dependencies import AudienceLookup
    from bot.conversation.sources.sources_view import Draw, FindFigure
    from bot.files.originals import Originals
    from bot.port import Directory, Reply, Room
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import Blob, KnowledgeBase

HERE = Place(platform="test", workspace="w", channel="general", thread="1")
ELSEWHERE = replace(HERE, channel="board", thread="")
ANN, BEN = Person(id="U1", language="en"), Person(id="U2", language="en")
LINK = "https://chat.test/archives/C1/p1"
PAGES = (
    ["Ours is a small harbour.", "Logs are kept for two weeks.", "Nobody reads them."],
    ["The lamp is changed every nine months.", "Its battery is changed, too."],
)
ROOM = cast("Room", SimpleNamespace(directory=None))  # nothing here asks the platform


@dataclass
class Readers:
    """Which knowledge bases are read where, and by whom."""

    seen: dict[str, set[KnowledgeBaseId]] = field(default_factory=dict)
    asked: list[tuple[Place, Person | None]] = field(default_factory=list)

    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        self.asked.append((place, person))
        return Scope(knowledge_bases=frozenset(self.seen.get(place.channel, ())), name=place.channel)

    async def own(self, place: Place) -> KnowledgeBase:
        raise AssertionError("nobody makes a knowledge base here")


@dataclass
class Pen:
    """Draws nothing, or fails; remembers what it was asked for."""

    content: bytes = PNG + b"picture"
    fault: Exception | None = None
    marked: int = 1
    drawn: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    figures: list[bool] = field(default_factory=list)

    async def __call__(self, blob: Blob, *, page: int, quotes: Sequence[str], figure: bool) -> PagePicture:
        self.figures.append(figure)
        self.drawn.append((blob.name, page, tuple(quotes)))
        if self.fault is not None:
            raise self.fault
        return PagePicture(content=self.content, marked=self.marked)


@dataclass
class Library:
    folder: Path
    catalog: SqliteCatalog
    readers: Readers
    originals: Originals

    def checking(self, draw: Draw | None = None, figure: FindFigure | None = None) -> SourcesView:
        return SourcesView(
            audiences=cast("AudienceLookup", self.readers),
            catalog=self.catalog,
            originals=self.originals,
            draw=draw,
            figure=figure,
        )

    async def base(self, channel: str) -> KnowledgeBaseId:
        base = await self.catalog.open(channel, model="none")
        self.readers.seen.setdefault(channel, set()).add(base.id)
        return base.id

    async def add(
        self, name: str, content: bytes, sections: Sequence[Section], *, channel: str = "general"
    ) -> Document:
        path = self.folder / name
        path.write_bytes(content)
        blob = await blob_from_path(path, uri=f"{LINK}#{name}")
        document = Document(
            id=DocumentId(f"{channel}-{name}"),
            knowledge_base=await self.base(channel),
            title=name,
            uri=blob.uri,
            media_type=blob.media_type,
            digest=blob.digest,
            size=blob.size,
        )
        record = DocumentRecord(document=document, state="ready", chunks=1)
        await self.catalog.save(record, sections=list(sections))
        await self.originals.keep(blob, record)
        return document

    async def add_pdf(self, name: str = "handbook.pdf", *, channel: str = "general") -> Document:
        content = pdf(*PAGES)
        path = self.folder / "read.pdf"
        path.write_bytes(content)
        return await self.add(name, content, list(pdf_parser.parse(path)), channel=channel)


def citation(document: Document, quote: str, anchor: str = "p. 1", *, number: int = 1) -> Citation:
    return Citation(
        number=number,
        title=document.title,
        anchor=anchor,
        uri=document.uri,
        quote=quote,
        document=document.id,
        chunk=ChunkId("c"),
    )


def turn(
    *citations: Citation, place: Place = HERE, private: bool = False, question: str = "Show me the picture."
) -> ChatTurn:
    return ChatTurn(
        place=place,
        message="m",
        person=ANN,
        question=question,
        id="0123456789abcdef",
        citations=citations,
        private=private,
    )


async def press(checking: SourcesView, of: ChatTurn, value: str = "", *, person: Person = BEN) -> Reply:
    action = Action(id="", name="sources", value=value or of.id, place=HERE, person=person)
    async with asyncio.timeout(20):
        followed = await checking.show(of, action, ROOM)
        return replace(followed.reply, files=await followed.files())
