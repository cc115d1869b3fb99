"""The vocabulary: frozen values, no behaviour. One word per thing, the field's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NewType, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from rag_engine.summarizing.lengths import Wishes

    Vector: TypeAlias = NDArray[np.float32]
    """Shape (dimensions,), unit length."""
    Matrix: TypeAlias = NDArray[np.float32]
    """Shape (texts, dimensions), rows of unit length."""

KnowledgeBaseId = NewType("KnowledgeBaseId", str)
DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)
ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", str)

Leg = Literal["lexical", "dense"]
Side = Literal["query", "passage"]
SectionKind = Literal["prose", "list", "table", "code", "notice"]
"""A notice is no text of the file: it says, in a sentence for a person, what of the file could not be read."""
Role = Literal["system", "user", "assistant"]
Knowledge = Literal["only_sources", "prefer_sources"]
"""Whether an answer may come from the passages alone, or also, marked as such, from what the model knows."""
Route = Literal["search", "summarise"]
"""How an answer came about: from passages that were searched for, or from whole documents."""
DocumentState = Literal["queued", "parsing", "embedding", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """An uploaded file on disk; `digest` is the SHA-256 of its bytes in hex, `size` is in bytes."""

    name: str
    media_type: str
    path: Path
    digest: str
    size: int
    uri: str
    """Where a person finds the file again: a permalink, or a file URI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBase:
    """A named collection of documents; `model` is the identity of its embedder."""

    id: KnowledgeBaseId
    name: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What was added: one file in one knowledge base."""

    id: DocumentId
    knowledge_base: KnowledgeBaseId
    title: str
    uri: str
    media_type: str
    digest: str
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A parsed part of a document, in reading order.

    `anchor` is the place a person can turn to ("p. 3", "slide 2", "Budget!A2:D40", "§ Leave"); it may be empty.
    `headings` is the path of headings above the text, outermost first.
    A table's `text` holds one row a line, cells joined by " | ", the header row first.
    """

    text: str
    anchor: str = ""
    headings: tuple[str, ...] = ()
    kind: SectionKind = "prose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What is indexed: one passage of one document. `text` occurs word for word in the document's sections."""

    id: ChunkId
    document: DocumentId
    knowledge_base: KnowledgeBaseId
    ordinal: int
    text: str
    title: str = ""
    uri: str = ""
    headings: tuple[str, ...] = ()
    anchor: str = ""
    kind: SectionKind = "prose"
    language: str = ""
    """ISO 639-1 code as detected, or empty when unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question on its way in: its text, and the knowledge bases that everyone who reads the reply may see."""

    text: str
    knowledge_bases: frozenset[KnowledgeBaseId]
    conversation: ConversationId | None = None
    scope: str = ""
    """What a person calls the places searched, for sentences like "not found in …"."""
    limit: int = 8
    legs: tuple[Leg, ...] = ("lexical", "dense")
    heard: tuple[Turn, ...] = ()
    """What others said in the conversation and was not answered; merged with its history by time."""
    knowledge: Knowledge | None = None
    """What the answer may rest on, for this question; None: what the settings say."""
    language: str = ""
    """The language to answer in, whatever the question's (ISO 639-1); empty: the question's."""
    turn: TurnId | None = None
    """The id that the answer gets, so that whoever asked knows it whatever happens meanwhile; None: a new one."""
    files: tuple[str, ...] = ()
    """The files that came last in the conversation, by the id of the document, or by the URI where there is none yet: what "this
    file" means. Seen only where `knowledge_bases` has them."""
    brought: bool = False
    """The question itself came with `files`."""
    names: Mapping[KnowledgeBaseId, str] = field(default_factory=dict[KnowledgeBaseId, str])
    """What a person calls the knowledge bases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One leg with its audience filter. The lexical leg carries `tokens` of the shared analyzer, the dense leg a `vector`."""

    leg: Leg
    knowledge_bases: frozenset[KnowledgeBaseId]
    limit: int
    tokens: tuple[str, ...] = ()
    vector: Vector | None = None

    def __post_init__(self) -> None:
        if not self.knowledge_bases:
            raise ValueError("a search must name the knowledge bases it may see")
        if self.limit < 1:
            raise ValueError("a search must ask for at least one hit")
        if self.leg == "dense" and self.vector is None:
            raise ValueError("a dense search needs a vector")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a hit came from: rank (from 1) and raw score in one leg. Dense scores are cosines, lexical ones BM25."""

    leg: Leg
    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk with its rank (from 1) and score; after fusion `legs` says which legs found it, and where."""

    chunk: Chunk
    score: float
    rank: int
    legs: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """One leg's hits, best first; `complete` is False when part of the index did not answer."""

    leg: Leg
    hits: tuple[Hit, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One numbered source of an answer. Several passages of one document share a number; each has its own Citation."""

    number: int
    title: str
    anchor: str
    uri: str
    quote: str
    """Occurs word for word in the source."""
    document: DocumentId
    chunk: ChunkId


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a language model is given: the messages as sent, and the question and passages they were built from.

    A generative model reads `messages`; the extractive answerer reads `question` and `passages`.
    """

    messages: tuple[Message, ...]
    question: str
    passages: tuple[Hit, ...] = ()
    """In prompt order: the model cites passage i (from 1) as [i]."""
    tokens: int = 0
    """Tokens of everything in `messages`, overheads included."""
    reply_tokens: int = 0
    """The most tokens the reply may take."""
    needs_passages: bool = True
    """Whether an answer must rest on passages: without any, a generative model is then not asked."""
    scope: str = ""
    """What a person calls the places searched, as in `Query`."""
    language: str = ""
    """The language to answer in, as in `Query`."""
    summary: Wishes | None = None
    """Set where the passages are to be summarised, all of them: how long that is to be."""
    sections: int = 0
    """How many sections the documents have that are summarised; of very long ones the passages are a selection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The answer event that says what is being done; `detail` is ready to show to a person."""

    name: str
    detail: str = ""
    number: int = 0
    """Of what is done in several parts: the part, from 1."""
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The answer event that carries what the answer may use, with provenance."""

    hits: tuple[Hit, ...]
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Plain sentences to show with what was found, e.g. that something may be missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The answer event that carries text to append: what was shown before never changes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The last answer event. `grounded` is True when the text rests on at least one cited passage."""

    turn: TurnId
    text: str
    citations: tuple[Citation, ...]
    grounded: bool
    timings: Mapping[str, float]
    """Seconds by stage."""
    fallbacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Plain sentences to show under the answer, e.g. that the stream was cut."""
    model: str = ""
    """The name of the model that told it."""
    prompt_tokens: int = 0
    """Tokens of what the model was given."""
    route: Route = "search"


AnswerEvent: TypeAlias = Stage | Retrieval | Delta | Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance of a conversation; `at` is seconds since the epoch, UTC."""

    id: TurnId
    conversation: ConversationId
    role: Role
    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What happened in a turn. `details` holds JSON values only: queries, candidates, prompt tokens, citations."""

    turn: TurnId
    conversation: ConversationId
    at: float
    seconds: Mapping[str, float]
    """Seconds by stage."""
    fallbacks: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A document as the catalog knows it. `reason` says in plain words why it failed, or what is odd about it."""

    document: Document
    state: DocumentState
    reason: str = ""
    chunks: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The outcome of one ingestion: `changed` is False when the same bytes were there already."""

    record: DocumentRecord
    changed: bool
