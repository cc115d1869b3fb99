"""What the tests of prompts, budget and models build their cases from."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from rag_engine.types import (
    Chunk,
    ChunkId,
    ConversationId,
    DocumentId,
    Hit,
    KnowledgeBaseId,
    Message,
    Prompt,
    Role,
    SectionKind,
    Turn,
    TurnId,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from rag_engine.errors import RagError
    from rag_engine.types import AnswerRequest


def passage(
    text: str,
    *,
    rank: int = 1,
    title: str = "",
    headings: tuple[str, ...] = (),
    anchor: str = "",
    kind: SectionKind = "prose",
    language: str = "",
) -> Hit:
    chunk = Chunk(
        id=ChunkId(f"c{rank}"),
        document=DocumentId(f"d{rank}"),
        knowledge_base=KnowledgeBaseId("kb"),
        ordinal=rank,
        text=text,
        title=title,
        headings=headings,
        anchor=anchor,
        kind=kind,
        language=language,
    )
    return Hit(chunk=chunk, score=1 / rank, rank=rank)


def passages(*texts: str) -> tuple[Hit, ...]:
    return tuple(passage(text, rank=rank) for rank, text in enumerate(texts, 1))


def turn(role: Role, text: str, *, number: int = 0) -> Turn:
    return Turn(
        id=TurnId(f"t{number}"), conversation=ConversationId("c"), role=role, text=text, at=float(number)
    )


def conversation(*texts: str) -> tuple[Turn, ...]:
    """Turns of a person and the bot by turns, oldest first."""
    return tuple(
        turn("assistant" if number % 2 else "user", text, number=number) for number, text in enumerate(texts)
    )


def asking(question: str, *hits: Hit, reply_tokens: int = 100) -> Prompt:
    """A prompt whose one message is the question."""
    return Prompt(
        messages=(Message(role="user", content=question),), passages=hits, reply_tokens=reply_tokens
    )


class ScriptedAnswerer:
    """An answerer that says these pieces, and then fails with `fault` if there is one."""

    def __init__(self, *pieces: str, name: str = "quotes", fault: RagError | None = None) -> None:
        self.name = name
        self.requests: list[AnswerRequest] = []
        self._pieces = pieces
        self._fault = fault

    @asynccontextmanager
    async def answer(self, request: AnswerRequest) -> AsyncGenerator[AsyncIterator[str]]:
        self.requests.append(request)

        async def pieces() -> AsyncGenerator[str]:
            for piece in self._pieces:
                yield piece
            if self._fault is not None:
                raise self._fault

        async with aclosing(pieces()) as saying:
            yield saying
