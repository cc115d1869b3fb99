"""Every port the engine needs, on one page, each contract in words.

Errors: an implementation raises nothing but `rag_engine.errors`; anything else that leaves it is a bug.
Every method may be cancelled at any await and then leaves nothing half done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

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

    from rag_engine.pipeline import Inquiry
    from rag_engine.types import (
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
    """Texts to unit vectors. A text's vector does not depend on its neighbours in the call."""

    @property
    def model(self) -> str:
        """Identity of the vectors: model name and precision, e.g. `all-MiniLM-L6-v2@fp32`. Two embedders of one identity agree."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """What `count_tokens` may reach: text past it would be invisible to the vector."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as a passage in the model's own tokenizer, special tokens and prefix included. Fast, no I/O."""
        ...

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        """One unit row per text, in order, float32; an empty text has a row too. Raises `EmbedderUnavailable`
        and `RateLimited`.

        Runs off the event loop. Texts over `max_tokens` are cut by the model.
        """
        ...


class Index(Protocol):
    """Chunks with their vectors, found by words and by meaning. One index holds the vectors of one model."""

    async def put(self, document: Document, chunks: Sequence[tuple[Chunk, Vector]]) -> None:
        """Replace all chunks of `document` by these, atomically: no search sees it missing, double or half."""
        ...

    async def drop(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> None:
        """Remove a document, or the whole knowledge base. Removing what is not there is no error."""
        ...

    async def search(self, searches: Sequence[Search]) -> list[Ranking]:
        """One ranking per search, in order, all in one round trip. Only chunks of the named knowledge bases are ever seen.

        Lexical scores are Lucene's BM25 (k1 1.2, b 0.75) over the tokens of `rag_engine.analysis`; dense ones are cosines.
        Ties are broken by chunk id, so that the same call gives the same order. The statistics behind the scores may count
        chunks that were deleted a short while ago.
        """
        ...


class IndexContents(Protocol):
    """What an index holds, for export, checks and moves to another index."""

    def scan(self, knowledge_base: KnowledgeBaseId) -> AsyncIterator[tuple[Chunk, Vector]]:
        """Every chunk with its stored vector, ordered by document and ordinal; memory stays flat."""
        ...

    async def count(self, knowledge_base: KnowledgeBaseId) -> int: ...

    async def chunks(
        self, knowledge_base: KnowledgeBaseId, document: DocumentId, *, limit: int
    ) -> list[Chunk]:
        """The first `limit` chunks of one document by ordinal, all of one version of it; none when it is of another knowledge base."""
        ...


class StoredIndex(Index, IndexContents, Protocol):
    """An index whose contents can be read back."""


class Reranker(Protocol):
    async def rerank(self, query: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]: ...


class LanguageModel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def context_tokens(self) -> int:
        """The whole window, prompt and reply, in tokens."""
        ...

    def stream(self, prompt: Prompt, *, task: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Open one reply. Leaving the context closes the connection, also when the asker is cancelled.

        Raises `ModelUnavailable`, `RateLimited`, `ContentFiltered`, `ContextTooLong`; `ModelUnavailable` also out of the
        iterator when the stream is cut.
        """
        ...


class History(Protocol):
    async def read(self, conversation: ConversationId, *, limit: int) -> list[Turn]:
        """The last `limit` turns, oldest first, in the order they were written."""
        ...

    async def write(self, turns: Sequence[Turn], trace: Trace) -> None:
        """All turns and their trace in one transaction. Writing a turn id again replaces it."""
        ...


class Traces(Protocol):
    async def trace(self, turn: TurnId | None = None) -> Trace | None:
        """The trace of a turn (a unique prefix of its id will do), or of the newest turn."""
        ...


class Catalog(Protocol):
    """Knowledge bases, their documents, and the text of each as it was read."""

    async def open(self, name: str, *, model: str) -> KnowledgeBase:
        """The knowledge base of that name, made now if it is new."""
        ...

    async def knowledge_bases(self) -> list[KnowledgeBase]: ...

    async def select(
        self, *, ids: Collection[KnowledgeBaseId] = (), names: Collection[str] = ()
    ) -> list[KnowledgeBase]:
        """Those of these ids and those of these names; what is not there is left out."""
        ...


class Documents(Protocol):
    """The documents of the catalog. A document may have several sources (URIs) when the same bytes came from several places."""

    async def find(
        self, knowledge_base: KnowledgeBaseId, *, uri: str = "", digest: str = ""
    ) -> DocumentRecord | None:
        """By the URI of one of its sources, or by the digest of its bytes (ready ones only)."""
        ...

    async def save(
        self, record: DocumentRecord, *, source: str = "", sections: Sequence[Section] | None = None
    ) -> None:
        """Insert or replace the record; `source` is one more URI that leads to it; `sections`, when given, replace its text."""
        ...

    async def remove(self, document: DocumentId) -> None: ...

    async def remove_source(self, knowledge_base: KnowledgeBaseId, uri: str) -> None:
        """The URI leads to no document any more; the document itself stays."""
        ...


class Unfinished(Protocol):
    """What was begun and has not ended, kept so that neither a kill nor an outage makes anybody begin anew."""

    async def keep_reading(self, document: Document, sections: Sequence[Section]) -> None:
        """Keep the whole text of a file until its document is saved with it."""
        ...

    async def reading(self, document: Document) -> list[Section]:
        """The text that was kept of a document of this digest; empty when there is none."""
        ...

    async def withdraw(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Say that a document, or the whole knowledge base, is to go, which saving it takes back; whether there was anything."""
        ...

    async def remove(self, knowledge_base: KnowledgeBaseId, document: DocumentId | None = None) -> bool:
        """Take what is to go out of the catalog, with all it holds of it; False where something was saved since, which stays."""
        ...

    async def leaving(self) -> Mapping[DocumentId, KnowledgeBaseId]:
        """The documents that are to go: no question may find them."""
        ...

    async def closing(self) -> list[KnowledgeBaseId]:
        """The knowledge bases that are to go and have no document any more."""
        ...


class Library(Protocol):
    """Reading the catalog back."""

    async def records(self, knowledge_base: KnowledgeBaseId) -> list[DocumentRecord]:
        """Ordered by title, then id."""
        ...

    async def sources(self, document: DocumentId) -> list[str]: ...

    async def sections(self, document: DocumentId) -> list[Section]:
        """The text as it was read, in reading order."""
        ...


class Shelves(Catalog, Documents, Library, Protocol):
    """Everything the catalog can do."""

    @property
    def unfinished(self) -> Unfinished: ...


class VectorCache(Protocol):
    """Vectors by (model, text hash): the same text is embedded once."""

    async def read(self, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, Vector]: ...

    async def write(self, model: str, vectors: Mapping[bytes, Vector]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What a pipeline step may be built on."""

    embedder: Embedder
    index: Index
    model: LanguageModel
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexIdentity:
    """What the vectors and tokens of an index depend on: another identity is `SchemaMismatch`."""

    model: str
    dimensions: int
    analyzer: str


Parser: TypeAlias = "Callable[[Path], Iterator[Section]]"
"""Sync and pure; the engine runs it in a worker process with limits. Raises `UserError`s only."""

Splitter: TypeAlias = "Callable[[Document, Iterable[Section]], Iterator[Chunk]]"

Step: TypeAlias = "Callable[[Inquiry], Awaitable[Inquiry]]"
