"""A scan of sign bits in memory, then exact cosines of the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag_engine.retrieval.ranking.near_wordings import are_near_first

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

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
_SHARED_PER_HIT = 20
_EXACT = 2_000
"""With fewer visible chunks, every cosine is computed."""
_ROUNDING = 2e-3
"""Half precision's largest error."""
_MANTISSA = 13
_SIGN_AND_NUMBER = np.int32(0x8FFFE000 - 2**32)
_EXPONENT = np.float32(2.0**112)
_WORDS_A_BYTE = 255 // 64
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
    asked: Sequence[tuple[Vector, int]],
    *,
    visible: Mask | None,
) -> list[tuple[Ids, Scores]]:
    """Unordered, with ties with the last. Vectors near the first share its candidates."""
    positions = None if visible is None else np.flatnonzero(visible)
    count = table.ids.size if positions is None else positions.size
    if count <= max(_EXACT, _SCANNED_PER_HIT * max(limit for _, limit in asked)):
        every = _read(connection, table, np.arange(count) if positions is None else positions)
        return [_exact(every, vector, limit) for vector, limit in asked]
    codes = table.codes if positions is None else table.codes[:, positions]
    vectors = np.array([vector for vector, _ in asked])
    wanted = np.frombuffer(b"".join(encoded(vectors, table.mean)), dtype="<u8").reshape(len(asked), -1)
    are_near = are_near_first(vectors, table.mean).tolist()
    first: _Candidates | None = None
    found: list[tuple[Ids, Scores]] = []
    for (vector, limit), code, is_near in zip(asked, wanted, are_near, strict=True):
        if first is not None and is_near and _SHARED_PER_HIT * limit <= first.ids.size:
            candidates = first
        else:
            most = _scanned_and_ranked(limit, is_further=first is not None)
            near = _shortlist(codes, code, vector, most)
            candidates = _read(connection, table, near if positions is None else positions[near])
            first = first or candidates
        found.append(_exact(candidates, vector, limit))
    return found


@dataclass(frozen=True, slots=True)
class _Candidates:
    ids: Ids
    vectors: NDArray[np.float32]


def _scanned_and_ranked(limit: int, *, is_further: bool) -> tuple[int, int]:
    scanned, ranked = _FEWEST_OF_FURTHER if is_further else (_FEWEST_SCANNED, _FEWEST_RANKED)
    return max(_SCANNED_PER_HIT * limit, scanned), max(_RANKED_PER_HIT * limit, ranked)


def _shortlist(
    codes: NDArray[np.uint64], code: NDArray[np.uint64], vector: Vector, candidates: tuple[int, int]
) -> Ids:
    scanned = _nearest_codes(_distances(codes, code), candidates[0])
    products = _table(vector, words=len(code))
    values = np.ascontiguousarray(codes[:, scanned].T).view(np.uint8)
    # Wide integers take three times as long to add.
    starts = np.arange(0, products.size, 256, dtype=np.min_scalar_type(products.size))
    estimates = products.take(values + starts, mode="clip") @ np.ones(products.shape[0], dtype=np.float32)
    return np.sort(scanned[_largest(estimates, candidates[1])])


def _distances(codes: NDArray[np.uint64], code: NDArray[np.uint64]) -> NDArray[np.uint16]:
    distances = np.zeros(codes.shape[1], dtype=np.uint16)
    differing = np.empty(codes.shape[1], dtype=np.uint64)
    for start in range(0, len(code), _WORDS_A_BYTE):
        counted = np.zeros(codes.shape[1], dtype=np.uint8)
        for plane, word in zip(codes[start : start + _WORDS_A_BYTE], code[start:], strict=False):
            counted += np.bitwise_count(np.bitwise_xor(plane, word, out=differing))
        distances += counted
    return distances


def _table(vector: Vector, *, words: int) -> NDArray[np.float32]:
    padded = np.zeros(words * 64, dtype=np.float32)
    padded[: vector.size] = vector
    return padded.reshape(-1, 8) @ _SIGNS


def _nearest_codes(distances: NDArray[np.uint16], count: int) -> Ids:
    if distances.size <= count:
        return np.arange(distances.size)
    last = np.partition(distances.astype(np.int32), count - 1)[count - 1]
    near = np.flatnonzero(distances <= last)
    if near.size == count:
        return near
    at_last = distances[near] == last
    return near[~at_last | (at_last.cumsum() <= count - near.size + at_last.sum())]


def _largest(values: NDArray[np.float32], count: int) -> Ids:
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]


def _read(connection: sqlite3.Connection, table: VectorTable, places: Ids) -> _Candidates:
    ids, halves = table.vectors.read(connection, table.ids[places])
    return _Candidates(ids, widened(halves))


def _exact(candidates: _Candidates, vector: Vector, limit: int) -> tuple[Ids, Scores]:
    if not candidates.ids.size:
        return candidates.ids, np.zeros(0)
    rough = candidates.vectors @ vector
    best = np.flatnonzero(rough >= _last(rough, limit) - _ROUNDING)
    ranked = candidates.vectors[best].astype(np.float64)
    lengths = np.sqrt(np.vecdot(ranked, ranked))
    cosines: Scores = ranked @ vector.astype(np.float64) / np.maximum(lengths, _TINY)
    scores: Scores = cosines.round(_DECIMALS)
    kept = scores >= _last(scores, limit)
    return candidates.ids[best][kept], scores[kept]


def _last(scores: NDArray[np.float32] | Scores, limit: int) -> float:
    if scores.size <= limit:
        return float(scores.min())
    return float(np.partition(scores, scores.size - limit)[scores.size - limit])
