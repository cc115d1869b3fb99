from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError
from rag_engine.generation import prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.dates import local_time
from rag_engine.graph.card import asked_entity
from rag_engine.metadata.choice import names_a_value, recent_properties, vocabulary
from rag_engine.metadata.conditions import described
from rag_engine.metadata.reply import limited_to
from rag_engine.retrieval.queries.early_vectors import EarlyVectors
from rag_engine.retrieval.queries.follow_ups import completed, is_self_contained, leans_on_conversation
from rag_engine.retrieval.queries.query_variants import MOST_QUERIES, UnderstandingReply, understanding_of
from rag_engine.retrieval.queries.several_steps import asks_for_several_steps
from rag_engine.text import tokens
from rag_engine.text.language import detect
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from rag_engine.metadata.filter_types import Properties
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Embedder, LanguageModel, Metadata, Ports, Step
    from rag_engine.retrieval.queries.understood_message import Understanding
    from rag_engine.types import (
        DocumentId,
        Route,
    )

PHASE = "search"
POSITION = 10
STATUS = ""

TASK = "understand"
_LATEST_TURNS = 6
_TURN_TOKENS = 300

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Makes a follow-up question complete and finds further words for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(default=4, gt=0)
    """Time limit for the language model, a second attempt included; after it the message is searched for as it is."""
    reply_tokens: int = Field(default=512, ge=64)
    """Maximum tokens of its reply."""
    queries: int = Field(default=3, ge=0, le=MOST_QUERIES)
    """Further queries that it may add to a question."""
    filters: bool = True
    """Whether it may limit a question to files by their properties (author, type, date, tag, ...)."""
    filter_keys: tuple[str, ...] = ()
    """The properties that it may use, each with the operator it always has if wanted (`author,year >=`); empty: all."""
    languages: tuple[str, ...] = ()
    """Languages of the files (`en,de`): questions in another one are translated, first questions too."""


def build(settings: Settings, ports: Ports) -> Step:
    """Rules complete the question; `retrieve` joins the model's call."""
    return partial(
        understand,
        settings=settings,
        model=ports.model_for(TASK),
        metadata=ports.metadata if settings.filters else None,
        embedder=ports.embedder,
    )


async def understand(
    inquiry: Inquiry,
    *,
    settings: Settings,
    model: LanguageModel | None,
    metadata: Metadata | None = None,
    embedder: Embedder | None = None,
    now: Callable[[str], datetime] = local_time,
) -> Inquiry:
    if inquiry.query.as_asked:
        return inquiry
    if name := inquiry.query.text.startswith("/") and asked_entity(inquiry.query.text):
        return replace(inquiry, question=name)
    earlier = [turn.text for turn in inquiry.history if turn.role == "user"]
    inquiry = _with_rules(inquiry, earlier[-_LATEST_TURNS:])
    if model is None:
        return inquiry
    needed = _needs_model(inquiry, earlier, settings)
    if inquiry.query.unfiltered:
        metadata = None
    if inquiry.route != "search" or not (needed or metadata):
        return inquiry
    today = now(inquiry.query.time_zone)
    early = None if embedder is None else EarlyVectors(embedder)
    call = _ask(model, inquiry, settings=settings, today=today, metadata=metadata, needed=needed, early=early)
    return replace(inquiry, pending=asyncio.create_task(call, name="understand a message"))


async def joined(inquiry: Inquiry) -> Inquiry:
    if inquiry.pending is None:
        return inquiry
    try:
        understood = await inquiry.pending
    except (RagError, TimeoutError) as error:
        why = str(error) or "The language model took too long."
        return replace(inquiry.falling_back("understand_failed"), pending=None).noting(not_understood=why)
    if understood is None:
        return replace(inquiry, pending=None)
    inquiry = replace(inquiry, pending=None, understanding=understood, route=_allowed(understood, inquiry))
    return _searching_for(inquiry, understood.question).noting(
        understood_by="model", understanding=_details(understood)
    )


def _with_rules(inquiry: Inquiry, earlier: list[str]) -> Inquiry:
    asked = inquiry.query.text
    if not earlier or is_self_contained(asked):
        return inquiry
    whole = completed(asked, earlier)
    if leans_on_conversation(asked):
        return replace(_searching_for(inquiry, whole), beside=asked)
    return replace(inquiry, beside=whole)


def _needs_model(inquiry: Inquiry, earlier: list[str], settings: Settings) -> bool:
    asked = inquiry.query.text
    if earlier and not is_self_contained(asked):
        return True
    options = inquiry.query.options
    if not (options.agent or options.research or options.compute) and asks_for_several_steps(asked):
        return True
    return bool(settings.languages) and detect(asked) not in ("", *settings.languages)


def _allowed(understood: Understanding, inquiry: Inquiry) -> Route:
    said = [turn.text for turn in inquiry.history if turn.role == "assistant"]
    if understood.route == "clarify" and said and said[-1].rstrip().endswith(("?", "？")):
        return "search"
    if understood.route == "edit" and not said:
        return "search"
    if understood.route == "agent" and inquiry.query.options.tools == "off":
        return "search"
    return understood.route


def _searching_for(inquiry: Inquiry, question: str) -> Inquiry:
    if not question or question == inquiry.question:
        return inquiry
    return replace(inquiry, question=question).noting(understood_as=question)


def _details(understood: Understanding) -> dict[str, object]:
    return {
        "seconds": round(understood.seconds, 4),
        "route": understood.route,
        "confidence": understood.confidence,
        "queries": list(understood.queries),
        "keywords": list(understood.keywords),
        "translations": dict(understood.translations),
        "filter": described([understood.filter]) if understood.filter else "",
        "filter_left_out": list(understood.left_out),
    }


async def _ask(
    model: LanguageModel,
    inquiry: Inquiry,
    *,
    settings: Settings,
    today: datetime,
    metadata: Metadata | None,
    needed: bool,
    early: EarlyVectors | None,
) -> Understanding | None:
    started = time.perf_counter()
    async with asyncio.timeout(settings.seconds):
        if not needed and not await _may_filter(inquiry, metadata):
            return None
        known = await _known(inquiry, metadata)
        prompt = await asyncio.to_thread(_prompt, inquiry, settings, today, known)
        follow = early.follow if early else None
        reply = await structured_reply.ask(model, prompt, UnderstandingReply, task=TASK, follow=follow)
    understood = understanding_of(reply, inquiry.query.text)
    if not known:
        understood = replace(understood, filter=None, left_out=())
    filter_, left_out = limited_to(understood.filter, settings.filter_keys)
    return replace(
        understood,
        queries=understood.queries[: settings.queries],
        filter=filter_,
        left_out=(*understood.left_out, *left_out),
        seconds=time.perf_counter() - started,
        early=early,
    )


async def _may_filter(inquiry: Inquiry, metadata: Metadata | None) -> bool:
    if metadata is None:
        return False
    try:
        values = await metadata.authors_and_tags(inquiry.query.knowledge_bases)
    except RagError as error:
        _log.warning("a question is understood without the properties of files: %s", error)
        return False
    return await asyncio.to_thread(names_a_value, inquiry.query.text, values)


async def _known(inquiry: Inquiry, metadata: Metadata | None) -> Mapping[DocumentId, Properties]:
    try:
        return await recent_properties(inquiry.query, metadata)
    except RagError as error:
        _log.warning("a question is understood without the properties of files: %s", error)
        return {}


def _prompt(
    inquiry: Inquiry, settings: Settings, today: datetime, known: Mapping[DocumentId, Properties]
) -> Prompt:
    shorten = partial(tokens.cut, limit=_TURN_TOKENS, count=tokens.estimate)
    messages = prompts.understand(
        prompts.rounds(inquiry.history[-_LATEST_TURNS:], shorten=shorten),
        tokens.cut_middle(inquiry.query.text, 4 * _TURN_TOKENS, count=tokens.estimate),
        today=today,
        language=inquiry.query.asker_language,
        queries=settings.queries,
        languages=settings.languages,
        tools=inquiry.query.options.tools != "off",
        properties=vocabulary(known, keys=[key.split()[0] for key in settings.filter_keys if key.split()]),
    )
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=settings.reply_tokens,
    )
