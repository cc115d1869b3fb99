"""The lines of an archive, its limits, and what is said of a bad one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import CorruptFile, UserError
from rag_engine.types import SectionKind

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FORMAT = "footnote-knowledge-base"
VERSION = 1
MANIFEST = "manifest.json"
DOCUMENTS = "documents.jsonl"
CHUNKS = "chunks.jsonl"
VECTORS = "vectors.jsonl"
MEMBERS = (DOCUMENTS, CHUNKS, VECTORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What was exported or imported: the knowledge base's name, and how much is in the archive."""

    name: str
    documents: int
    chunks: int
    left_out: tuple[str, ...] = ()
    """Titles of documents that were being read during an export, and are not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an archive may ask of the machine that reads it, in bytes."""

    manifest_bytes: int = 1 << 20
    section_bytes: int = 1 << 28
    line_bytes: int = 1 << 24
    """Of a chunk, a vector or a document without its sections."""
    expansion: int = 100
    """How many times its own size the archive may unpack to, above `free_bytes`."""
    free_bytes: int = 1 << 26


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Identity(_Line):
    """Of the vectors and the index they come from."""

    model: str
    dimensions: int = Field(ge=1, le=65_536)
    analyzer: str


class Member(_Line):
    """What a member must turn out to be."""

    lines: int = Field(ge=0)
    bytes: int = Field(ge=0)
    sha256: str


class Manifest(_Line):
    """The first thing read. `version` rises when an older Footnote could not read the archive."""

    format: Literal["footnote-knowledge-base"] = FORMAT
    version: int = VERSION
    name: str
    knowledge_base: str
    """Its id where it was exported."""
    identity: Identity
    documents: int = Field(ge=0)
    members: dict[str, Member]


class DocumentLine(_Line):
    """A document as the catalog knows it; as many section lines follow as `sections` says."""

    id: str = Field(min_length=1)
    title: str
    uri: str
    media_type: str
    digest: str
    size: int = Field(ge=0)
    state: Literal["ready", "failed"]
    reason: str
    pages: int = Field(ge=0)
    sources: tuple[str, ...]
    sections: int = Field(ge=0)


class SectionLine(_Line):
    text: str
    anchor: str
    headings: tuple[str, ...]
    kind: SectionKind


class ChunkLine(_Line):
    id: str = Field(min_length=1)
    document: str
    ordinal: int = Field(ge=0)
    text: str
    title: str
    uri: str
    headings: tuple[str, ...]
    anchor: str
    kind: SectionKind
    language: str


class VectorLine(_Line):
    chunk: str
    vector: str
    """Little-endian float32 in base64."""


def damaged(file: Path, what: str) -> CorruptFile:
    """The error for an archive that cannot be what it says it is."""
    return CorruptFile(
        f"{file.name} is damaged, or no export of Footnote: {what}. Nothing was imported; export it again."
    )


@contextmanager
def translate_errors(file: Path, *, doing: str) -> Generator[None, None, None]:
    """Turn the operating system's complaints about `file` into a `UserError`; `doing` is "read" or "written"."""
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"{file} cannot be {doing}: there is no such file or folder.") from error
    except OSError as error:
        raise UserError(f"{file} cannot be {doing}: {(error.strerror or str(error)).lower()}.") from error
