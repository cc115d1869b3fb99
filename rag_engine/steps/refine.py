"""Makes a follow-up searchable: adds its subject to "and in London?"."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.citations.reasoning_prefix import REASONING_END
from rag_engine.errors import RagError
from rag_engine.generation import prompts
from rag_engine.generation.context_budget import messages_size
from rag_engine.retrieval.follow_ups import leans_on_conversation
from rag_engine.text import tokens
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel, Ports, Step
    from rag_engine.types import Turn

PHASE = "search"
POSITION = 10
STATUS = ""

_LATEST_TURNS = 6
_TURN_TOKENS = 300
_REPLY_TOKENS = 256
_QUOTES = "\"'“”„«»「」`"


class Settings(BaseModel):
    """Makes a follow-up question complete."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(default=5, gt=0)
    """Time limit for the language model; after it, the original question is searched for."""


def build(settings: Settings, ports: Ports) -> Step:
    """A step that may rewrite `inquiry.question`, which is searched for; the query keeps its text."""
    return partial(refine, settings=settings, model=ports.model)


async def refine(
    inquiry: Inquiry,
    *,
    settings: Settings,
    model: LanguageModel | None,
    today: Callable[[], date] = date.today,
) -> Inquiry:
    """Completes a follow-up by the language model, or by words of the previous question."""
    earlier = [turn for turn in inquiry.history if turn.role == "user"]
    if not earlier:
        return inquiry
    asked = inquiry.query.text
    if model is None:
        return _understood(inquiry, _joined(asked, earlier))
    if not leans_on_conversation(asked):
        return inquiry
    try:
        async with asyncio.timeout(settings.seconds):
            said = await _ask(model, inquiry.history, asked, today())
    except (RagError, TimeoutError):
        return _understood(inquiry.falling_back("refine_failed"), _joined(asked, earlier))
    refined = clean(said)
    if not is_plausible(refined, asked):
        return _understood(inquiry.falling_back("refine_failed"), _joined(asked, earlier))
    return _understood(inquiry, refined)


def clean(said: str) -> str:
    """The question in a model's reply, without reasoning, quotation marks and line breaks."""
    return " ".join(REASONING_END.split(said)[-1].split()).strip(_QUOTES + " ")


def is_plausible(refined: str, asked: str) -> bool:
    return bool(refined) and len(refined) <= 3 * len(asked) + 200


def _joined(asked: str, earlier: Sequence[Turn]) -> str:
    """Adds earlier questions if needed, back to the last one that is complete."""
    if not leans_on_conversation(asked):
        return asked
    needed: list[str] = []
    for turn in reversed(earlier[-_LATEST_TURNS:]):
        needed.insert(0, turn.text)
        if not leans_on_conversation(turn.text):
            break
    before = " ".join(needed)
    return f"{tokens.cut(before, _TURN_TOKENS, count=tokens.estimate).strip()} {asked}"


def _understood(inquiry: Inquiry, question: str) -> Inquiry:
    if question == inquiry.question:
        return inquiry
    return replace(inquiry, question=question).noting(understood_as=question)


async def _ask(model: LanguageModel, history: Sequence[Turn], asked: str, today: date) -> str:
    shorten = partial(tokens.cut, limit=_TURN_TOKENS, count=tokens.estimate)
    spoken = prompts.rounds(history[-_LATEST_TURNS:], shorten=shorten)
    messages = prompts.refine(
        spoken, tokens.cut_middle(asked, 4 * _TURN_TOKENS, count=tokens.estimate), today=today
    )
    prompt = Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=_REPLY_TOKENS,
    )
    async with model.stream(prompt, task="refine") as pieces:
        return "".join([piece async for piece in pieces])
