"""The step that makes a follow-up searchable: "and in London?" is asked again with what the conversation was about."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine import prompts, tokens
from rag_engine.budget import messages_size
from rag_engine.citations.reasoning import REASONING_END
from rag_engine.errors import RagError
from rag_engine.follow_ups import is_fragment, leans_on_conversation
from rag_engine.types import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import LanguageModel, Ports, Step
    from rag_engine.types import Turn

STATUS = ""

_LATEST_TURNS = 6
_TURN_TOKENS = 300
_REPLY_TOKENS = 256
_QUOTES = "\"'“”„«»「」`"


class Settings(BaseModel):
    """How follow-ups are understood."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = Field(default=5, gt=0)
    """The longest wait for the language model; then the question is searched for as it was asked."""


def build(settings: Settings, ports: Ports) -> Step:
    """A step that may change `inquiry.question`, what is searched for; the query's text stays what the person wrote."""
    return partial(refine, settings=settings, model=ports.model)


async def refine(
    inquiry: Inquiry,
    *,
    settings: Settings,
    model: LanguageModel,
    today: Callable[[], date] = date.today,
) -> Inquiry:
    """With a conversation before it, the question made complete by the language model, or by the words of the one before."""
    earlier = [turn for turn in inquiry.history if turn.role == "user"]
    if not earlier:
        return inquiry
    asked = inquiry.query.text
    if model.name == "extractive":
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
    """The question in a model's reply: reasoning, quotation marks and line breaks taken off."""
    return " ".join(REASONING_END.split(said)[-1].split()).strip(_QUOTES + " ")


def is_plausible(refined: str, asked: str) -> bool:
    """Whether a rewritten question can stand for the one asked: there, and not much longer."""
    return bool(refined) and len(refined) <= 3 * len(asked) + 200


def _joined(asked: str, earlier: Sequence[Turn]) -> str:
    """The question, after the one before it where it cannot be searched for alone; that one may be a fragment too."""
    if not leans_on_conversation(asked):
        return asked
    before = earlier[-1].text
    if is_fragment(before) and len(earlier) > 1:
        before = f"{earlier[-2].text} {before}"
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
        question=asked,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=_REPLY_TOKENS,
    )
    async with model.stream(prompt, task="refine") as pieces:
        return "".join([piece async for piece in pieces])
