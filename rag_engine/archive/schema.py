from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_validator

from rag_engine.archive.zip_container import LAST_SECOND, Member, StrictModel, Version, ZipFormat
from rag_engine.errors import UnsupportedFile, UserError
from rag_engine.metadata.properties import MOST_TAGS, tag_of
from rag_engine.metadata.verified_answer import LONGEST_ANSWER, LONGEST_QUESTION
from rag_engine.text.legibility import printable
from rag_engine.types import Expansion, SectionKind

EXPORT: Final = ZipFormat(
    noun="export",
    refusal="Nothing was imported",
    advice="export it again",
    version=6,
    newer=UnsupportedFile,
    manifest_bytes=1 << 20,
)
DOCUMENTS = "documents.jsonl"
CHUNKS = "chunks.jsonl"
VECTORS = "vectors.jsonl"
MEMBERS = (DOCUMENTS, CHUNKS, VECTORS)

_Count = Annotated[int, Field(ge=0, le=(1 << 63) - 1)]  # what SQLite can hold
_Time = Annotated[float, Field(ge=0, le=LAST_SECOND)]
_Short = Annotated[str, Field(max_length=10_000)]
_Title = Annotated[_Short, AfterValidator(printable)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveContents:
    name: str
    documents: int
    chunks: int
    left_out: tuple[str, ...] = ()
    """Titles of documents being read, not exported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    section_bytes: int = 1 << 28
    line_bytes: int = 1 << 24
    """Of a chunk, a vector, or a document without sections."""
    expansion: int = 100
    """The archive may unpack to so many times its size, plus `free_bytes`."""
    free_bytes: int = 1 << 26


class Identity(StrictModel):
    model: str
    dimensions: int = Field(ge=1, le=65_536)
    analyzer: str


class ArchiveMember(Member):
    lines: int = Field(ge=0)


class ArchiveManifest(StrictModel):
    """`version` rises when an older Footnote could not read it."""

    format: Literal["footnote-knowledge-base"] = "footnote-knowledge-base"
    version: Version = 1
    name: str
    knowledge_base: str
    identity: Identity
    documents: _Count
    members: dict[str, ArchiveMember]
    synonyms: tuple[tuple[str, ...], ...] = ()
    expanded: tuple[Expansion, ...] = ()


class ExpansionLine(StrictModel):
    kind: Expansion
    key: str = Field(min_length=1, max_length=64)
    passage: _Count
    texts: tuple[str, ...] = Field(max_length=10)


class VerifiedLine(StrictModel):
    """Without the author's account, which is another's elsewhere."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    answer: str = Field(min_length=1, max_length=LONGEST_ANSWER)
    author: _Title
    written_at: _Time
    review_at: _Time = 0.0
    uri: _Short = ""
    sources: tuple[tuple[str, str, _Title], ...] = Field(default=(), max_length=1_000)
    """Document, digest, title; of this archive."""


class DocumentLine(StrictModel):
    id: str = Field(min_length=1)
    title: _Title
    uri: _Short
    media_type: str
    digest: str
    size: _Count
    state: Literal["ready", "failed"]
    reason: _Short
    pages: _Count
    sources: tuple[_Short, ...]
    sections: _Count
    properties: dict[str, tuple[str, ...]] = Field(default={})
    tags: tuple[str, ...] = Field(default=(), max_length=MOST_TAGS)
    expansions: tuple[ExpansionLine, ...] = ()
    tables: int = Field(default=0, ge=0, le=500)
    verified: VerifiedLine | None = None

    @field_validator("tags")
    @classmethod
    def _usable(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(map(tag_of, tags))
        except UserError as error:
            raise ValueError(str(error)) from error


class SectionLine(StrictModel):
    text: str
    anchor: str
    headings: tuple[str, ...]
    kind: SectionKind


class ChunkLine(StrictModel):
    id: str = Field(min_length=1)
    document: str
    ordinal: _Count
    text: str
    title: _Title
    uri: _Short
    headings: tuple[str, ...]
    anchor: str
    kind: SectionKind
    language: str


class VectorLine(StrictModel):
    chunk: str
    vector: str
    """Little-endian float32 in base64."""
