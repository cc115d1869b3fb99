from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ConfigDict

from rag_engine.generation import prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.retrieval.queries.query_variants import plain_texts
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.ports import LanguageModel

_Shape = TypeVar("_Shape", bound=BaseModel)

TASK: Final = "titles"
GAPS: Final = "gaps"
_LONGEST: Final = 80
_TOKENS: Final = 600
_REPLY_TOKENS: Final = 128


class TitleReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleWriter:
    model: LanguageModel
    seconds: float = 30.0

    async def __call__(self, question: str, answer: str) -> str:
        async with asyncio.timeout(self.seconds):
            reply = await conversation_reply(self.model, TASK, question, answer, TitleReply)
        return next(iter(plain_texts([reply.title], longest=_LONGEST)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class GapNameWriter:
    model: LanguageModel
    seconds: float = 30.0

    async def __call__(self, questions: Sequence[str]) -> str:
        parts = {f"Question {number}": text for number, text in enumerate(questions, 1)}
        async with asyncio.timeout(self.seconds):
            prompt = await asyncio.to_thread(_prompt, GAPS, parts)
            reply = await structured_reply.ask(self.model, prompt, TitleReply, task=GAPS)
        return next(iter(plain_texts([reply.title], longest=_LONGEST)), "")


async def conversation_reply(
    model: LanguageModel, task: str, question: str, answer: str, shape: type[_Shape]
) -> _Shape:
    parts = {"Question": question, "Answer": prompts.without_markers(answer)}
    prompt = await asyncio.to_thread(_prompt, task, parts)
    return await structured_reply.ask(model, prompt, shape, task=task)


def _prompt(task: str, parts: Mapping[str, str]) -> Prompt:
    messages = (
        Message(role="system", content=prompts.instructions(task)),
        Message(role="user", content="\n\n".join(f"{name}:\n{_part(text)}" for name, text in parts.items())),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS)


def _part(text: str) -> str:
    return neutral(tokens.cut_middle(text, _TOKENS, count=tokens.estimate), keep_markers=True)
