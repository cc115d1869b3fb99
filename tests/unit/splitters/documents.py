"""Sections to split, and tokenizers to count with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag_engine.splitters.structure import Settings, build
from rag_engine.types import Chunk, Document, DocumentId, KnowledgeBaseId, Section

if TYPE_CHECKING:
    from collections.abc import Callable


DOCUMENT = Document(
    id=DocumentId("d1"),
    knowledge_base=KnowledgeBaseId("k1"),
    title="handbook.md",
    uri="file:///handbook.md",
    media_type="text/markdown",
    digest="0" * 64,
)


_WORD = re.compile(r"[a-zA-Z0-9]{1,6}|[^\sa-zA-Z0-9]")


def words(text: str) -> int:
    """Additive, like WordPiece at white space; two special tokens."""
    return 2 + len(_WORD.findall(text))


def octets(text: str) -> int:
    """Byte-level: a rare character takes many tokens."""
    return 1 + len(text.encode("utf-8", "surrogatepass"))


def split(
    *sections: Section,
    limit: int = 64,
    count: Callable[[str], int] = words,
    overlap: int = 0,
    document: Document = DOCUMENT,
) -> list[Chunk]:
    splitter = build(Settings(overlap_tokens=overlap), count_tokens=count, max_tokens=limit)
    return list(splitter(document, iter(sections)))


def sentences(count: int, *, label: str = "Sentence") -> str:
    return " ".join(f"{label} number {number} says a little thing." for number in range(count))
