"""What is kept in memory of the index file: for each chunk its knowledge base, its length and the signs of its vector.

A `Snapshot` never changes, so a search that holds one is not disturbed by a write. It carries the `version` of the file it was
read at; `Memory.at` brings it to the version that a reader's transaction sees, by the rows and deletions since, whichever process
wrote them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rag_engine.indexes.embedded.schema import read_number

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]
    Mask: TypeAlias = NDArray[np.bool_]

KEPT_VERSIONS = 4096
"""How many versions back deletions are remembered; an older snapshot is read anew."""

_GROWTH = 1.25
_FIRST_CAPACITY = 1024
_FEW_DEAD = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may see what: the numbers of the knowledge bases, and which chunks are alive and of these; None for all chunks."""

    bases: tuple[int, ...]
    mask: Mask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The chunks of one version of the index file, oldest first; all arrays have one entry per chunk, dead ones included."""

    version: int
    epoch: int
    """Raised when all codes were made anew."""
    ids: Ids
    bases: NDArray[np.int32]
    lengths: NDArray[np.int32]
    codes: NDArray[np.uint64]
    """Shape (words, chunks): plane by plane, as they are scanned."""
    alive: Mask
    live: int
    """Chunks alive."""
    tokens: int
    """Tokens of all chunks alive."""
    frequencies: dict[str, int] = field(default_factory=dict[str, int])
    """Document frequencies already looked up at this version."""
    audiences: dict[frozenset[str], Audience] = field(default_factory=dict[frozenset[str], "Audience"])
    """Audiences already worked out at this version."""

    def audience(self, bases: tuple[int, ...]) -> Audience:
        """What these knowledge bases may show, of which there is at least one."""
        wanted = np.zeros(max(self._last_base, *bases) + 1, dtype=np.bool_)
        wanted[list(bases)] = True
        mask = wanted[self.bases]
        if self.live < self.ids.size:
            return Audience(bases=bases, mask=mask & self.alive)
        return Audience(bases=bases, mask=None if mask.all() else mask)

    @property
    def _last_base(self) -> int:
        return int(self.bases.max()) if self.bases.size else 0

    def positions(self, ids: Ids) -> Ids:
        """Where these ids stand in the arrays; ids that are not there are left out."""
        if not self.ids.size:
            return np.zeros(0, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
        return found[self.ids[found] == ids]


class Memory:
    """The newest snapshot that any reader has asked for."""

    def __init__(self, *, words: int) -> None:
        self._lock = threading.Lock()
        self._buffers = _Buffers(words=words, capacity=_FIRST_CAPACITY)
        self._newest: Snapshot | None = None

    def at(self, connection: sqlite3.Connection) -> Snapshot | None:
        """The snapshot of the connection's open transaction; None when that is older than one already served.

        In that case begin the transaction again: the newer version is committed, so it will be seen.
        """
        version, epoch = read_number(connection, "version"), read_number(connection, "epoch")
        with self._lock:
            newest = self._newest
            if newest is not None and newest.version > version:
                return None
            if newest is None or newest.epoch != epoch or version - newest.version > KEPT_VERSIONS:
                newest = self._loaded(connection, version, epoch)
            elif newest.version < version:
                newest = self._advanced(connection, newest, version)
            self._newest = newest
            return newest

    def _loaded(self, connection: sqlite3.Connection, version: int, epoch: int) -> Snapshot:
        rows = connection.execute("SELECT id, base, length, b FROM code ORDER BY id").fetchall()
        count = len(rows)
        buffers = _Buffers(words=self._buffers.words, capacity=max(int(count * _GROWTH), _FIRST_CAPACITY))
        buffers.append(0, rows)
        self._buffers = buffers
        return buffers.snapshot(count, np.ones(count, dtype=np.bool_), version=version, epoch=epoch)

    def _advanced(self, connection: sqlite3.Connection, old: Snapshot, version: int) -> Snapshot:
        last = int(old.ids[-1]) if old.ids.size else 0
        rows = connection.execute(
            "SELECT id, base, length, b FROM code WHERE id > ? ORDER BY id", (last,)
        ).fetchall()
        gone = connection.execute("SELECT id FROM deleted WHERE version > ?", (old.version,)).fetchall()
        alive = np.concatenate((old.alive, np.ones(len(rows), dtype=np.bool_)))
        if gone:
            alive[old.positions(np.array(gone, dtype=np.int64)[:, 0])] = False
        count = old.ids.size + len(rows)
        if count > self._buffers.capacity:
            self._buffers = self._buffers.copied(old.ids.size, capacity=int(count * _GROWTH))
        self._buffers.append(old.ids.size, rows)
        if alive.size - alive.sum() > max(_FEW_DEAD, count // 4):
            self._buffers = self._buffers.compacted(alive)
            count = int(alive.sum())
            alive = np.ones(count, dtype=np.bool_)
        return self._buffers.snapshot(count, alive, version=version, epoch=old.epoch)


class _Buffers:
    """Arrays with room to grow. Snapshots are views of their filled part; only what lies past every view is written."""

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

    def snapshot(self, count: int, alive: Mask, *, version: int, epoch: int) -> Snapshot:
        lengths = self.lengths[:count]
        return Snapshot(
            version=version,
            epoch=epoch,
            ids=self.ids[:count],
            bases=self.bases[:count],
            lengths=lengths,
            codes=self.codes[:, :count],
            alive=alive,
            live=int(alive.sum()),
            tokens=int(lengths[alive].sum(dtype=np.int64)),
        )

    def _picked(self, positions: Ids, *, capacity: int) -> _Buffers:
        made = _Buffers(words=self.words, capacity=capacity)
        count = positions.size
        made.ids[:count] = self.ids[positions]
        made.bases[:count] = self.bases[positions]
        made.lengths[:count] = self.lengths[positions]
        made.codes[:, :count] = self.codes[:, positions]
        return made
