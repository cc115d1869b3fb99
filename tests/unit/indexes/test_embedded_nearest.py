"""The nearest vectors of several wordings in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded.database.schema import configure, opened, prepare
from rag_engine.indexes.embedded.vectors.dense import encoded, nearest, stored, unit, words_of
from rag_engine.indexes.embedded.vectors.recent_vectors import RecentVectors
from rag_engine.ports import IndexIdentity
from rag_engine.text.analyzer import VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator
    from pathlib import Path

    from numpy.typing import NDArray

    from rag_engine.indexes.embedded.memory import Ids

DIMENSIONS = 128
TOPICS, PER_TOPIC = 300, 20
COUNT = TOPICS * PER_TOPIC
HITS = 20


class CountedVectors(RecentVectors):
    def __init__(self) -> None:
        super().__init__(dimensions=DIMENSIONS)
        self.reads: list[int] = []

    def read(self, connection: sqlite3.Connection, ids: Ids) -> tuple[Ids, NDArray[np.int16]]:
        self.reads.append(ids.size)
        return super().read(connection, ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    ids: Ids
    codes: NDArray[np.uint64]
    vectors: CountedVectors
    mean: NDArray[np.float32] | None = None


@pytest.fixture(scope="module")
def passages() -> NDArray[np.float32]:
    random = np.random.default_rng(11)
    topics = np.repeat(random.standard_normal((TOPICS, DIMENSIONS)), PER_TOPIC, axis=0)
    return unit((topics + 0.5 * random.standard_normal((COUNT, DIMENSIONS))).astype(np.float32))


@pytest.fixture
def connection(tmp_path: Path, passages: NDArray[np.float32]) -> Generator[sqlite3.Connection]:
    path = tmp_path / "index.sqlite"
    made = opened(path)
    configure(made)
    prepare(made, path, IndexIdentity(model="m", dimensions=DIMENSIONS, analyzer=VERSION))
    made.executemany("INSERT INTO vec VALUES (?, ?)", enumerate(stored(passages), start=1))
    yield made
    made.close()


@pytest.fixture
def table(passages: NDArray[np.float32]) -> Table:
    codes = np.frombuffer(b"".join(encoded(passages, None)), dtype="<u8").reshape(COUNT, words_of(DIMENSIONS))
    return Table(ids=np.arange(COUNT) + 1, codes=np.ascontiguousarray(codes.T), vectors=CountedVectors())


def wordings(passages: NDArray[np.float32], of: int, noise: float) -> NDArray[np.float32]:
    random = np.random.default_rng(of)
    near = passages[of] + noise / np.sqrt(DIMENSIONS) * random.standard_normal((4, DIMENSIONS))
    return unit(near.astype(np.float32))


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_wordings_near_the_first_find_the_nearest_without_a_scan_of_their_own(
    connection: sqlite3.Connection, table: Table, passages: NDArray[np.float32], noise: float
) -> None:
    first, *further = wordings(passages, 40, noise)
    found = nearest(connection, table, [(first, 100), *((each, HITS) for each in further)], visible=None)
    assert len(table.vectors.reads) == 1
    for vector, (ids, scores) in zip([first, *further], found, strict=True):
        cosines = passages @ vector
        best = set((np.argsort(-cosines)[:HITS] + 1).tolist())
        assert len(best & set(ids.tolist())) >= HITS - 1
        assert np.allclose(scores, cosines[ids - 1], atol=1e-3)


def test_a_wording_far_from_the_first_is_searched_for_itself(
    connection: sqlite3.Connection, table: Table, passages: NDArray[np.float32]
) -> None:
    asked = [(passages[number], HITS) for number in (40, 2_000, 5_000)]
    found = nearest(connection, table, asked, visible=None)
    assert len(table.vectors.reads) == 3
    for (vector, _), (ids, _) in zip(asked, found, strict=True):
        best = set((np.argsort(-(passages @ vector))[:HITS] + 1).tolist())
        assert len(best & set(ids.tolist())) >= HITS - 1


def test_a_near_wording_that_wants_as_many_hits_is_searched_for_itself(
    connection: sqlite3.Connection, table: Table, passages: NDArray[np.float32]
) -> None:
    first, second, *_ = wordings(passages, 40, 0.2)
    both = nearest(connection, table, [(first, 100), (second, 100)], visible=None)
    for vector, (ids, scores) in zip((first, second), both, strict=True):
        ((alone, of_alone),) = nearest(connection, table, [(vector, 100)], visible=None)
        assert ids.tolist() == alone.tolist()
        assert scores.tolist() == of_alone.tolist()


def test_of_few_visible_passages_each_is_read_once_and_compared(
    connection: sqlite3.Connection, table: Table, passages: NDArray[np.float32]
) -> None:
    visible = np.zeros(COUNT, dtype=np.bool_)
    visible[::5] = True
    seen = np.flatnonzero(visible)
    asked = [(passages[number], HITS) for number in (40, 2_000, 5_000)]
    found = nearest(connection, table, asked, visible=visible)
    assert table.vectors.reads == [seen.size]
    for (vector, _), (ids, _) in zip(asked, found, strict=True):
        assert set(ids.tolist()) == set((seen[np.argsort(-(passages[seen] @ vector))[:HITS]] + 1).tolist())
