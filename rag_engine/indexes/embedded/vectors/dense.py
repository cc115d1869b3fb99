"""A scan of sign bits in memory, then exact cosines of the nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask
    from rag_engine.indexes.embedded.vectors.recent_vectors import RecentVectors
    from rag_engine.types import Vector

    Scores = NDArray[np.float64]

_SCANNED_PER_HIT = 20
_FEWEST_SCANNED = 2_000
_RANKED_PER_HIT = 4
"""By the query's components against signs."""
_FEWEST_RANKED = 400
_FEWEST_OF_FURTHER = 600, 120
"""Scanned, ranked: queries after the first."""
_EXACT = 2_000
"""With fewer visible chunks, every cosine is computed."""
_ROUNDING = 2e-3
"""Bound of the error of half precision."""
_MANTISSA = 13
_SIGN_AND_NUMBER = np.int32(0x8FFFE000 - 2**32)
_EXPONENT = np.float32(2.0**112)
_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[np.newaxis, :], axis=0).astype(np.float32) * 2 - 1
_TINY = 1e-12
_DECIMALS = 9
"""Equal vectors get equal scores, in any order of summation."""


class VectorTable(Protocol):
    """`codes` has the shape (words, vectors)."""

    @property
    def ids(self) -> Ids: ...
    @property
    def codes(self) -> NDArray[np.uint64]: ...
    @property
    def vectors(self) -> RecentVectors: ...
    @property
    def mean(self) -> NDArray[np.float32] | None: ...


def encoded(vectors: NDArray[np.float32], mean: NDArray[np.float32] | None) -> list[bytes]:
    """One bit each, padded to 64-bit words."""
    signs = (vectors if mean is None else vectors - mean) > 0
    padded = np.zeros((len(vectors), words_of(vectors.shape[1]) * 64), dtype=np.bool_)
    padded[:, : vectors.shape[1]] = signs
    return [row.tobytes() for row in np.packbits(padded, axis=1)]


def words_of(dimensions: int) -> int:
    return -(-dimensions // 64)


def stored(vectors: NDArray[np.float32]) -> list[bytes]:
    """Half precision changes a cosine by less than 1e-3."""
    return [row.tobytes() for row in vectors.astype("<f2")]


def restored(blobs: Iterable[bytes], dimensions: int) -> NDArray[np.float32]:
    return widened(np.frombuffer(b"".join(blobs), dtype="<i2").reshape(-1, dimensions))


def widened(halves: NDArray[np.int16]) -> NDArray[np.float32]:
    """NumPy's own conversion takes four times as long."""
    bits = halves.astype(np.int32)
    bits <<= _MANTISSA
    bits &= _SIGN_AND_NUMBER
    numbers = bits.view(np.float32)
    numbers *= _EXPONENT
    return numbers


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(_TINY))


def nearest(
    connection: sqlite3.Connection,
    table: VectorTable,
    vector: Vector,
    *,
    visible: Mask | None,
    limit: int,
    is_further: bool = False,
) -> tuple[Ids, Scores]:
    """Unordered: `limit` of them and ties with the last."""
    if visible is None:
        positions = None
        count = table.ids.size
    else:
        positions = np.flatnonzero(visible)
        count = positions.size
    if count > max(_EXACT, _SCANNED_PER_HIT * limit):
        positions = _shortlist(table, vector, positions, _scanned_and_ranked(limit, is_further=is_further))
    elif positions is None:
        positions = np.arange(count)
    return _exact(connection, table.vectors, table.ids[positions], vector, limit)


def _scanned_and_ranked(limit: int, *, is_further: bool) -> tuple[int, int]:
    scanned, ranked = _FEWEST_OF_FURTHER if is_further else (_FEWEST_SCANNED, _FEWEST_RANKED)
    return max(_SCANNED_PER_HIT * limit, scanned), max(_RANKED_PER_HIT * limit, ranked)


def _shortlist(table: VectorTable, vector: Vector, positions: Ids | None, candidates: tuple[int, int]) -> Ids:
    codes = table.codes if positions is None else table.codes[:, positions]
    code = np.frombuffer(encoded(vector[np.newaxis, :], table.mean)[0], dtype="<u8")
    distances = np.zeros(codes.shape[1], dtype=np.uint16)
    for plane, word in zip(codes, code, strict=True):
        distances += np.bitwise_count(plane ^ word)
    scanned = _nearest_codes(distances, candidates[0])
    products = _table(vector, words=len(code))
    values = np.ascontiguousarray(codes[:, scanned].T).view(np.uint8)
    # Wide integers take three times as long to add.
    starts = np.arange(0, products.size, 256, dtype=np.min_scalar_type(products.size))
    estimates = products.take(values + starts) @ np.ones(products.shape[0], dtype=np.float32)
    ranked = scanned[_largest(estimates, candidates[1])]
    return ranked if positions is None else positions[ranked]


def _table(vector: Vector, *, words: int) -> NDArray[np.float32]:
    padded = np.zeros(words * 64, dtype=np.float32)
    padded[: vector.size] = vector
    return padded.reshape(-1, 8) @ _SIGNS


def _nearest_codes(distances: NDArray[np.uint16], count: int) -> Ids:
    if distances.size <= count:
        return np.arange(distances.size)
    last = int(np.bincount(distances).cumsum().searchsorted(count))
    nearer = np.flatnonzero(distances < last)
    return np.concatenate((nearer, np.flatnonzero(distances == last)[: count - nearer.size]))


def _largest(values: NDArray[np.float32], count: int) -> Ids:
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]


def _exact(
    connection: sqlite3.Connection, recent: RecentVectors, ids: Ids, vector: Vector, limit: int
) -> tuple[Ids, Scores]:
    found, halves = recent.read(connection, np.sort(ids))
    if not found.size:
        return found, np.zeros(0)
    vectors = widened(halves)
    rough = vectors @ vector
    best = np.flatnonzero(rough >= _last(rough, limit) - _ROUNDING)
    ranked = vectors[best].astype(np.float64)
    lengths = np.sqrt(np.vecdot(ranked, ranked))  # half precision changes them slightly
    cosines: Scores = ranked @ vector.astype(np.float64) / np.maximum(lengths, _TINY)
    scores: Scores = cosines.round(_DECIMALS)
    kept = scores >= _last(scores, limit)
    return found[best][kept], scores[kept]


def _last(scores: NDArray[np.float32] | Scores, limit: int) -> float:
    if scores.size <= limit:
        return float(scores.min())
    return float(np.partition(scores, scores.size - limit)[scores.size - limit])
