"""The dense leg: a scan of sign bits in memory, then exact cosines of the nearest from the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask, Snapshot
    from rag_engine.types import Vector

    Scores = NDArray[np.float64]

_SCANNED_PER_HIT = 20
"""Chunks nearest by Hamming distance that are looked at again, for each hit asked for."""
_FEWEST_SCANNED = 2_000
_RANKED_PER_HIT = 4
"""Of these, the ones whose exact cosine is computed, chosen by the query's own components against their signs."""
_FEWEST_RANKED = 400
_EXACT = 2_000
"""Up to so many chunks in view, every cosine is computed."""
_ROUNDING = 2e-3
"""More than half precision moves a cosine."""
_TINY = 1e-12
_DECIMALS = 9
"""Equal vectors get equal scores, whatever order their products were added in."""


def encoded(vectors: NDArray[np.float32], mean: NDArray[np.float32] | None) -> list[bytes]:
    """The signs of vectors round their mean, a bit each, padded to whole 64-bit words."""
    signs = (vectors if mean is None else vectors - mean) > 0
    padded = np.zeros((len(vectors), words_of(vectors.shape[1]) * 64), dtype=np.bool_)
    padded[:, : vectors.shape[1]] = signs
    return [row.tobytes() for row in np.packbits(padded, axis=1)]


def words_of(dimensions: int) -> int:
    """How many 64-bit words a code takes."""
    return -(-dimensions // 64)


def stored(vectors: NDArray[np.float32]) -> list[bytes]:
    """Vectors as they are kept in the file: half precision, which moves a cosine by less than 1e-3."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def restored(blobs: Iterable[bytes], dimensions: int) -> NDArray[np.float32]:
    """The vectors that `stored` kept, one row each."""
    return np.frombuffer(b"".join(blobs), dtype="<f2").reshape(-1, dimensions).astype(np.float32)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same vectors, exactly of unit length."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(_TINY))


def nearest(
    connection: sqlite3.Connection,
    snapshot: Snapshot,
    vector: Vector,
    *,
    mask: Mask | None,
    mean: NDArray[np.float32] | None,
    limit: int,
) -> tuple[Ids, Scores]:
    """Ids and cosines of the nearest chunks in view, in no order: `limit` of them and those that tie with the last."""
    if mask is None:
        positions = None
        count = snapshot.ids.size
    else:
        positions = np.flatnonzero(mask)
        count = positions.size
    if count > max(_EXACT, _SCANNED_PER_HIT * limit):
        positions = _shortlist(snapshot, vector, positions, mean, limit)
    elif positions is None:
        positions = np.arange(count)
    return _exact(connection, snapshot.ids[positions], vector, limit)


def _shortlist(
    snapshot: Snapshot, vector: Vector, positions: Ids | None, mean: NDArray[np.float32] | None, limit: int
) -> Ids:
    """The positions of the chunks that are likely nearest, by their codes alone."""
    codes = snapshot.codes if positions is None else snapshot.codes[:, positions]
    code = np.frombuffer(encoded(vector[np.newaxis, :], mean)[0], dtype="<u8")
    distances = np.zeros(codes.shape[1], dtype=np.uint16)
    for plane, word in zip(codes, code, strict=True):
        distances += np.bitwise_count(plane ^ word)
    scanned = _smallest(distances, max(_SCANNED_PER_HIT * limit, _FEWEST_SCANNED))
    table = _table(vector, words=len(code))
    values = np.ascontiguousarray(codes[:, scanned].T).view(np.uint8).astype(np.int32)
    estimates = table.take(values + np.arange(0, table.size, 256, dtype=np.int32)).sum(axis=1)
    ranked = scanned[_smallest(-estimates, max(_RANKED_PER_HIT * limit, _FEWEST_RANKED))]
    return ranked if positions is None else positions[ranked]


def _table(vector: Vector, *, words: int) -> NDArray[np.float32]:
    """For each byte of a code and each value of it, what these signs add to the product with `vector`."""
    padded = np.zeros(words * 64, dtype=np.float32)
    padded[: vector.size] = vector
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32) * 2 - 1
    return padded.reshape(-1, 8) @ signs.T


def _smallest(values: NDArray[np.uint16] | NDArray[np.float32], count: int) -> Ids:
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, count)[:count]


def _exact(connection: sqlite3.Connection, ids: Ids, vector: Vector, limit: int) -> tuple[Ids, Scores]:
    rows = connection.execute(
        "SELECT id, v FROM vec WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids.tolist()),)
    ).fetchall()
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    found, blobs = zip(*rows, strict=True)
    vectors = restored(blobs, vector.size)
    rough = vectors @ vector
    best = np.flatnonzero(rough >= _last(rough, limit) - _ROUNDING)
    ranked = vectors[best].astype(np.float64)
    lengths = np.sqrt(np.square(ranked).sum(axis=1))  # half precision moves them a little off one
    cosines: Scores = ranked @ vector.astype(np.float64) / np.maximum(lengths, _TINY)
    scores: Scores = cosines.round(_DECIMALS)
    kept = scores >= _last(scores, limit)
    return np.array(found, dtype=np.int64)[best][kept], scores[kept]


def _last(scores: NDArray[np.float32] | Scores, limit: int) -> float:
    """The score of the last hit asked for."""
    if scores.size <= limit:
        return float(scores.min())
    return float(np.partition(scores, scores.size - limit)[scores.size - limit])
