from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.generation import passage_blocks, prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.retrieval.queries.query_variants import is_same, plain_texts
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.ports import LanguageModel
    from rag_engine.types import Hit, Query

TASK: Final = "follow_ups"
_MOST_PROPOSED: Final = 6
_LONGEST: Final = 200
_PASSAGES: Final = 6
_REPLY_TOKENS: Final = 512


class FollowUpsReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    questions: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUpQuestions:
    model: LanguageModel
    answers: Callable[[Query], Awaitable[bool]]
    most: int = 3
    seconds: float = 30.0
    """For proposals and searches together."""

    async def __call__(self, query: Query, answer: str, passages: Sequence[Hit]) -> tuple[str, ...]:
        async with asyncio.timeout(self.seconds):
            prompt = await asyncio.to_thread(_prompt, query.text, answer, passages[:_PASSAGES])
            reply = await structured_reply.ask(self.model, prompt, FollowUpsReply, task=TASK)
            found: list[str] = []
            for question in plain_texts(reply.questions, longest=_LONGEST)[:_MOST_PROPOSED]:
                asked = replace(
                    query,
                    text=question,
                    conversation=None,
                    other_turns=(),
                    turn=None,
                    files=(),
                    files_attached=False,
                    as_asked=True,
                )
                if len(found) < self.most and not is_same(question, query.text) and await self.answers(asked):
                    found.append(question)
        return tuple(found)


def _prompt(question: str, answer: str, passages: Sequence[Hit]) -> Prompt:
    parts = [
        *(
            passage_blocks.passage(number, hit, _cut(hit.chunk.text, 300))
            for number, hit in enumerate(passages, 1)
        ),
        f"Question:\n{neutral(_cut(question, 600), keep_markers=True)}",
        f"Answer:\n{neutral(_cut(prompts.without_markers(answer), 600), keep_markers=True)}",
    ]
    messages = (
        Message(role="system", content=prompts.instructions(TASK)),
        Message(role="user", content="\n\n".join(parts)),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS)


def _cut(text: str, limit: int) -> str:
    return tokens.cut_middle(text, limit, count=tokens.estimate)
