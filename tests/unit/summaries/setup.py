"""A summarising engine: real files, index and catalog, a language model on loopback, and the quoting answerer."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine.embedders import hashing
from rag_engine.engine import Engine
from rag_engine.indexes import embedded
from rag_engine.models import extractive, openai
from rag_engine.parsers.texts import markdown
from rag_engine.pipeline import NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.splitters import structure
from rag_engine.steps import fuse, pack, retrieve, understand
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.summaries.plan import Summaries, SummaryLimits
from rag_engine.text import analyzer
from rag_engine.types import (
    Answer,
    ConversationId,
    Document,
    DocumentId,
    DocumentRecord,
    KnowledgeBaseId,
    Query,
    Stage,
)
from rag_engine.wrappers.hidden_documents import HiddenDocumentsIndex
from tests.databases import new_database
from tests.doubles.model_servers import openai_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rag_engine.embedders.hashing import HashingEmbedder
    from rag_engine.types import AnswerEvent, DocumentState
    from tests.doubles.model_servers.openai_server import OpenAIServer

HANDBOOK = """# Handbook

This handbook explains how the company works. It applies to everyone from the first day.

## Leave

Everyone has 28 days of leave a year. Leave is asked for in the calendar two weeks ahead. Leave that is not taken by March is lost.

## Travel

Trips are booked through the travel desk. The budget of a trip is 400 euros a day. Receipts are handed in within ten days.

## Notice

The notice period is four weeks to the end of a month. During probation it is two weeks.
"""
_WORDS = (
    "The committee looks at the figures of every department and writes down what was decided and by whom. "
)


def long_text(sections: int, *, sentences: int = 8) -> str:
    """A document whose sections have the marks M001, M002, ..."""
    parts = [
        f"## Chapter {number}\n\nThe mark of this chapter is M{number:03}. {_WORDS * sentences}"
        for number in range(1, sections + 1)
    ]
    return "# Minutes\n\n" + "\n\n".join(parts)


@dataclass(kw_only=True)
class Desk:
    """Test questions, and the model's prompts."""

    engine: Engine
    catalog: SqliteCatalog
    history: SqliteHistory
    index: embedded.EmbeddedIndex
    embedder: HashingEmbedder
    server: OpenAIServer
    folder: Path

    async def add(
        self, title: str, text: str, *, base: str = "kb", state: DocumentState = "ready", reason: str = ""
    ) -> Document:
        """Adds a document to a knowledge base, with passages only if ready."""
        opened = await self.catalog.open(base, model=self.embedder.model)
        document = Document(
            id=DocumentId(f"{base}/{title}"),
            knowledge_base=opened.id,
            title=title,
            uri=f"chat://{base}/{title}",
            media_type="text/markdown",
            digest=f"{base}/{title}",
        )
        path = self.folder / "read.md"
        path.write_text(text, encoding="utf-8")
        sections = list(markdown.parse(path)) if text else []
        split = structure.build(structure.Settings(), count_tokens=self.embedder.count_tokens, max_tokens=256)
        chunks = list(split(document, sections)) if state == "ready" else []
        vectors = await self.embedder.embed([chunk.text for chunk in chunks], side="passage")
        await self.index.put(document, list(zip(chunks, vectors, strict=True)))
        await self.catalog.save(
            DocumentRecord(document=document, state=state, reason=reason, chunks=len(chunks)),
            sections=sections,
        )
        return document

    async def events(self, text: str, *bases: str, files: tuple[Document, ...] = ()) -> list[AnswerEvent]:
        """All events of a question in these knowledge bases."""
        known = {base.name: base.id for base in await self.catalog.knowledge_bases()}
        query = Query(
            text=text,
            knowledge_bases=frozenset(known[base] for base in bases or ("kb",)),
            conversation=ConversationId("c"),
            files=tuple(document.id for document in files),
            names={KnowledgeBaseId(identity): name for name, identity in known.items()},
        )
        async with asyncio.timeout(30), aclosing(self.engine.answer(query)) as answering:
            return [event async for event in answering]

    async def ask(self, text: str, *bases: str, files: tuple[Document, ...] = ()) -> Answer:
        answer = (await self.events(text, *bases, files=files))[-1]
        assert isinstance(answer, Answer)
        return answer

    def shown(self, task: str = "") -> str:
        """All text that the model received."""
        return "\n".join(request.text for request in self.server.requests if task in ("", request.task))

    def tasks(self) -> list[str]:
        return [request.task for request in self.server.requests]


def parts_read(events: list[AnswerEvent]) -> list[tuple[int, int]]:
    return [(event.number, event.of) for event in events if isinstance(event, Stage) and event.of]


def _model_settings(base_url: str, name: str, window: int) -> openai.Settings:
    return openai.Settings.model_validate(
        {
            "base_url": base_url,
            "name": name,
            "api_key": "sk-test",
            "context_tokens": window,
            "back_off_seconds": 0,
            "retries": 0,
        }
    )


@asynccontextmanager
async def desk(folder: Path, *, window: int = 8192, models: int = 1, **limits: float) -> AsyncGenerator[Desk]:
    """`models` language models (`one`, `two`, ...) on one server, then the quoting answerer."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(openai_server.serve())
        database = await stack.enter_async_context(connect(new_database(folder / "footnote.sqlite")))
        embedder = await stack.enter_async_context(hashing.connect(hashing.Settings(), data_dir=folder))
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        index = await stack.enter_async_context(
            embedded.connect(embedded.Settings(), data_dir=folder, identity=identity)
        )
        chain = [
            await stack.enter_async_context(
                openai.connect(_model_settings(server.base_url, name, window), embedder=embedder)
            )
            for name in ("one", "two", "three")[:models]
        ]
        quoting = await stack.enter_async_context(
            extractive.connect(extractive.Settings(), embedder=embedder)
        )
        catalog, history = SqliteCatalog(database), SqliteHistory(database)
        hiding = HiddenDocumentsIndex(index, catalog.unfinished)
        ports = Ports(embedder=embedder, index=hiding, model=chain[0] if chain else None)
        engine = Engine(
            search_steps=[
                NamedStep(name=module.__name__, run=module.build(module.Settings(), ports))
                for module in (understand, retrieve, fuse)
            ],
            prompt_steps=[NamedStep(name="pack", run=pack.build(pack.Settings(), ports))],
            models=chain,
            answerer=quoting,
            embedder=embedder,
            history=history,
            summaries=Summaries(
                index=hiding,
                library=catalog,
                unfinished=catalog.unfinished,
                embedder=embedder,
                limits=replace(SummaryLimits(), **limits),
            ),
        )
        yield Desk(
            engine=engine,
            catalog=catalog,
            history=history,
            index=index,
            embedder=embedder,
            server=server,
            folder=folder,
        )
