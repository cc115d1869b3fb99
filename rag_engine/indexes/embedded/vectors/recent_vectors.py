from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    Ids = NDArray[np.int64]
    Halves = NDArray[np.int16]

_MOST_BYTES = 24_000_000
_HALF = 2
_BATCH = 1_000


class RecentVectors:
    """By an id that is never reused. Safe for several threads."""

    def __init__(self, *, dimensions: int, most_bytes: int = _MOST_BYTES, table: str = "vec") -> None:
        self._table = table
        self._slots = max(most_bytes // (_HALF * dimensions), 1)
        self._vectors: Halves = np.empty((self._slots, dimensions), dtype="<i2")
        self._owners: Ids = np.zeros(self._slots, dtype=np.int64)
        self._lock = threading.Lock()

    def read(self, connection: sqlite3.Connection, ids: Ids) -> tuple[Ids, Halves]:
        """Half-precision vectors as integers."""
        slots = ids % self._slots
        with self._lock:
            vectors = self._vectors[slots]
            known = self._owners[slots] == ids
        if known.all():
            return ids, vectors
        missing = np.flatnonzero(~known)
        rows = connection.execute(
            f"SELECT stored.id, v FROM json_each(?) AS wanted CROSS JOIN {self._table} AS stored"  # noqa: S608
            " ON stored.id = wanted.value",
            (json.dumps(ids[missing].tolist()),),
        ).fetchall()
        if rows:
            found, read = self._stored(rows)
            places = missing[np.isin(ids[missing], found)]
            vectors[places] = read
            known[places] = True
        return (ids, vectors) if known.all() else (ids[known], vectors[known])

    def fill(self, connection: sqlite3.Connection) -> None:
        row = connection.execute(
            f"SELECT id FROM {self._table} ORDER BY id DESC LIMIT 1 OFFSET ?",  # noqa: S608
            (self._slots,),
        ).fetchone()
        last = row[0] if row else 0
        while rows := connection.execute(
            f"SELECT id, v FROM {self._table} WHERE id > ? ORDER BY id LIMIT ?",  # noqa: S608
            (last, _BATCH),
        ).fetchall():
            self._stored(rows)
            last = rows[-1][0]

    def _stored(self, rows: list[tuple[int, bytes]]) -> tuple[Ids, Halves]:
        found, blobs = zip(*rows, strict=True)
        ids = np.array(found, dtype=np.int64)
        vectors = np.frombuffer(b"".join(blobs), dtype="<i2").reshape(len(rows), -1)
        slots = ids % self._slots
        with self._lock:
            self._vectors[slots] = vectors
            self._owners[slots] = ids
        return ids, vectors
