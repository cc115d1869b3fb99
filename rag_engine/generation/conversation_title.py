from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.generation import prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.retrieval.queries.query_variants import plain_texts
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from rag_engine.ports import LanguageModel

TASK: Final = "titles"
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
            prompt = await asyncio.to_thread(conversation_prompt, TASK, question, answer)
            reply = await structured_reply.ask(self.model, prompt, TitleReply, task=TASK)
        return next(iter(plain_texts([reply.title], longest=_LONGEST)), "")


def conversation_prompt(task: str, question: str, answer: str) -> Prompt:
    parts = {"Question": question, "Answer": prompts.without_markers(answer)}
    messages = (
        Message(role="system", content=prompts.instructions(task)),
        Message(role="user", content="\n\n".join(f"{name}:\n{_part(text)}" for name, text in parts.items())),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS)


def _part(text: str) -> str:
    return neutral(tokens.cut_middle(text, _TOKENS, count=tokens.estimate), keep_markers=True)
