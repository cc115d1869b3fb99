"""A further ranked list: messages that the platform's own search finds, of which there is no index."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.steps import fuse
from rag_engine.steps._outside_passages import OutsidePassages, add_passages
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId
from rag_engine.web.addresses import MESSAGE

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import Ports, Step
    from rag_engine.retrieval.found_messages import FoundMessage
    from rag_engine.steps.fuse import LegTrust

PHASE = "prompt"
POSITION = 7
STATUS = ""

_DONE = "messages"
_MOST_CHARACTERS = 4_000


class Settings(BaseModel):
    """Adds messages of public channels where a place allows it (`/kb settings messages:on`, Slack alone)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    found: int = Field(default=20, ge=1, le=20)
    """Messages to ask for."""
    passages: int = Field(default=4, ge=1, le=20)
    """The most of them to use."""
    weight: float = Field(default=0.98, gt=0, le=1)
    """Of their ranking beside that of the files: 0.98 puts the best message third, 1 second."""
    seconds: float = Field(default=5, gt=0)
    """Time limit for finding and ranking them."""
    line: float = Field(default=0.3, ge=0, le=1)
    """Without a language model: the least probability that they answer."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(add_messages, settings=settings, ports=ports, trust=fuse.judge_of(ports.embedder))


async def add_messages(inquiry: Inquiry, *, settings: Settings, ports: Ports, trust: LegTrust) -> Inquiry:
    search = inquiry.query.messages
    if search is None or inquiry.route != "search" or _DONE in inquiry.details:
        return inquiry

    async def find() -> OutsidePassages:
        chunks = [_chunk(each) for each in await search(inquiry.question, settings.found)]
        return OutsidePassages(
            chunks=chunks, embedded=len(chunks), trace={"found": len(chunks)}, weight=settings.weight
        )

    return await add_passages(inquiry, "messages", find, settings=settings, ports=ports, trust=trust)


def _chunk(message: FoundMessage) -> Chunk:
    identity = f"{MESSAGE}{hashlib.sha256(message.uri.encode()).hexdigest()[:24]}"
    moment = datetime.fromtimestamp(message.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = message.text[:_MOST_CHARACTERS]
    return Chunk(
        id=ChunkId(identity),
        document=DocumentId(identity),
        knowledge_base=KnowledgeBaseId("messages"),
        ordinal=0,
        text=text,
        title=f"{message.title} · {message.author}" if message.author else message.title,
        uri=message.uri,
        anchor=f"message, {moment}",
    )
