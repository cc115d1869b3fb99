from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError
from rag_engine.generation import structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.outline_prompt import outline_prompt
from rag_engine.retrieval.outline import OutlineReply, chosen, outline, top_documents, with_sections
from rag_engine.text import tokens
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import IndexContents, LanguageModel, Ports, Step
    from rag_engine.retrieval.outline import OutlineEntry

PHASE = "search"
POSITION = 35
STATUS = "Reading tables of contents…"

TASK = "outline"
_DOCUMENTS = 2
_FEWEST_ENTRIES = 3
_MOST_CHUNKS = 5_000


class Settings(BaseModel):
    """Adds the chapters that a language model chooses from the tables of contents; one more call for each question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    """Whether tables of contents are read."""
    seconds: float = Field(default=4, gt=0)
    """Time limit, after which the hits stay as they are."""
    reply_tokens: int = Field(default=512, ge=64)
    """Maximum tokens of the reply."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_chapters, settings=settings, model=ports.model_for(TASK), contents=ports.contents)


async def add_chapters(
    inquiry: Inquiry, *, settings: Settings, model: LanguageModel | None, contents: IndexContents | None
) -> Inquiry:
    if not settings.enabled or model is None or contents is None or not inquiry.hits:
        return inquiry
    try:
        async with asyncio.timeout(settings.seconds):
            entries = await _entries(inquiry, contents)
            if len(entries) < _FEWEST_ENTRIES:
                return inquiry
            prompt = await asyncio.to_thread(_prompt, inquiry.question, entries, settings)
            reply = await structured_reply.ask(model, prompt, OutlineReply, task=TASK)
    except (RagError, TimeoutError) as error:
        why = str(error) or "The language model took too long."
        return inquiry.falling_back("outline_failed").noting(outline_failed=why)
    sections = chosen(entries, reply, most=2 * inquiry.query.limit)
    known = {hit.chunk.id for hit in inquiry.hits}
    noted = inquiry.noting(
        outline={"entries": len(entries), "chosen": list(sections), "added": len(sections.keys() - known)}
    )
    return replace(noted, hits=with_sections(inquiry.hits, sections)) if sections else noted


async def _entries(inquiry: Inquiry, contents: IndexContents) -> list[OutlineEntry]:
    found: list[OutlineEntry] = []
    for name, chunk in top_documents(inquiry.hits[: inquiry.query.limit], _DOCUMENTS):
        chunks = await contents.chunks(chunk.knowledge_base, name, limit=_MOST_CHUNKS)
        found += outline(chunks)
    return found


def _prompt(question: str, entries: Sequence[OutlineEntry], settings: Settings) -> Prompt:
    messages = outline_prompt(entries, question)
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=settings.reply_tokens,
    )
