"""Chunks as rows of the index file, and back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rag_engine.analysis import tokens
from rag_engine.searchable import searchable_text
from rag_engine.surrogates import encodable
from rag_engine.types import Chunk, ChunkId, DocumentId, KnowledgeBaseId, SectionKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

COLUMNS = (
    "chunk.cid, chunk.document, base.name, chunk.ordinal, chunk.text, chunk.title, chunk.uri, chunk.headings,"
    " chunk.anchor, chunk.kind, chunk.language"
)
"""What `chunk_of` reads, from `chunk JOIN base ON base.id = chunk.base`."""

_MOST_OCCURRENCES = 255
_HASH_BYTES = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is stored for one chunk, worked out before the index is locked."""

    values: tuple[object, ...]
    """The columns of `chunk` from `document` on."""
    text: str
    """The analyzer's tokens, separated by blanks."""
    length: int
    """How many tokens."""
    terms: bytes
    """Packed distinct tokens with their frequencies, see `packed_terms`."""


def row_of(chunk: Chunk) -> Row:
    """Analyse a chunk."""
    found = tokens(encodable(searchable_text(chunk)), language=chunk.language)
    values = (
        key(chunk.document),
        chunk.ordinal,
        encodable(chunk.id),
        encodable(chunk.text),
        encodable(chunk.title),
        encodable(chunk.uri),
        encodable(json.dumps(chunk.headings, ensure_ascii=False)),
        encodable(chunk.anchor),
        chunk.kind,
        chunk.language,
    )
    return Row(values=values, text=" ".join(found), length=len(found), terms=packed_terms(found))


def chunk_of(columns: Sequence[Any]) -> Chunk:
    """The chunk in a row of `COLUMNS`."""
    cid, document, base, ordinal, text, title, uri, headings, anchor, kind, language = columns
    return Chunk(
        id=cast("ChunkId", cid),
        document=cast("DocumentId", name_of(document)),
        knowledge_base=cast("KnowledgeBaseId", name_of(base)),
        ordinal=ordinal,
        text=text,
        title=title,
        uri=uri,
        headings=tuple(json.loads(headings)) if headings != "[]" else (),
        anchor=anchor,
        kind=cast("SectionKind", kind),
        language=language,
    )


def key(name: str) -> bytes:
    """An opaque id in a form that tells every two strings apart, also those that are not valid Unicode."""
    return name.encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    """The id that `key` was made of."""
    return key.decode("utf-8", "surrogatepass")


def packed_terms(found: Sequence[str]) -> bytes:
    """Distinct tokens as little-endian uint64: 56 bits of hash, 8 bits of frequency (255 at most)."""
    packed = [hash_of(token) << 8 | min(count, _MOST_OCCURRENCES) for token, count in Counter(found).items()]
    return np.sort(np.array(packed, dtype="<u8")).tobytes()


def unpacked_terms(packed: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Hashes and frequencies out of (joined) packed terms."""
    return np.frombuffer(packed, dtype="<u8") >> np.uint64(8), np.frombuffer(packed, dtype=np.uint8)[::8]


@lru_cache(maxsize=16_384)
def hash_of(token: str) -> int:
    """56 bits that stand for a token, the same in every process."""
    return int.from_bytes(blake2b(token.encode(), digest_size=_HASH_BYTES).digest(), "little")
