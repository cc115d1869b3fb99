from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.database.schema import read_number, write
from rag_engine.indexes.embedded.postings.blocks import blocks, merged, of_chunks
from rag_engine.indexes.embedded.postings.segments import place_of, read, read_block

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.postings.blocks import Block, Postings
    from rag_engine.indexes.embedded.postings.segments import PostingSegment

FOLDED_AFTER = 4_000
"""Chunks."""
_STRIDE = 32
_LARGEST_HASH = 2**56 - 1
_RATIO = 2
_LEAST_ALIVE = 0.5


def fold(connection: sqlite3.Connection, *, least: int = FOLDED_AFTER) -> bool:
    """Write the pending postings as a segment, inside a transaction."""
    if connection.execute("SELECT count(*) FROM pending").fetchone()[0] < max(least, 1):
        return False
    rows = connection.execute("SELECT id, b FROM pending ORDER BY id").fetchall()
    _write(connection, (rows[0][0], rows[-1][0]), len(rows), iter([of_chunks(rows)]))
    connection.execute("DELETE FROM pending")
    return True


def merge(connection: sqlite3.Connection) -> bool:
    """Call it inside a transaction."""
    segments = read(connection)
    due = (
        _due(segments)
        or [segment for segment in segments if _count(connection, segment) < _LEAST_ALIVE * segment.chunks][
            :1
        ]
    )
    if due:
        _replace(connection, due)
    return bool(due)


def rewrite(connection: sqlite3.Connection) -> None:
    """Without deleted chunks, inside a transaction."""
    fold(connection, least=1)
    if segments := read(connection):
        _replace(connection, segments)


def hashes(connection: sqlite3.Connection) -> NDArray[np.uint64]:
    pending = connection.execute("SELECT id, b FROM pending ORDER BY id").fetchall()
    found = [of_chunks(pending).hashes]
    for segment in read(connection):
        alive = _alive(connection, segment)
        for number in range(segment.starts.size):
            block = read_block(connection, segment.number, number)
            found.append(block.hashes if alive.size == segment.chunks else _held(block, alive))
    return np.unique(np.concatenate(found))


def _held(block: Block, alive: NDArray[np.int64]) -> NDArray[np.uint64]:
    postings = block.postings()
    return np.unique(postings.hashes[np.isin(postings.chunks, alive)])


def _due(segments: Sequence[PostingSegment]) -> Sequence[PostingSegment]:
    total, first = 0, len(segments)
    for number in range(len(segments) - 1, -1, -1):
        if number < len(segments) - 1 and segments[number].postings > _RATIO * total:
            break
        total += segments[number].postings
        first = number
    return segments[first:] if len(segments) - first > 1 else ()


def _count(connection: sqlite3.Connection, segment: PostingSegment) -> int:
    row = connection.execute(
        "SELECT count(*) FROM code WHERE id BETWEEN ? AND ?", (segment.first, segment.last)
    ).fetchone()
    return row[0]


def _alive(connection: sqlite3.Connection, segment: PostingSegment) -> NDArray[np.int64]:
    rows = connection.execute(
        "SELECT id FROM code WHERE id BETWEEN ? AND ? ORDER BY id", (segment.first, segment.last)
    )
    return np.array(rows.fetchall(), dtype=np.int64).reshape(-1)


def _replace(connection: sqlite3.Connection, segments: Sequence[PostingSegment]) -> None:
    alive = np.concatenate([_alive(connection, segment) for segment in segments])
    if alive.size:
        parts = _joined(connection, segments, alive)
        _write(connection, (int(alive[0]), segments[-1].last), alive.size, parts)
    for segment in segments:
        connection.execute("DELETE FROM segment WHERE id = ?", (segment.number,))
        connection.execute(
            "DELETE FROM block WHERE id BETWEEN ? AND ?",
            (place_of(segment.number, 0), place_of(segment.number + 1, 0) - 1),
        )


def _joined(
    connection: sqlite3.Connection, segments: Sequence[PostingSegment], alive: NDArray[np.int64]
) -> Iterator[Postings]:
    largest = max(segments, key=lambda segment: segment.postings)
    bounds = [0, *np.unique(largest.starts[_STRIDE::_STRIDE]).tolist(), _LARGEST_HASH + 1]
    for lowest, beyond in pairwise(bounds):
        parts = [
            part
            for segment in segments
            for number in segment.blocks_between(lowest, beyond - 1)
            if len(part := _between(connection, segment, number, lowest, beyond))
        ]
        if parts:
            whole = merged(parts)
            places = np.minimum(alive.searchsorted(whole.chunks), alive.size - 1)
            yield whole.part(alive[places] == whole.chunks)


def _between(
    connection: sqlite3.Connection, segment: PostingSegment, number: int, lowest: int, beyond: int
) -> Postings:
    postings = read_block(connection, segment.number, number).postings()
    start, end = postings.hashes.searchsorted(np.array((lowest, beyond), dtype=np.uint64)).tolist()
    return postings.part(slice(start, end))


def _write(
    connection: sqlite3.Connection, span: tuple[int, int], chunks: int, parts: Iterator[Postings]
) -> None:
    segment = read_number(connection, "segment") + 1
    write(connection, "segment", segment)
    starts: list[int] = []
    postings = 0
    for start, count, content in blocks(parts):
        connection.execute("INSERT INTO block VALUES (?, ?)", (place_of(segment, len(starts)), content))
        starts.append(start)
        postings += count
    connection.execute(
        "INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?)",
        (segment, *span, chunks, postings, np.array(starts, dtype="<u8").tobytes()),
    )
