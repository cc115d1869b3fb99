"""Every port of the engine with its contract.

An implementation raises only `rag_engine.errors`; any other exception is a bug. A cancelled method leaves nothing half done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rag_engine.expansion.types import IndexExpansions

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.expansion.types import LayerSwitches
    from rag_engine.graph.types import GraphReader
    from rag_engine.metadata.filter_types import Properties
    from rag_engine.metadata.verified_answer import VerifiedAnswers
    from rag_engine.pipeline import Inquiry
    from rag_engine.retrieval.web_results import WebPages, WebResult
    from rag_engine.types import (
        AnswerRequest,
        Chunk,
        ConversationId,
        Document,
        DocumentId,
        DocumentRecord,
        Hit,
        KnowledgeBase,
        KnowledgeBaseId,
        Matrix,
        Prompt,
        Ranking,
        Search,
        Section,
        Side,
        Trace,
        Turn,
        TurnId,
        Vector,
    )


class Embedder(Protocol):
    """Each vector is independent of the other texts."""

    @property
    def model(self) -> str:
        """Such as `all-MiniLM-L6-v2@fp32`."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The most tokens of one text; the model ignores the rest."""
        ...

    def count_tokens(self, text: str) -> int:
        """By the model's own tokenizer, with special tokens and prefix. Fast."""
        ...

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        """A float32 unit row per text, in order. Does not block the event loop. Raises `EmbedderUnavailable` and
        `RateLimited`.
        """
        ...


class Index(Protocol):
    """Chunks with their vectors, of one model, searched by words and by meaning."""

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Replace all chunks atomically: no search sees them missing, twice or in part. `chunks` may exceed memory:
        read a slice at a time.
        """
        ...

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """No error if it does not exist."""
        ...

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        """One ranking per search, in one round trip.

        Lexical scores are Lucene's BM25 (k1 1.2, b 0.75) over the tokens of `rag_engine.text.analyzer`; dense ones are
        cosines. Ties are ordered by chunk id. Statistics and spelling corrections come from the searched knowledge
        bases alone.
        """
        ...


class IndexContents(Protocol):
    """Reads an index back, for export, checks and reindexing."""

    def scan(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None
    ) -> AsyncIterator[tuple[Chunk, Vector]]:
        """By document and ordinal, in constant memory."""
        ...

    async def count(self, knowledge_base: KnowledgeBaseId) -> int: ...

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        """Of one version, from the ordinal `start`; none in another knowledge base."""
        ...


class StoredIndex(Index, IndexContents, IndexExpansions, Protocol): ...


class Reranker(Protocol):
    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]: ...


class LanguageModel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def context_tokens(self) -> int:
        """For prompt and reply."""
        ...

    @property
    def window_is_assumed(self) -> bool:
        """Neither set, stated by the server nor known."""
        ...

    def stream(self, prompt: Prompt, *, task: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Leaving closes the connection. Raises `ModelUnavailable` (also if the stream is cut), `RateLimited`,
        `ContentFiltered`, `ContextTooLong`.
        """
        ...


class Answerer(Protocol):
    """By quoting, without a language model or network."""

    @property
    def name(self) -> str: ...

    def answer(self, request: AnswerRequest) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """With citation markers. Without a fitting passage it says so and cites nothing."""
        ...


class History(Protocol):
    async def read(
        self, conversation: ConversationId, *, limit: int, before: TurnId | None = None
    ) -> list[Turn]:
        """The last ones, in the order of writing, up to `before`."""
        ...

    async def write(self, turns: Sequence[Turn], trace: Trace, *, in_place_of: Sequence[TurnId] = ()) -> None:
        """In one transaction. An existing turn is replaced; `in_place_of`: versions no longer active."""
        ...


class Catalog(Protocol):
    async def open(self, name: str, *, model: str) -> KnowledgeBase:
        """Created if it is new."""
        ...

    async def knowledge_bases(self) -> list[KnowledgeBase]: ...

    async def select(
        self, *, ids: Collection[KnowledgeBaseId] = (), names: Collection[str] = ()
    ) -> list[KnowledgeBase]:
        """Unknown ones are left out."""
        ...


class Documents(Protocol):
    """The same bytes may have several sources (URIs)."""

    async def find(
        self, knowledge_base: KnowledgeBaseId, *, uri: str = "", digest: str = ""
    ) -> DocumentRecord | None:
        """By a source's URI, or by digest (ready ones only)."""
        ...

    async def find_all(
        self, knowledge_base: KnowledgeBaseId, *, uris: Collection[str]
    ) -> list[DocumentRecord]: ...

    async def save(
        self, record: DocumentRecord, *, source: str = "", sections: Sequence[Section] | None = None
    ) -> None:
        """With the URI `source`; `sections`, if given, replace the text."""
        ...

    async def save_all(self, saves: Sequence[DocumentSave]) -> None:
        """As `save`, in one transaction."""
        ...

    async def remove(self, document: DocumentId) -> None: ...

    async def remove_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        """The document stays."""
        ...


class Unfinished(Protocol):
    """Stored, so that a crash repeats none of it."""

    async def keep_reading(self, document: Document, sections: Iterable[Section]) -> None:
        """Until the document is saved."""
        ...

    async def reading(self, document: Document) -> list[Section]:
        """Of a document with this digest, or nothing."""
        ...

    async def withdraw(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """For removal; saving unmarks it. False if there is nothing."""
        ...

    async def remove(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """What is marked. False if it was saved again meanwhile."""
        ...

    async def leaving(self) -> Mapping[DocumentId, KnowledgeBaseId]:
        """Marked for removal: no question may find them."""
        ...

    async def closing(self) -> list[KnowledgeBaseId]:
        """Marked for removal, without documents left."""
        ...


class Metadata(Protocol):
    async def properties(
        self,
        knowledge_bases: Collection[KnowledgeBaseId],
        *,
        names: Mapping[KnowledgeBaseId, str] | None = None,
        keys: Collection[str] | None = None,
        latest: int | None = None,
    ) -> Mapping[DocumentId, Properties]:
        """Of every document, or of the `latest` added: `name`, `type`, `folder`, `place`, `added`, `tag`, and its own,
        or those that a filter on `keys` reads. `names` of knowledge bases are places too.
        """
        ...

    async def authors_and_tags(self, knowledge_bases: Collection[KnowledgeBaseId]) -> Collection[str]: ...

    async def describe(self, document: DocumentId, properties: Properties) -> None:
        """Replaces its own properties."""
        ...

    async def versions(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, tuple[str, str]]:
        """Link and version of those from sources that have them."""
        ...

    async def link(self, document: DocumentId, links: Mapping[str, str]) -> None: ...

    async def links(self, documents: Collection[DocumentId]) -> Mapping[tuple[DocumentId, str], str]:
        """By document and anchor: where passages can be read."""
        ...

    async def own(self, document: DocumentId) -> Properties: ...

    async def tags(self, document: DocumentId) -> list[str]:
        """Ordered."""
        ...

    async def tag(
        self, document: DocumentId, *, add: Collection[str] = (), remove: Collection[str] = ()
    ) -> None:
        """Case does not count. Raises `UserError`."""
        ...


class Library(Protocol):
    async def records(self, knowledge_base: KnowledgeBaseId) -> list[DocumentRecord]:
        """Ordered by title, then id."""
        ...

    async def sources(self, document: DocumentId) -> list[str]: ...

    async def sections(self, document: DocumentId) -> list[Section]:
        """In reading order."""
        ...


class DocumentCatalog(Catalog, Documents, Library, Protocol):
    @property
    def unfinished(self) -> Unfinished: ...

    @property
    def metadata(self) -> Metadata: ...


class SynonymEntries(Protocol):
    async def read(
        self, knowledge_bases: Collection[KnowledgeBaseId]
    ) -> Mapping[KnowledgeBaseId, Sequence[tuple[str, ...]]]:
        """Knowledge bases without entries are left out."""
        ...

    async def add(self, knowledge_base: KnowledgeBaseId, entries: Sequence[tuple[str, ...]]) -> None:
        """Those with the same first term become one. Raises `UserError`."""
        ...

    async def remove(self, knowledge_base: KnowledgeBaseId, term: str) -> bool:
        """The entry that begins with it, else the term from every entry. False without any."""
        ...


class WebSearch(Protocol):
    async def search(self, question: str, *, language: str, limit: int) -> list[WebResult]:
        """Best first; `language`: ISO 639-1 or empty. Raises `Unavailable` and `BadSettings`."""
        ...


class WebReader(Protocol):
    async def pages(self, question: str, *, language: str, limit: int) -> WebPages:
        """Of at most `limit` pages, in the provider's order. Raises `Unavailable`."""
        ...


class VectorCache(Protocol):
    async def read(self, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]: ...

    async def write(self, model: str, vectors: Mapping[bytes, Vector]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSave:
    record: DocumentRecord
    sources: tuple[str, ...] = ()
    sections: Sequence[Section] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    embedder: Embedder
    index: Index
    model: LanguageModel | None = None
    """None if no language model is configured."""
    reranker: Reranker | None = None
    contents: IndexContents | None = None
    metadata: Metadata | None = None
    """None: no filter chooses documents."""
    task_models: Mapping[str, LanguageModel] = field(default_factory=dict[str, "LanguageModel"])
    synonyms: SynonymEntries | None = None
    web: WebReader | None = None
    verified: VerifiedAnswers | None = None
    layers: LayerSwitches | None = None
    graph: GraphReader | None = None

    def model_for(self, task: str) -> LanguageModel | None:
        return self.task_models.get(task, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexIdentity:
    """Opening an index with another identity raises `SchemaMismatch`."""

    model: str
    dimensions: int
    analyzer: str


Parser: TypeAlias = "Callable[[Path], Iterator[Section]]"
"""Runs in a worker process with limits. Raises only `UserError`."""

Splitter: TypeAlias = "Callable[[Document, Iterable[Section]], Iterator[Chunk]]"

Step: TypeAlias = "Callable[[Inquiry], Awaitable[Inquiry]]"
