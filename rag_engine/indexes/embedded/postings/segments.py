from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.postings.blocks import decoded, merged, of_chunks
from rag_engine.indexes.embedded.recent_values import RecentValues

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.postings.blocks import Block, Postings

_NUMBERS = 24
_MOST_CACHED = 16_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PostingSegment:
    number: int
    first: int
    last: int
    """With chunks deleted since."""
    chunks: int
    """When it was written."""
    postings: int
    starts: NDArray[np.uint64]
    """Of each block; a term may need several."""

    def blocks_with(self, terms: NDArray[np.uint64]) -> list[range]:
        firsts = np.maximum(self.starts.searchsorted(terms) - 1, 0)
        ends = self.starts.searchsorted(terms, side="right")
        return list(map(range, firsts.tolist(), ends.tolist()))

    def blocks_between(self, lowest: int, highest: int) -> range:
        first = int(self.starts.searchsorted(np.uint64(lowest))) - 1
        return range(max(first, 0), int(self.starts.searchsorted(np.uint64(highest), side="right")))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPostings:
    segments: tuple[PostingSegment, ...]
    newest: tuple[Postings, ...]
    """Not yet in a segment."""

    @property
    def last(self) -> int:
        return self.segments[-1].last if self.segments else 0

    def of(
        self, connection: sqlite3.Connection, cache: BlockCache, terms: Sequence[int]
    ) -> list[list[tuple[NDArray[np.int64], NDArray[np.uint8]]]]:
        parts: list[list[tuple[NDArray[np.int64], NDArray[np.uint8]]]] = [[] for _ in terms]
        hashes = np.array(terms, dtype=np.uint64)
        for segment in self.segments:
            for part, term, numbers in zip(parts, hashes, segment.blocks_with(hashes), strict=True):
                for number in numbers:
                    if (found := cache.block(connection, segment, number).of(term)) is not None:
                        part.append(found)
        for run in self.newest:
            starts, ends = run.hashes.searchsorted(hashes), run.hashes.searchsorted(hashes, side="right")
            for part, start, end in zip(parts, starts.tolist(), ends.tolist(), strict=True):
                if start < end:
                    part.append((run.chunks[start:end], run.counts[start:end]))
        return parts

    def advanced(self, connection: sqlite3.Connection, *, last: int) -> StoredPostings:
        segments = read(connection)
        folded = segments[-1].last if segments else 0
        newest = [run for run in (_after(run, folded) for run in self.newest) if len(run)]
        rows = connection.execute(
            "SELECT id, b FROM pending WHERE id > ? ORDER BY id", (max(last, folded),)
        ).fetchall()
        if rows:
            newest.append(of_chunks(rows))
        return StoredPostings(segments=segments, newest=_consolidated(newest))


class BlockCache:
    def __init__(self) -> None:
        self._blocks: RecentValues[int, Block] = RecentValues(most_bytes=_MOST_CACHED)

    def block(self, connection: sqlite3.Connection, segment: PostingSegment, number: int) -> Block:
        place = place_of(segment.number, number)
        if (block := self._blocks.get(place)) is None:
            block = read_block(connection, segment.number, number)
            self._blocks.put([(place, block, block.size)])
        return block


def place_of(segment: int, number: int) -> int:
    return segment << _NUMBERS | number


def read_block(connection: sqlite3.Connection, segment: int, number: int) -> Block:
    row = connection.execute("SELECT b FROM block WHERE id = ?", (place_of(segment, number),)).fetchone()
    return decoded(row[0])


def read(connection: sqlite3.Connection) -> tuple[PostingSegment, ...]:
    rows = connection.execute("SELECT id, first, last, chunks, postings, starts FROM segment ORDER BY first")
    return tuple(
        PostingSegment(
            number=number,
            first=first,
            last=last,
            chunks=chunks,
            postings=postings,
            starts=np.frombuffer(starts, dtype="<u8"),
        )
        for number, first, last, chunks, postings, starts in rows
    )


def _after(run: Postings, last: int) -> Postings:
    kept = run.chunks > last
    return run if kept.all() else run.part(kept)


def _consolidated(runs: Sequence[Postings]) -> tuple[Postings, ...]:
    kept: list[Postings] = []
    for run in runs:
        kept.append(run)
        while len(kept) > 1 and len(kept[-2]) <= 2 * len(kept[-1]):
            kept[-2:] = [merged(kept[-2:])]
    return tuple(kept)
