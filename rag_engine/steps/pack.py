"""The step that makes the prompt: the fused hits, the conversation and the question, fitted into the model's window."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine import prompts, tokens
from rag_engine.budget import Fitted, Layout, fit, prompt_budget, reply_reserve
from rag_engine.language import detect
from rag_engine.phrases import phrase
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel, Ports, Step
    from rag_engine.types import Hit, Turn

STATUS = ""


class Settings(BaseModel):
    """How a prompt is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply_tokens: int = Field(default=2048, ge=1)
    """The most tokens a reply may take; a quarter of a small window, and never less than 256."""
    context_ratio: float = Field(default=0.95, gt=0.1, le=1)
    """How much of the model's window is used: tokenizers differ a little."""
    knowledge: prompts.Knowledge = "only_sources"
    """`only_sources`: answers rest on the files alone; `prefer_sources`: the model may add what it knows, marked as such."""


def build(settings: Settings, ports: Ports) -> Step:
    """A step that sets `inquiry.prompt`, with a notice where the question had to be cut."""
    return partial(pack, settings=settings, model=ports.model)


async def pack(inquiry: Inquiry, *, settings: Settings, model: LanguageModel) -> Inquiry:
    """The inquiry with its prompt. The passages in the prompt keep their whole chunks, also where an excerpt is sent."""
    asked = inquiry.query.text
    language = inquiry.query.language or detect(asked)
    knowledge = inquiry.query.knowledge or settings.knowledge
    count = await _counter(model)
    layout = Layout(
        assemble=partial(prompts.answer, language=language, knowledge=knowledge),
        format=prompts.passage,
        count=count,
    )
    budget = prompt_budget(model.context_tokens, settings.reply_tokens, ratio=settings.context_ratio)
    hits = inquiry.hits[: inquiry.query.limit]
    fitted = await asyncio.to_thread(_fitted, asked, hits, inquiry.history, budget, layout)
    prompt = Prompt(
        messages=fitted.messages,
        question=inquiry.question,
        passages=tuple(excerpt.hit for excerpt in fitted.excerpts),
        tokens=fitted.tokens,
        reply_tokens=reply_reserve(model.context_tokens, settings.reply_tokens),
        scope=inquiry.query.scope,
        language=inquiry.query.language,
        needs_passages=knowledge == "only_sources",
    )
    packed = replace(inquiry, prompt=prompt).noting(**_details(fitted, inquiry, budget, language))
    if fitted.question == asked:
        return packed
    notice = phrase("question_cut", language=language)
    return replace(packed.falling_back("question_cut"), notices=(*packed.notices, notice))


def _fitted(asked: str, hits: Sequence[Hit], history: Sequence[Turn], budget: int, layout: Layout) -> Fitted:
    """Off the event loop: a long question or conversation takes a while to count."""
    return fit(asked, hits, prompts.rounds(history), budget=budget, layout=layout)


async def _counter(model: LanguageModel) -> tokens.Count:
    """The extractive answerer reads no messages: nothing is fetched over the network to count them exactly."""
    if model.name == "extractive":
        return tokens.estimate
    await asyncio.to_thread(tokens.prepare)
    return tokens.count


def _details(fitted: Fitted, inquiry: Inquiry, budget: int, language: str) -> dict[str, object]:
    cut = [
        number for number, excerpt in enumerate(fitted.excerpts, 1) if excerpt.text != excerpt.hit.chunk.text
    ]
    return {
        "language": language,
        "context": "passages" if fitted.excerpts else "empty",
        "prompt_budget": budget,
        "passages_cut": cut,
        "passages_left_out": min(len(inquiry.hits), inquiry.query.limit) - len(fitted.excerpts),
        "rounds": len(fitted.rounds),
    }
