"""What a program that asks may read, and its questions to the engine."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UnknownDocument, UnknownKnowledgeBase
from rag_engine.types import BEST_PASSAGES, Answer, Query

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Sequence

    from bot.composition.components import Application
    from rag_engine.types import (
        AnswerEvent,
        AnswerOptions,
        DocumentRecord,
        Hit,
        KnowledgeBase,
        KnowledgeBaseId,
        Section,
        Turn,
    )

_MOST_HITS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """`knowledge_bases` are all that it may read; None: all there are, for the operator."""

    application: Application
    knowledge_bases: frozenset[KnowledgeBaseId] | None = None

    async def readable(self, name: str = "") -> list[KnowledgeBase]:
        """All, or the one of that name. Raises `UnknownKnowledgeBase`."""
        known = [
            base
            for base in await self.application.catalog.knowledge_bases()
            if self.knowledge_bases is None or base.id in self.knowledge_bases
        ]
        found = [base for base in known if base.name.casefold() == name.casefold()] if name else known
        if not found:
            names = ", ".join(base.name for base in known) or "none"
            raise UnknownKnowledgeBase(
                f"There is no knowledge base of that name to read; there are: {names}."
            )
        return found

    async def ask(
        self,
        question: str,
        *,
        bases: Collection[KnowledgeBase],
        options: AnswerOptions,
        earlier: Sequence[Turn] = (),
    ) -> AsyncGenerator[AnswerEvent]:
        passages = self.application.settings.answering.passages
        query = Query(
            text=question,
            knowledge_bases=frozenset(base.id for base in bases),
            scope=", ".join(base.name for base in bases),
            names={base.id: base.name for base in bases},
            limit=passages or BEST_PASSAGES,
            exact_limit=passages is not None,
            other_turns=tuple(earlier),
            options=options,
        )
        async with aclosing(self.application.engine.answer(query)) as events:
            async for event in events:
                yield event

    async def answer(self, question: str, *, base: str, options: AnswerOptions) -> Answer:
        bases = await self.readable(base)
        async with aclosing(self.ask(question, bases=bases, options=options)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return event
        raise RuntimeError("the engine ended a reply without an answer")

    async def search(self, words: str, *, base: str, limit: int) -> Sequence[Hit]:
        bases = await self.readable(base)
        query = Query(
            text=words,
            knowledge_bases=frozenset(each.id for each in bases),
            scope=", ".join(each.name for each in bases),
            limit=max(1, min(limit, _MOST_HITS)),
        )
        return (await self.application.engine.search(query)).hits

    async def documents(self, base: str) -> list[tuple[KnowledgeBase, DocumentRecord]]:
        return [
            (each, record)
            for each in await self.readable(base)
            for record in await self.application.catalog.records(each.id)
            if record.state == "ready"
        ]

    async def sections(self, document: str) -> tuple[DocumentRecord, Sequence[Section]]:
        """By its id. Raises `UnknownDocument`, also for one that may not be read."""
        for _, record in await self.documents(""):
            if record.document.id == document:
                return record, await self.application.catalog.sections(record.document.id)
        raise UnknownDocument("There is no such document to read; `list` names them.")
