from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError
from rag_engine.generation import prompts
from rag_engine.generation.context_budget import (
    Assemble,
    Fitted,
    PromptLayout,
    fit,
    prompt_budget,
    reply_reserve,
)
from rag_engine.generation.dates import local_time
from rag_engine.generation.passage_blocks import by_document, date_of, listed, passage
from rag_engine.generation.phrases import phrase
from rag_engine.research import report
from rag_engine.text import tokens
from rag_engine.text.language import detect
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.metadata.filter_types import Properties
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel, Metadata, Ports, Step
    from rag_engine.types import DocumentId, Hit, Turn

PHASE = "prompt"
POSITION = 10
STATUS = ""

_NO_WINDOW = 1_000_000
_LARGE_WINDOW = 16_000
_METADATA_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Fits passages, conversation and question into the window of the language model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply_tokens: int = Field(default=2048, ge=1)
    """Maximum tokens of a reply; at most a quarter of a small window, and at least 256."""
    context_ratio: float = Field(default=0.95, gt=0.1, le=1)
    """Share of the window to use, because tokenizers differ slightly."""
    knowledge: prompts.Knowledge = "only_sources"
    """`only_sources`: answers use the files alone; `prefer_sources`: the model may add its own knowledge, marked as such."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(pack, settings=settings, model=ports.model, metadata=ports.metadata)


async def pack(
    inquiry: Inquiry,
    *,
    settings: Settings,
    model: LanguageModel | None,
    metadata: Metadata | None = None,
) -> Inquiry:
    """Passages keep whole chunks."""
    asked = inquiry.query.text
    language = inquiry.query.language or detect(asked)
    knowledge = inquiry.query.knowledge or settings.knowledge
    window = _NO_WINDOW if model is None else model.context_tokens
    hits = inquiry.context or inquiry.hits[: inquiry.query.limit]
    properties = await _known(hits, metadata)
    known = properties if model is not None and window >= _LARGE_WINDOW else None
    layout = PromptLayout(
        assemble=_assembly(inquiry, language, knowledge),
        format=partial(passage, known=known),
        count=await _counter(model),
        arrange=by_document if model is not None else tuple,
        listing=partial(listed, known=known),
    )
    budget = prompt_budget(window, settings.reply_tokens, ratio=settings.context_ratio)
    fitted = await asyncio.to_thread(_fitted, asked, hits, inquiry.history, budget, layout)
    prompt = Prompt(
        messages=fitted.messages if inquiry.findings is None else report.numbered(fitted),
        passages=tuple(excerpt.hit for excerpt in fitted.excerpts),
        shortened=frozenset(fitted.excerpts[number - 1].hit.chunk.id for number in _cut(fitted)),
        tokens=fitted.tokens,
        reply_tokens=reply_reserve(window, settings.reply_tokens),
        needs_passages=knowledge == "only_sources" and inquiry.route != "chat",
        temperature=inquiry.query.options.temperature,
    )
    dates = {document: date for document, own in properties.items() if (date := date_of(own))}
    details = _details(fitted, len(hits), budget, language)
    packed = replace(inquiry, prompt=prompt, dates=dates).noting(**details)
    if fitted.question == asked:
        return packed
    notice = phrase("question_cut", language=language)
    return replace(packed.falling_back("question_cut"), notices=(*packed.notices, notice))


async def _known(hits: Sequence[Hit], metadata: Metadata | None) -> Mapping[DocumentId, Properties]:
    documents = dict.fromkeys(hit.chunk.document for hit in hits)
    if metadata is None:
        return {}
    try:
        async with asyncio.timeout(_METADATA_SECONDS):
            return {document: await metadata.own(document) for document in documents}
    except (RagError, TimeoutError) as error:
        _log.warning("authors and dates of files could not be read: %s", error or "it took too long")
        return {}


def _assembly(inquiry: Inquiry, language: str, knowledge: prompts.Knowledge) -> Assemble:
    options = inquiry.query.options
    if inquiry.route == "chat":
        return lambda _, rounds, message: prompts.chat(
            rounds, message, persona=options.persona, plain=options.plain_chat
        )
    assemble = partial(
        prompts.answer,
        language=language,
        knowledge=knowledge,
        today=local_time(inquiry.query.time_zone),
        edits=inquiry.route == "edit",
        cites=options.cites,
        persona=options.persona,
        is_weak=inquiry.evidence == "weak",
    )
    if inquiry.findings is None:
        return assemble
    return report.reporting(assemble, inquiry.findings, cites=options.cites)


def _fitted(
    asked: str, hits: Sequence[Hit], history: Sequence[Turn], budget: int, layout: PromptLayout
) -> Fitted:
    return fit(asked, hits, prompts.rounds(history), budget=budget, layout=layout)


async def _counter(model: LanguageModel | None) -> tokens.Count:
    if model is None:
        return tokens.estimate
    await asyncio.to_thread(tokens.prepare)
    return tokens.count


def _cut(fitted: Fitted) -> list[int]:
    return [number for number, one in enumerate(fitted.excerpts, 1) if one.text != one.hit.chunk.text]


def _details(fitted: Fitted, found: int, budget: int, language: str) -> dict[str, object]:
    return {
        "language": language,
        "context": "passages" if fitted.excerpts else "empty",
        "prompt_budget": budget,
        "passages_cut": _cut(fitted),
        "passages_left_out": found - len(fitted.excerpts),
        "rounds": len(fitted.rounds),
    }
