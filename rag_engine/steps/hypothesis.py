from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError
from rag_engine.generation import structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.generation.prompts import instructions
from rag_engine.retrieval.queries.hypotheses import HypothesisReply, agreement, usable, weight
from rag_engine.retrieval.queries.query_variants import QueryVariant
from rag_engine.retrieval.queries.spelling_corrections import corrected_question
from rag_engine.steps import retrieve
from rag_engine.text import tokens
from rag_engine.text.question_parts import parts
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel, Ports, Step
    from rag_engine.types import Ranking

PHASE = "search"
POSITION = 25
STATUS = ""

TASK = "hypothesis"


class Settings(BaseModel):
    """Searches also for passages that a language model makes up; one more call for each question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    passages: int = Field(default=0, ge=0, le=3)
    """How many; 0 switches the step off."""
    seconds: float = Field(default=5, gt=0)
    """Time limit, after which the question alone is searched for."""
    reply_tokens: int = Field(default=1_024, ge=64)
    """Maximum tokens of the reply."""
    candidates: int = Field(default=100, ge=1, le=1000)
    """Hits of each search; by default those of `retrieve`."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_hypotheses, settings=settings, model=ports.model_for(TASK), ports=ports)


async def add_hypotheses(
    inquiry: Inquiry, *, settings: Settings, model: LanguageModel | None, ports: Ports
) -> Inquiry:
    """Not for a question of several parts."""
    if not settings.passages or model is None or inquiry.query.as_asked or "dense" not in inquiry.query.legs:
        return inquiry
    question = corrected_question(inquiry.question, inquiry.corrections)
    if not any(ranking.hits for ranking in inquiry.rankings) or len(parts(question)) > 1:
        return inquiry
    try:
        async with asyncio.timeout(settings.seconds):
            prompt = await asyncio.to_thread(_prompt, question, settings)
            reply = await structured_reply.ask(model, prompt, HypothesisReply, task=TASK)
            passages = usable(reply.passages, question, most=settings.passages)
            if not passages:
                return inquiry.falling_back("hypothesis_rejected")
            found = await _searched(inquiry, passages, ports, settings)
    except (RagError, TimeoutError) as error:
        why = str(error) or "The language model took too long."
        return inquiry.falling_back("hypothesis_failed").noting(hypothesis_failed=why)
    agreeing = [agreement(ranking, inquiry.rankings) for ranking in found]
    made_up = [
        replace(
            ranking,
            query=f"hypothesis {number}",
            is_hypothetical=True,
            weight=weight(agreeing[number - 1], of=len(found)),
        )
        for number, ranking in enumerate(found, start=1)
    ]
    noted = inquiry.noting(hypotheses=list(passages), agreement=[round(share, 4) for share in agreeing])
    return replace(noted, rankings=(*inquiry.rankings, *made_up))


async def _searched(
    inquiry: Inquiry, passages: Sequence[str], ports: Ports, settings: Settings
) -> Sequence[Ranking]:
    found = await retrieve.search_variants(
        [QueryVariant(text=text, weight=1.0, legs=("dense",)) for text in passages],
        inquiry.query,
        documents=inquiry.documents,
        embedder=ports.embedder,
        index=ports.index,
        settings=retrieve.Settings(candidates=settings.candidates, timeout=settings.seconds),
    )
    return found.rankings


def _prompt(question: str, settings: Settings) -> Prompt:
    asked = neutral(question, keep_markers=True)
    messages = (
        Message(role="system", content=instructions(TASK)),
        Message(role="user", content=f"Passages: {settings.passages}.\n\nQuestion:\n{asked}"),
    )
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=settings.reply_tokens,
    )
