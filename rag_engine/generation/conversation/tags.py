from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.generation.conversation.title import conversation_reply
from rag_engine.retrieval.queries.query_variants import plain_texts

if TYPE_CHECKING:
    from rag_engine.ports import LanguageModel

TASK: Final = "tags"
_LONGEST: Final = 40
_MOST: Final = 3


class TagsReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    tags: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagWriter:
    model: LanguageModel
    seconds: float = 30.0

    async def __call__(self, question: str, answer: str) -> tuple[str, ...]:
        async with asyncio.timeout(self.seconds):
            reply = await conversation_reply(self.model, TASK, question, answer, TagsReply)
        found = plain_texts((tag.lstrip("#") for tag in reply.tags), longest=_LONGEST)
        return tuple(tag for tag in found if "," not in tag)[:_MOST]
