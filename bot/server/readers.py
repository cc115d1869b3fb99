from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.access.permissions import program_scope
from rag_engine.errors import UnknownDocument
from rag_engine.types import BEST_PASSAGES, Answer, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.access.permissions import Scope
    from bot.composition.components import Application
    from rag_engine.types import (
        AnswerEvent,
        AnswerOptions,
        DocumentRecord,
        Hit,
        KnowledgeBaseId,
        Section,
        Turn,
    )

_MOST_HITS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """`knowledge_bases`: None for all."""

    application: Application
    knowledge_bases: frozenset[KnowledgeBaseId] | None = None

    async def scope(self, name: str = "") -> Scope:
        """Everything, or the knowledge base of that name. Raises `UnknownKnowledgeBase`."""
        return await program_scope(self.application.catalog, self.knowledge_bases, name)

    async def ask(
        self, question: str, *, scope: Scope, options: AnswerOptions, earlier: Sequence[Turn] = ()
    ) -> AsyncGenerator[AnswerEvent]:
        passages = self.application.settings.answering.passages
        query = Query(
            text=question,
            knowledge_bases=scope.knowledge_bases,
            scope=scope.name,
            names=scope.names_in("en"),
            limit=passages or BEST_PASSAGES,
            exact_limit=passages is not None,
            other_turns=tuple(earlier),
            options=options,
        )
        async with aclosing(self.application.engine.answer(query)) as events:
            async for event in events:
                yield event

    async def answer(self, question: str, *, base: str, options: AnswerOptions) -> Answer:
        scope = await self.scope(base)
        async with aclosing(self.ask(question, scope=scope, options=options)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise RuntimeError("the engine ended a reply without an answer")

    async def search(self, words: str, *, base: str, limit: int) -> Sequence[Hit]:
        scope = await self.scope(base)
        query = Query(
            text=words,
            knowledge_bases=scope.knowledge_bases,
            scope=scope.name,
            limit=max(1, min(limit, _MOST_HITS)),
        )
        return (await self.application.engine.search(query)).hits

    async def documents(self, base: str) -> list[tuple[str, DocumentRecord]]:
        names = (await self.scope(base)).names_in("en")
        return [
            (name, record)
            for identity, name in names.items()
            for record in await self.application.catalog.records(identity)
            if record.state == "ready"
        ]

    async def text_of(self, document: str) -> tuple[DocumentRecord, Sequence[Section]]:
        """Raises `UnknownDocument`, also for one that may not be read."""
        for _, record in await self.documents(""):
            if record.document.id == document:
                return record, await self.application.catalog.sections(record.document.id)
        raise UnknownDocument("There is no such document to read; `list` names them.")
