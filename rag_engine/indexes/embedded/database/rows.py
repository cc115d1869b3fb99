from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.text.analyzer import tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.text.surrogates import encodable
from rag_engine.types import Chunk, KnowledgeBaseId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from numpy.typing import NDArray

CHUNK_COLUMNS = (
    "chunk.cid, chunk.document, chunk.ordinal, chunk.text, chunk.title, chunk.uri, chunk.headings, chunk.anchor,"
    " chunk.kind, chunk.language"
)

_MOST_OCCURRENCES = 255
_HASH_BYTES = 7
_MOST_HASHES = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    values: tuple[object, ...]
    """The columns of `chunk` from `document` on."""
    length: int
    terms: bytes
    """See `packed_terms`."""
    tokens: Set[str]


def row_of(chunk: Chunk) -> IndexRow:
    found = tokens(encodable(searchable_text(chunk)), language=chunk.language)
    values = (
        key(chunk.document),
        chunk.ordinal,
        encodable(chunk.id),
        encodable(chunk.text),
        encodable(chunk.title),
        encodable(chunk.uri),
        encodable(json.dumps(chunk.headings, ensure_ascii=False)) if chunk.headings else "[]",
        encodable(chunk.anchor),
        chunk.kind,
        chunk.language,
    )
    counts = Counter(found)
    return IndexRow(values=values, length=len(found), terms=packed_terms(counts), tokens=counts.keys())


def chunk_of(columns: Sequence[Any], knowledge_base: KnowledgeBaseId) -> Chunk:
    cid, document, ordinal, text, title, uri, headings, anchor, kind, language = columns
    made: Any = _ChunkFields()
    made.id = cid
    made.document = document.decode("utf-8", "surrogatepass")
    made.knowledge_base = knowledge_base
    made.ordinal = ordinal
    made.text = text
    made.title = title
    made.uri = uri
    made.headings = () if headings == "[]" else tuple(json.loads(headings))
    made.anchor = anchor
    made.kind = kind
    made.language = language
    made.__class__ = Chunk
    return made


class _ChunkFields:
    """A search makes hundreds, and the constructor of `Chunk` takes four times as long."""

    __slots__ = tuple(field.name for field in fields(Chunk))


def key(name: str) -> bytes:
    """Distinguishes all strings, including invalid Unicode."""
    return name.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=1_024)
def knowledge_base_of(key: bytes) -> KnowledgeBaseId:
    return KnowledgeBaseId(key.decode("utf-8", "surrogatepass"))


def packed_terms(counts: Mapping[str, int]) -> bytes:
    """Little-endian uint64: 56 bits of hash, 8 bits of frequency (at most 255)."""
    packed = [_hashes[token] | min(count, _MOST_OCCURRENCES) for token, count in counts.items()]
    return np.array(packed, dtype="<u8").tobytes()


def unpacked_terms(packed: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    return np.frombuffer(packed, dtype="<u8") >> np.uint64(8), np.frombuffer(packed, dtype=np.uint8)[::8]


def hash_of(token: str) -> int:
    """56 bits, the same in every process."""
    return _hashes[token] >> 8


class _Hashes(dict[str, int]):
    def __missing__(self, token: str) -> int:
        if len(self) >= _MOST_HASHES:
            self.clear()
        digest = blake2b(token.encode(), digest_size=_HASH_BYTES).digest()
        shifted = self[token] = int.from_bytes(digest, "little") << 8
        return shifted


_hashes = _Hashes()
