"""What the tests of prompts, budget and models build their cases from."""

from __future__ import annotations

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


def passage(
    text: str,
    *,
    rank: int = 1,
    title: str = "",
    headings: tuple[str, ...] = (),
    anchor: str = "",
    kind: SectionKind = "prose",
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


def asking(question: str, *hits: Hit, reply_tokens: int = 100, scope: str = "") -> Prompt:
    """A prompt whose one message is the question."""
    return Prompt(
        messages=(Message(role="user", content=question),),
        question=question,
        passages=hits,
        reply_tokens=reply_tokens,
        scope=scope,
    )
