"""Further vectors of chunks, hidden like their chunk."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.indexes.embedded.database.schema import read_number
from rag_engine.indexes.embedded.vectors.dense import encoded, nearest, restored, words_of
from rag_engine.indexes.embedded.vectors.recent_vectors import RecentVectors

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids, Mask, Snapshot
    from rag_engine.types import Search, Vector

_BATCH = 1_000
_ROWS = "SELECT id, chunk, kind = 'question' FROM expansion ORDER BY id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionTable:
    state: tuple[int, int]
    ids: Ids
    chunks: Ids
    """Of each vector, its chunk."""
    questions: Mask
    """False: summaries."""
    codes: NDArray[np.uint64]
    vectors: RecentVectors
    mean: NDArray[np.float32] | None
    most: int
    """Vectors of one chunk and kind."""


class Expansions:
    """Read at the first search, and after changes."""

    def __init__(self, *, dimensions: int) -> None:
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._newest: ExpansionTable | None = None

    def at(self, connection: sqlite3.Connection, snapshot: Snapshot) -> ExpansionTable:
        """Of the open transaction."""
        state = (snapshot.epoch, read_number(connection, "expansions"))
        with self._lock:
            known = self._newest
            if known is None or known.state != state:
                known = self._newest = self._read(connection, snapshot, known, state)
            return known

    def _read(
        self,
        connection: sqlite3.Connection,
        snapshot: Snapshot,
        known: ExpansionTable | None,
        state: tuple[int, int],
    ) -> ExpansionTable:
        if known is None or known.state[0] != snapshot.epoch:
            known = self._nothing(snapshot)
        rows = np.array(connection.execute(_ROWS).fetchall(), dtype=np.int64).reshape(-1, 3)
        last = int(known.ids[-1]) if known.ids.size else 0
        kept = np.flatnonzero(np.isin(known.ids, rows[:, 0]))
        pairs = rows[:, 1] * 2 + rows[:, 2]
        return ExpansionTable(
            state=state,
            ids=rows[:, 0].copy(),
            chunks=rows[:, 1].copy(),
            questions=rows[:, 2].astype(np.bool_),
            codes=np.concatenate((known.codes[:, kept], self._codes(connection, last, snapshot)), axis=1),
            vectors=known.vectors,
            mean=snapshot.mean,
            most=int(np.unique(pairs, return_counts=True)[1].max()) if pairs.size else 0,
        )

    def _codes(self, connection: sqlite3.Connection, last: int, snapshot: Snapshot) -> NDArray[np.uint64]:
        words = words_of(self._dimensions)
        parts = [np.zeros((words, 0), dtype=np.uint64)]
        while rows := connection.execute(
            "SELECT id, v FROM expansion WHERE id > ? ORDER BY id LIMIT ?", (last, _BATCH)
        ).fetchall():
            codes = encoded(restored((blob for _, blob in rows), self._dimensions), snapshot.mean)
            parts.append(np.frombuffer(b"".join(codes), dtype="<u8").reshape(len(rows), words).T)
            last = rows[-1][0]
        return np.concatenate(parts, axis=1)

    def _nothing(self, snapshot: Snapshot) -> ExpansionTable:
        none = np.zeros(0, dtype=np.int64)
        return ExpansionTable(
            state=(snapshot.epoch, -1),
            ids=none,
            chunks=none,
            questions=none.astype(np.bool_),
            codes=np.zeros((words_of(self._dimensions), 0), dtype=np.uint64),
            vectors=RecentVectors(dimensions=self._dimensions, table="expansion"),
            mean=snapshot.mean,
            most=0,
        )


def nearest_origins(
    connection: sqlite3.Connection,
    table: ExpansionTable,
    snapshot: Snapshot,
    search: Search,
    vector: Vector,
    *,
    visible: Mask,
) -> dict[int, float]:
    """The best cosine of each chunk: `search.limit` chunks and ties with the last."""
    seen = np.append(visible, False)[snapshot.positions(table.chunks)]
    seen &= table.questions == (search.expansion == "question")
    ((ids, scores),) = nearest(connection, table, [(vector, search.limit * max(table.most, 1))], visible=seen)
    best: dict[int, float] = {}
    for chunk, score in zip(
        table.chunks[np.searchsorted(table.ids, ids)].tolist(), scores.tolist(), strict=True
    ):
        best[chunk] = max(score, best.get(chunk, score))
    if len(best) > search.limit:
        last = sorted(best.values(), reverse=True)[search.limit - 1]
        best = {chunk: score for chunk, score in best.items() if score >= last}
    return best
