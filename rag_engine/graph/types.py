from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NewType, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rag_engine.types import ChunkId, DocumentId, DocumentRecord, KnowledgeBaseId

EntityKind = Literal["name", "abbreviation", "code", "address", "term"]
GraphSource = Literal["rules", "model"]
EntityId = NewType("EntityId", int)
PassageNumber = NewType("PassageNumber", int)

LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """`key`: as compared; `is_subject`: in the passage's title or heading."""

    key: str
    name: str
    kind: EntityKind
    is_subject: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Without a `text` two keys name the same: in the document, or everywhere."""

    subject: str
    object: str
    text: str = ""
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagePlace:
    document: DocumentId
    knowledge_base: KnowledgeBaseId
    chunk: ChunkId
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPassage:
    """`extraction` is None if it was read earlier."""

    place: PassagePlace
    key: str
    extraction: Extraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMention:
    entity: EntityId
    passage: PassageNumber
    is_subject: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """`document` is where it holds; None: everywhere."""

    entity: EntityId
    other: EntityId
    document: DocumentId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedMention:
    name: str
    kind: EntityKind
    entity: EntityId
    passage: PassageNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityStatement:
    """Of a language model, about an entity and this other one."""

    other: EntityId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphJob:
    number: int
    record: DocumentRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCounts:
    passages: int = 0
    entities: int = 0
    failed: int = 0
    waiting: int = 0


def entity_id(knowledge_base: KnowledgeBaseId, key: str) -> EntityId:
    digest = hashlib.blake2b(f"{knowledge_base}\0{key}".encode("utf-8", "surrogatepass"), digest_size=8)
    return EntityId(int.from_bytes(digest.digest(), "big", signed=True))


class GraphReader(Protocol):
    """Of the given entities or passages alone: their scope is its scope."""

    async def size(self, knowledge_bases: Collection[KnowledgeBaseId]) -> int:
        """In passages."""
        ...

    async def frequencies(self, entities: Collection[EntityId], *, most: int) -> Mapping[EntityId, int]:
        """Counted up to `most`; unknown ones are left out."""
        ...

    async def mentions(self, entities: Collection[EntityId]) -> Sequence[EntityMention]: ...

    async def entities_of(self, passages: Collection[PassageNumber]) -> Sequence[EntityMention]: ...

    async def aliases(self, entities: Collection[EntityId]) -> Sequence[Alias]:
        """In both directions."""
        ...

    async def places(self, passages: Iterable[PassageNumber]) -> Mapping[PassageNumber, PassagePlace]: ...

    async def named(
        self, *, entities: Collection[EntityId] = (), passages: Collection[PassageNumber] = ()
    ) -> Sequence[NamedMention]: ...

    async def containing(
        self, knowledge_bases: Collection[KnowledgeBaseId], words: str, *, limit: int
    ) -> Sequence[str]:
        """The most frequent first."""
        ...

    async def statements(
        self, entities: Collection[EntityId], *, passages: Collection[PassageNumber]
    ) -> Sequence[EntityStatement]:
        """Those that these passages support."""
        ...


class GraphStore(GraphReader, Protocol):
    async def switch(self, knowledge_base: KnowledgeBaseId, source: GraphSource | None) -> None:
        """Queues its documents, or removes its graph. Raises `UnknownKnowledgeBase`."""
        ...

    async def source(self, knowledge_base: KnowledgeBaseId) -> GraphSource | None: ...

    async def queue(self, knowledge_base: KnowledgeBaseId | None = None) -> None: ...

    async def jobs(self, knowledge_base: KnowledgeBaseId | None = None) -> Sequence[GraphJob]:
        """Oldest first."""
        ...

    async def read(self, document: DocumentId) -> Collection[str]:
        """Of passages that did not fail."""
        ...

    async def keep(self, passages: Sequence[ReadPassage]) -> None:
        """Replaces the same document and key. Raises `UnknownKnowledgeBase`."""
        ...

    async def finish(self, job: GraphJob, keys: Collection[str]) -> None:
        """Unless the document changed; passages without one of `keys` go."""
        ...
