"""Questions on their way through the steps, searched without an answer."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_engine import pipeline
from rag_engine.agent.request import switched_off
from rag_engine.errors import QueryTooLong, UserError
from rag_engine.generation.phrases import phrase
from rag_engine.metadata.conditions import described
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.retrieval.queries.document_filters import with_chosen_documents
from rag_engine.retrieval.turn_order import merged
from rag_engine.text.analyzer import query_tokens
from rag_engine.text.language import question_language
from rag_engine.types import Query, Retrieval, Turn
from rag_engine.written_requests import with_written_requests

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.ports import Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`first_text_seconds`: for all models together."""

    question_characters: int = 20_000
    history_turns: int = 20
    first_text_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retriever:
    steps: Sequence[NamedStep]
    metadata: Metadata | None
    limits: Limits

    async def search(self, query: Query) -> Retrieval:
        inquiry = await begun(query, limits=self.limits, metadata=self.metadata)
        if inquiry.documents == frozenset():
            return Retrieval(hits=(), notices=(no_document(inquiry),))
        inquiry = await through(self.steps, inquiry)
        return Retrieval(
            hits=inquiry.hits[: query.limit], fallbacks=inquiry.fallbacks, notices=inquiry.notices
        )


async def begun(
    query: Query,
    *,
    limits: Limits,
    metadata: Metadata | None,
    read_history: Callable[[], Awaitable[Sequence[Turn]]] | None = None,
) -> Inquiry:
    """Raises `UserError` for an invalid question."""
    refused = switched_off(query)
    query = with_written_requests(query)
    await _check(query, limits)
    started = time.perf_counter()
    history = await read_history() if read_history is not None else ()
    seconds = {"history": time.perf_counter() - started}
    spoken = merged(history, query.other_turns, most=limits.history_turns)
    inquiry = Inquiry(query=query, question=query.text, history=spoken, seconds=seconds)
    if refused:
        language = language_of(inquiry)
        inquiry = replace(inquiry, notices=tuple(phrase(name, language=language) for name in refused))
    return await with_chosen_documents(inquiry, metadata)


async def through(steps: Sequence[NamedStep], inquiry: Inquiry) -> Inquiry:
    async with aclosing(pipeline.run(inquiry, steps)) as items:
        async for item in items:
            if isinstance(item, Inquiry):
                inquiry = item
    return inquiry


def no_document(inquiry: Inquiry) -> str:
    return phrase("no_file_matches", language=language_of(inquiry), filter=described(inquiry.filtered_by))


def language_of(inquiry: Inquiry) -> str:
    return question_language(inquiry.query.text, chosen=inquiry.query.language)


async def _check(query: Query, limits: Limits) -> None:
    if len(query.text) > limits.question_characters:
        raise QueryTooLong(
            f"The question has {len(query.text):,} characters and at most {limits.question_characters:,} are taken: "
            "shorten it, or add the text as a file and ask about that."
        )
    if not await asyncio.to_thread(query_tokens, query.text):
        raise UserError("There are no words in this question that could be searched for: ask it in words.")
