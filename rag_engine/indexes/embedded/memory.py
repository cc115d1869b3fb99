"""What is searched per chunk, with the postings of the newest. A `Snapshot` is immutable."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_engine.indexes.embedded.database.schema import mean_of, read_number
from rag_engine.indexes.embedded.postings.segments import BlockCache, StoredPostings
from rag_engine.indexes.embedded.postings.vocabulary import Vocabulary
from rag_engine.indexes.embedded.recent_values import RecentValues
from rag_engine.indexes.embedded.vectors.expansions import Expansions
from rag_engine.indexes.embedded.vectors.recent_vectors import RecentVectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.postings.best_matches import Visible
    from rag_engine.types import KnowledgeBaseId

    Ids: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

RETAINED_VERSIONS = 4096

_GROWTH = 1.25
_FIRST_CAPACITY = 1024
_FEW_DEAD = 1024
_SPARSE = 16
_BYTES_OF_TERMS = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAudience:
    visible: Mask
    """One more than chunks: False, for position -1."""
    is_everything: bool
    chunks: int
    tokens: int
    mark: object = field(default_factory=object)
    """Unique."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Of one version, oldest first, including dead chunks."""

    version: int
    epoch: int
    """Rises when all codes are recomputed or words erased."""
    ids: Ids
    bases: NDArray[np.int32]
    lengths: NDArray[np.int32]
    codes: NDArray[np.uint64]
    """Shape (words, chunks), in scan order."""
    alive: Mask
    stored: StoredPostings
    cache: BlockCache
    vocabulary: Vocabulary
    vectors: RecentVectors
    terms: RecentValues[tuple[object, str], Visible]
    """By the mark of their audience."""
    mean: NDArray[np.float32] | None
    names: dict[int, KnowledgeBaseId] = field(default_factory=dict[int, "KnowledgeBaseId"])
    audiences: dict[frozenset[str], SearchAudience] = field(
        default_factory=dict[frozenset[str], "SearchAudience"]
    )
    selections: dict[tuple[frozenset[str], frozenset[str]], Mask] = field(
        default_factory=dict[tuple[frozenset[str], frozenset[str]], "Mask"]
    )
    """By knowledge bases and documents."""
    _places: list[NDArray[np.int32]] = field(default_factory=list["NDArray[np.int32]"])

    def audience(self, bases: Sequence[int]) -> SearchAudience:
        selected = np.zeros(max(self._last_base, *bases) + 1, dtype=np.bool_)
        selected[list(bases)] = True
        visible = np.append(selected[self.bases] & self.alive, False)
        return SearchAudience(
            visible=visible,
            is_everything=bool(visible[:-1].all()),
            chunks=int(visible.sum()),
            tokens=int(self.lengths[visible[:-1]].sum(dtype=np.int64)),
        )

    @property
    def has_no_gaps(self) -> bool:
        return bool(self.ids.size) and int(self.ids[-1]) - int(self.ids[0]) + 1 == self.ids.size

    @property
    def _last_base(self) -> int:
        return int(self.bases.max()) if self.bases.size else 0

    def positions(self, ids: Ids) -> Ids:
        """-1 for unknown ids."""
        if not self.ids.size:
            return np.full(ids.size, -1)
        first, last = int(self.ids[0]), int(self.ids[-1])
        if self.has_no_gaps and ids.size and int(ids.min()) >= first and int(ids.max()) <= last:
            return ids - first
        inside = (ids >= first) & (ids <= last)
        if self.has_no_gaps:
            return np.where(inside, ids - first, -1)
        if last - first > _SPARSE * self.ids.size + _FIRST_CAPACITY:
            found = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
            return np.where(self.ids[found] == ids, found, -1)
        if not self._places:
            places = np.full(last - first + 2, -1, dtype=np.int32)
            places[self.ids - first] = np.arange(self.ids.size, dtype=np.int32)
            self._places.append(places)
        return self._places[0][np.where(inside, ids - first, -1)].astype(np.int64)


class Memory:
    def __init__(self, *, words: int, dimensions: int) -> None:
        self._lock = threading.Lock()
        self._dimensions = dimensions
        self._buffers = _Buffers(words=words, capacity=_FIRST_CAPACITY)
        self._vectors = RecentVectors(dimensions=dimensions)
        self._mean: NDArray[np.float32] | None = None
        self._newest: Snapshot | None = None
        self._cache = BlockCache()
        self._vocabulary = Vocabulary()
        self._terms: RecentValues[tuple[object, str], Visible] = RecentValues(most_bytes=_BYTES_OF_TERMS)
        self.expansions = Expansions(dimensions=dimensions)

    def at(self, connection: sqlite3.Connection) -> Snapshot | None:
        """None if a newer one was served: begin the transaction again."""
        version, epoch = read_number(connection, "version"), read_number(connection, "epoch")
        with self._lock:
            newest = self._newest
            if newest is not None and newest.version > version:
                return None
            if newest is None or newest.epoch != epoch or version - newest.version > RETAINED_VERSIONS:
                newest = self._loaded(connection, version, epoch)
            elif newest.version < version:
                newest = self._advanced(connection, newest, version)
            self._newest = newest
            return newest

    def fill(self, connection: sqlite3.Connection) -> None:
        self._vectors.fill(connection)

    def _loaded(self, connection: sqlite3.Connection, version: int, epoch: int) -> Snapshot:
        rows = connection.execute("SELECT id, base, length, b FROM code ORDER BY id").fetchall()
        count = len(rows)
        buffers = _Buffers(words=self._buffers.words, capacity=max(int(count * _GROWTH), _FIRST_CAPACITY))
        buffers.append(0, rows)
        self._buffers = buffers
        # Segments and words are numbered again.
        self._cache, self._vocabulary = BlockCache(), Vocabulary()
        self._vectors, self._mean = RecentVectors(dimensions=self._dimensions), mean_of(connection)
        stored = StoredPostings(segments=(), newest=()).advanced(connection, last=0)
        return self._snapshot(count, np.ones(count, dtype=np.bool_), stored, version=version, epoch=epoch)

    def _advanced(self, connection: sqlite3.Connection, old: Snapshot, version: int) -> Snapshot:
        last = int(old.ids[-1]) if old.ids.size else 0
        rows = connection.execute(
            "SELECT id, base, length, b FROM code WHERE id > ? ORDER BY id", (last,)
        ).fetchall()
        gone = connection.execute("SELECT id FROM deleted WHERE version > ?", (old.version,)).fetchall()
        alive = np.concatenate((old.alive, np.ones(len(rows), dtype=np.bool_)))
        if gone:
            places = old.positions(np.array(gone, dtype=np.int64)[:, 0])
            alive[places[places >= 0]] = False
        count = old.ids.size + len(rows)
        if count > self._buffers.capacity:
            self._buffers = self._buffers.copied(old.ids.size, capacity=int(count * _GROWTH))
        self._buffers.append(old.ids.size, rows)
        if alive.size - alive.sum() > max(_FEW_DEAD, count // 4):
            self._buffers = self._buffers.compacted(alive)
            count = int(alive.sum())
            alive = np.ones(count, dtype=np.bool_)
        stored = old.stored.advanced(connection, last=last)
        return self._snapshot(count, alive, stored, version=version, epoch=old.epoch)

    def _snapshot(
        self, count: int, alive: Mask, stored: StoredPostings, *, version: int, epoch: int
    ) -> Snapshot:
        buffers = self._buffers
        return Snapshot(
            version=version,
            epoch=epoch,
            ids=buffers.ids[:count],
            bases=buffers.bases[:count],
            lengths=buffers.lengths[:count],
            codes=buffers.codes[:, :count],
            alive=alive,
            stored=stored,
            cache=self._cache,
            vocabulary=self._vocabulary,
            vectors=self._vectors,
            terms=self._terms,
            mean=self._mean,
        )


class _Buffers:
    def __init__(self, *, words: int, capacity: int) -> None:
        self.words = words
        self.capacity = capacity
        self.ids = np.zeros(capacity, dtype=np.int64)
        self.bases = np.zeros(capacity, dtype=np.int32)
        self.lengths = np.zeros(capacity, dtype=np.int32)
        self.codes = np.zeros((words, capacity), dtype=np.uint64)

    def append(self, start: int, rows: list[tuple[int, int, int, bytes]]) -> None:
        if not rows:
            return
        part = slice(start, start + len(rows))
        ids, bases, lengths, codes = zip(*rows, strict=True)
        self.ids[part] = ids
        self.bases[part] = bases
        self.lengths[part] = lengths
        self.codes[:, part] = np.frombuffer(b"".join(codes), dtype="<u8").reshape(len(rows), self.words).T

    def copied(self, count: int, *, capacity: int) -> _Buffers:
        return self._picked(np.arange(count), capacity=capacity)

    def compacted(self, alive: Mask) -> _Buffers:
        kept = np.flatnonzero(alive)
        return self._picked(kept, capacity=max(int(kept.size * _GROWTH), _FIRST_CAPACITY))

    def _picked(self, positions: Ids, *, capacity: int) -> _Buffers:
        made = _Buffers(words=self.words, capacity=capacity)
        count = positions.size
        made.ids[:count] = self.ids[positions]
        made.bases[:count] = self.bases[positions]
        made.lengths[:count] = self.lengths[positions]
        made.codes[:, :count] = self.codes[:, positions]
        return made
