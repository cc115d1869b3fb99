"""The vocabulary of the engine: frozen values without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NewType, TypeAlias

from rag_engine.answer_events import Answer as Answer
from rag_engine.answer_events import AnswerEvent as AnswerEvent
from rag_engine.answer_events import Delta as Delta
from rag_engine.answer_events import Retrieval as Retrieval
from rag_engine.answer_events import Stage as Stage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from rag_engine.generation.tool_request import ToolRequest
    from rag_engine.metadata.filter_types import Filter
    from rag_engine.retrieval.found_messages import FindMessages
    from rag_engine.summaries.length_and_language import LengthAndLanguage
    from rag_engine.text.table_anchors import TableGrid

    Vector: TypeAlias = NDArray[np.float32]
    """Shape (dimensions,), unit length."""
    Matrix: TypeAlias = NDArray[np.float32]
    """Shape (texts, dimensions), rows of unit length."""

KnowledgeBaseId = NewType("KnowledgeBaseId", str)
DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)
ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", str)

BEST_PASSAGES = 8

Leg = Literal["lexical", "dense"]
Side = Literal["query", "passage"]
Expansion = Literal["summary", "question"]
Layer = Literal[Expansion, "graph"]
Origin = Literal[Layer, "letters"]
"""`letters`: similar names."""
SectionKind = Literal["prose", "list", "table", "code", "notice", "properties"]
"""A `notice` says what could not be read; `properties` are JSON of what the file says of itself."""
Role = Literal["system", "user", "assistant"]
Knowledge = Literal["only_sources", "prefer_sources"]
"""The passages alone, or also what the model knows, marked as such."""
Route = Literal["search", "summarise", "chat", "clarify", "edit", "research", "compute", "agent"]
WebUse = Literal["never", "on_request", "if_nothing", "asked"]
"""Never; if the question asks for it; also if the files do not answer; always."""
ToolPolicy = Literal["off", "on", "all"]
"""Tools that a model may call: none, ours, or also those of the operator."""
Evidence = Literal["", "strong", "weak", "none"]
"""Empty if not judged."""
DocumentState = Literal["queued", "parsing", "embedding", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """`digest`: SHA-256 in hex; `size` in bytes; `title` defaults to `name`."""

    name: str
    media_type: str
    path: Path
    digest: str
    size: int
    uri: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBase:
    """`model` is the identity of its embedder."""

    id: KnowledgeBaseId
    name: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
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

    `anchor` is the place for people ("p. 3", "slide 2", "Budget!A2:D40", "§ Leave"), or empty. `headings` is their path, outermost
    first. A table has one row per line, the header first, cells joined by " | "; `grid` holds them exactly while it is read.
    """

    text: str
    anchor: str = ""
    headings: tuple[str, ...] = ()
    kind: SectionKind = "prose"
    grid: TableGrid | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """`text` occurs word for word in the sections."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    persona: str = ""
    """Never trusted over the rules on sources."""
    model: str = ""
    """Of `Engine.choices`; empty: the first."""
    temperature: float | None = None
    empty_answer: str = ""
    cites: bool = True
    plain_chat: bool = False
    """Without a search."""
    compute: bool = False
    chart: bool = False
    whole_files: bool = False
    """Give the language model whole documents as far as its window allows, however surely they answer."""
    research: bool = False
    tools: ToolPolicy = "off"
    agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Everyone who reads the reply may see the knowledge bases."""

    text: str
    knowledge_bases: frozenset[KnowledgeBaseId]
    conversation: ConversationId | None = None
    scope: str = ""
    """For sentences like "not found in …"."""
    scopes: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same by language (ISO 639-1)."""
    limit: int = BEST_PASSAGES
    exact_limit: bool = False
    legs: tuple[Leg, ...] = ("lexical", "dense")
    other_turns: tuple[Turn, ...] = ()
    """Of others in the conversation; merged by time."""
    knowledge: Knowledge | None = None
    language: str = ""
    """ISO 639-1, of the answer; empty: that of the question."""
    turn: TurnId | None = None
    version_of: TurnId | None = None
    """Of which this becomes another version."""
    files: tuple[str, ...] = ()
    """Of the conversation, each a document id, or a URI without a document."""
    files_attached: bool = False
    """Whether `files` came with the question itself."""
    names: Mapping[KnowledgeBaseId, str] = field(default_factory=dict[KnowledgeBaseId, str])
    as_asked: bool = False
    """No rule, dictionary or model changes them."""
    filters: tuple[Filter, ...] = ()
    unfiltered: bool = False
    """Filters in `text` only leave it."""
    time_zone: str = ""
    """IANA; empty: the server's."""
    asker_language: str = ""
    """ISO 639-1, of the client; empty: unknown."""
    options: AnswerOptions = AnswerOptions()
    web: WebUse = "never"
    messages: FindMessages | None = field(default=None, repr=False, compare=False)

    def scope_in(self, language: str) -> str:
        return self.scopes.get(language, self.scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """With `tokens` of `rag_engine.text.analyzer`, or a `vector`."""

    leg: Leg
    knowledge_bases: frozenset[KnowledgeBaseId]
    limit: int
    tokens: tuple[str, ...] = ()
    vector: Vector | None = None
    documents: frozenset[DocumentId] | None = None
    """Only their chunks; None: those of all."""
    literal: frozenset[str] = frozenset()
    """Not replaced by similar ones."""
    synonyms: Mapping[KnowledgeBaseId, Mapping[str, float]] = field(
        default_factory=dict[KnowledgeBaseId, "Mapping[str, float]"]
    )
    """With weights, each for one knowledge base."""
    expansion: Expansion | None = None
    names: tuple[tuple[str, ...], ...] = ()
    """In place of `tokens`: words like those that are lacking."""

    def __post_init__(self) -> None:
        if not self.knowledge_bases:
            raise ValueError("a search must name the knowledge bases it may see")
        if self.limit < 1:
            raise ValueError("a search must ask for at least one hit")
        if self.leg == "dense" and self.vector is None:
            raise ValueError("a dense search needs a vector")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Rank from 1; the score is a cosine (dense) or BM25 (lexical)."""

    leg: Leg
    rank: int
    score: float
    query: str = ""
    expansion: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Rank from 1; `legs`: the ranks in each leg."""

    chunk: Chunk
    score: float
    rank: int
    legs: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Best first; `complete` is False if part of the index did not answer."""

    leg: Leg
    hits: tuple[Hit, ...]
    complete: bool = True
    query: str = ""
    weight: float = 1.0
    is_hypothetical: bool = False
    """A made-up text was searched for or found."""
    expansion: Origin | None = None
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    rarest: float = 0.0
    """The BM25 weight of a word in one chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One place in a document; each quote has a `Citation`."""

    number: int
    title: str
    anchor: str
    uri: str
    quote: str
    """Word for word; a table row follows its header line."""
    document: DocumentId
    chunk: ChunkId


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """With the passages that its citation markers refer to."""

    messages: tuple[Message, ...]
    passages: tuple[Hit, ...] = ()
    """In prompt order: the model cites passage i (from 1) as [i]."""
    shortened: frozenset[ChunkId] = frozenset()
    """Of which `messages` have a part."""
    tokens: int = 0
    reply_tokens: int = 0
    needs_passages: bool = True
    """Then, without passages, no language model is called."""
    reply_schema: Mapping[str, object] | None = None
    """None for text."""
    temperature: float | None = None
    tool_request: ToolRequest | None = None
    """In place of `messages`, for servers with tool calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """A question, or a summary if `summary` is set."""

    question: str
    passages: tuple[Hit, ...] = ()
    by_meaning: bool = False
    closest: tuple[Hit, ...] = ()
    """They do not answer; named if there are no others."""
    unmentioned: tuple[str, ...] = ()
    scope: str = ""
    empty_answer: str = ""
    """For an answer that nothing supports; empty: a sentence."""
    language: str = ""
    summary: LengthAndLanguage | None = None
    sections: int = 0
    """Of a summary's documents."""
    dates: Mapping[DocumentId, str] = field(default_factory=dict["DocumentId", str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """`at` is Unix time in seconds."""

    id: TurnId
    conversation: ConversationId
    role: Role
    text: str
    at: float
    speaker: str = ""
    """Stored in the trace alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """JSON: queries, candidates, prompt tokens, citations."""

    turn: TurnId
    conversation: ConversationId
    at: float
    seconds: Mapping[str, float]
    fallbacks: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    document: Document
    state: DocumentState
    reason: str = ""
    """Of a failure, or what is unusual."""
    chunks: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """`changed`: False if the same bytes were indexed."""

    record: DocumentRecord
    changed: bool
