from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NewType, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rag_engine.types import (
        ChunkId,
        Document,
        DocumentId,
        DocumentRecord,
        Expansion,
        KnowledgeBaseId,
        Layer,
        Vector,
    )

ExpansionKey = NewType("ExpansionKey", str)

TASKS: Final[Mapping[Expansion, str]] = {"summary": "passage_summary", "question": "passage_questions"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionLimits:
    longer_than: int = 200
    """Characters; shorter passages have none."""
    questions: int = 3
    at_once: int = 3
    seconds: float = 60.0
    """For one call."""
    prompts: Mapping[Expansion, str] = field(default_factory=dict["Expansion", str])
    """In place of the rules; `{passage}` is replaced."""
    temperatures: Mapping[Expansion, float] = field(default_factory=dict["Expansion", float])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionVector:
    chunk: ChunkId
    kind: Expansion
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeExpansion:
    """Texts, or why it failed."""

    kind: Expansion
    key: ExpansionKey
    passage: int
    """Its ordinal."""
    texts: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionJob:
    number: int
    record: DocumentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionReport:
    """`reused` were made earlier."""

    documents: int = 0
    made: int = 0
    reused: int = 0
    failed: int = 0
    kinds: frozenset[Expansion] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionCost:
    """Of what is still to be made."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


class IndexExpansions(Protocol):
    """A hit is the chunk, once, with its best score."""

    async def expand(self, document: Document, vectors: Sequence[ExpansionVector]) -> bool:
        """Until `put` or `drop`; False without chunks. Others are logged."""
        ...

    async def expansions(self, knowledge_base: KnowledgeBaseId, kind: Expansion) -> int: ...


class LayerSwitches(Protocol):
    async def layers(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> Mapping[Layer, frozenset[KnowledgeBaseId]]:
        """In one query; a layer without any is left out."""
        ...


class ExpansionStore(LayerSwitches, Protocol):
    async def enabled(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> Mapping[Expansion, frozenset[KnowledgeBaseId]]:
        """As `layers`."""
        ...

    async def switch(self, knowledge_base: KnowledgeBaseId, kinds: Collection[Expansion]) -> None:
        """Has exactly these; queues its documents. Raises `UnknownKnowledgeBase`."""
        ...

    async def queue(self, knowledge_base: KnowledgeBaseId | None = None) -> None:
        """All documents of those that have been switched."""
        ...

    async def jobs(self, knowledge_base: KnowledgeBaseId | None = None) -> Sequence[ExpansionJob]:
        """Oldest first."""
        ...

    async def made(self, document: DocumentId) -> Sequence[MadeExpansion]:
        """By passage."""
        ...

    async def keep(self, document: DocumentId, made: Sequence[MadeExpansion]) -> None:
        """Replaces the same kind and key. Raises `UnknownKnowledgeBase`."""
        ...

    async def finish(self, job: ExpansionJob, keys: Collection[tuple[Expansion, ExpansionKey]]) -> None:
        """Unless the document changed; drops what is not of `keys`."""
        ...
