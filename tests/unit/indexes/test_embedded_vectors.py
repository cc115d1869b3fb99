"""Vectors that stay in memory are those of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded.database.schema import configure, opened, prepare
from rag_engine.indexes.embedded.vectors.dense import stored, widened
from rag_engine.indexes.embedded.vectors.recent_vectors import RecentVectors
from tests.faults.put_documents import IDENTITY

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator
    from pathlib import Path

    from numpy.typing import NDArray

COUNT = 60
BYTES = 2 * IDENTITY.dimensions


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    drawn = np.random.default_rng(3).standard_normal((COUNT, IDENTITY.dimensions))
    return drawn.astype(np.float16).astype(np.float32)


@pytest.fixture
def connection(tmp_path: Path, vectors: NDArray[np.float32]) -> Generator[sqlite3.Connection]:
    path = tmp_path / "index.sqlite"
    made = opened(path)
    configure(made)
    prepare(made, path, IDENTITY)
    made.executemany("INSERT INTO vec VALUES (?, ?)", enumerate(stored(vectors), start=1))
    yield made
    made.close()


@pytest.mark.parametrize("slots", [1, 7, COUNT, 10 * COUNT])
def test_every_read_gives_the_vectors_of_the_file(
    connection: sqlite3.Connection, vectors: NDArray[np.float32], slots: int
) -> None:
    recent = RecentVectors(dimensions=IDENTITY.dimensions, most_bytes=slots * BYTES)
    random = np.random.default_rng(slots)
    for _ in range(20):
        ids = np.sort(random.choice(COUNT, size=15, replace=False)) + 1
        found, halves = recent.read(connection, ids)
        assert found.tolist() == ids.tolist()
        assert np.array_equal(widened(halves), vectors[ids - 1])


def test_ids_that_the_file_lacks_are_left_out(
    connection: sqlite3.Connection, vectors: NDArray[np.float32]
) -> None:
    recent = RecentVectors(dimensions=IDENTITY.dimensions)
    for _ in range(2):
        found, halves = recent.read(connection, np.array([2, 5, COUNT + 4]))
        assert found.tolist() == [2, 5]
        assert np.array_equal(widened(halves), vectors[[1, 4]])
    found, halves = recent.read(connection, np.array([COUNT + 4]))
    assert found.size == len(halves) == 0


def test_after_filling_the_newest_need_no_read(
    connection: sqlite3.Connection, vectors: NDArray[np.float32]
) -> None:
    recent = RecentVectors(dimensions=IDENTITY.dimensions, most_bytes=20 * BYTES)
    recent.fill(connection)
    connection.execute("DELETE FROM vec")
    found, halves = recent.read(connection, np.array([1, 40, 41, 50, 60]))
    assert found.tolist() == [41, 50, 60]
    assert np.array_equal(widened(halves), vectors[[40, 49, 59]])
