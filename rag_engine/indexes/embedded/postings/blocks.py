"""Postings (chunks with a term and its frequency), sorted by the term's hash, in blocks that never change."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.database.rows import unpacked_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_HEADER = struct.Struct("<IIq")
_BLOCK = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    hashes: NDArray[np.uint64]
    chunks: NDArray[np.int64]
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return self.hashes.size

    def of(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        start, end = self.hashes.searchsorted(np.array((term, term + 1), dtype=np.uint64)).tolist()
        return self.chunks[start:end], self.counts[start:end]

    def part(self, kept: slice | NDArray[np.bool_]) -> Postings:
        return Postings(hashes=self.hashes[kept], chunks=self.chunks[kept], counts=self.counts[kept])


def of_chunks(rows: Sequence[tuple[int, bytes]]) -> Postings:
    hashes, counts = unpacked_terms(b"".join(packed for _, packed in rows))
    ids = np.array([place for place, _ in rows], dtype=np.int64)
    chunks = np.repeat(ids, [len(packed) // 8 for _, packed in rows])
    return _in_order(hashes, chunks, counts)


def merged(parts: Sequence[Postings]) -> Postings:
    return _in_order(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.chunks for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def _in_order(hashes: NDArray[np.uint64], chunks: NDArray[np.int64], counts: NDArray[np.uint8]) -> Postings:
    order = np.argsort(hashes, kind="stable")
    return Postings(hashes=hashes[order], chunks=chunks[order], counts=counts[order])


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Postings of number i end at `ends[i]`."""

    hashes: NDArray[np.uint64]
    ends: NDArray[np.uint32]
    first: int
    """What to add to the chunks."""
    chunks: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    size: int
    """Bytes."""

    def of(self, term: np.uint64) -> tuple[NDArray[np.int64], NDArray[np.uint8]] | None:
        place = int(self.hashes.searchsorted(term))
        if place == self.hashes.size or self.hashes[place] != term:
            return None
        start, end = (int(self.ends[place - 1]) if place else 0), int(self.ends[place])
        return self.chunks[start:end] + np.int64(self.first), self.counts[start:end]

    def postings(self) -> Postings:
        lengths = np.diff(self.ends.astype(np.int64), prepend=0)
        return Postings(
            hashes=np.repeat(self.hashes, lengths),
            chunks=self.chunks + np.int64(self.first),
            counts=self.counts,
        )


def blocks(parts: Iterator[Postings], *, most: int = _BLOCK) -> Iterator[tuple[int, int, bytes]]:
    """First hash, number of postings and bytes; `parts` in the order of hashes."""
    rest: Postings | None = None
    for part in parts:
        whole = part if rest is None else merged([rest, part])
        full = len(whole) - len(whole) % most
        for start in range(0, full, most):
            yield _encoded(whole.part(slice(start, start + most)))
        rest = whole.part(slice(full, None))
    if rest is not None and len(rest):
        yield _encoded(rest)


def _encoded(postings: Postings) -> tuple[int, int, bytes]:
    hashes, starts = np.unique(postings.hashes, return_index=True)
    ends = np.append(starts[1:], len(postings)).astype("<u4")
    first = int(postings.chunks.min())
    content = b"".join(
        (
            _HEADER.pack(hashes.size, len(postings), first),
            hashes.astype("<u8").tobytes(),
            ends.tobytes(),
            (postings.chunks - first).astype("<u4").tobytes(),
            postings.counts.tobytes(),
        )
    )
    return int(hashes[0]), len(postings), content


def decoded(content: bytes) -> Block:
    terms, count, first = _HEADER.unpack_from(content)
    ends = _HEADER.size + 8 * terms
    chunks = ends + 4 * terms
    return Block(
        hashes=np.frombuffer(content, dtype="<u8", count=terms, offset=_HEADER.size),
        ends=np.frombuffer(content, dtype="<u4", count=terms, offset=ends),
        first=first,
        chunks=np.frombuffer(content, dtype="<u4", count=count, offset=chunks),
        counts=np.frombuffer(content, dtype=np.uint8, count=count, offset=chunks + 4 * count),
        size=len(content),
    )
