"""The embedded index: its file, memory, and large contents."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.errors import IndexUnavailable, Misconfigured, RagError, SchemaMismatch
from rag_engine.indexes.embedded import Settings, connect
from rag_engine.indexes.embedded.database.schema import read_number
from rag_engine.indexes.embedded.errors import translate_errors
from rag_engine.ports import IndexIdentity
from rag_engine.text.analyzer import VERSION, query_tokens
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.types import Vector

DIMENSIONS = 100
IDENTITY = IndexIdentity(model="test@fp32", dimensions=DIMENSIONS, analyzer=VERSION)
BASE = KnowledgeBaseId("kb")


def opened(directory: Path, identity: IndexIdentity = IDENTITY) -> AbstractAsyncContextManager[EmbeddedIndex]:
    return connect(Settings(), data_dir=directory, identity=identity)


def document(name: str) -> Document:
    return Document(
        id=DocumentId(name), knowledge_base=BASE, title="", uri="", media_type="text/plain", digest=""
    )


def clustered(count: int, *, seed: int, offset: float = 0.0) -> list[Vector]:
    """Unit vectors around 40 centres, off the origin as many models' vectors are."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((40, DIMENSIONS))
    vectors = (
        centres[random.integers(40, size=count)] + 0.7 * random.standard_normal((count, DIMENSIONS)) + offset
    )
    return list((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))


def pairs(name: str, texts: list[str], vectors: list[Vector]) -> list[tuple[Chunk, Vector]]:
    of = document(name)
    return [
        (
            Chunk(
                id=ChunkId(f"{name}-{ordinal:05}"),
                document=of.id,
                knowledge_base=BASE,
                ordinal=ordinal,
                text=text,
                language="en",
            ),
            vector,
        )
        for ordinal, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]


async def put(index: EmbeddedIndex, name: str, texts: list[str], vectors: list[Vector]) -> None:
    await index.put(document(name), pairs(name, texts, vectors))


async def words(index: EmbeddedIndex, question: str, *, limit: int = 10) -> list[str]:
    search = Search(
        leg="lexical", knowledge_bases=frozenset({BASE}), limit=limit, tokens=query_tokens(question)
    )
    (ranking,) = await index.search([search])
    return [hit.chunk.text for hit in ranking.hits]


async def meanings(index: EmbeddedIndex, vector: Vector, *, limit: int = 10) -> list[str]:
    (ranking,) = await index.search(
        [Search(leg="dense", knowledge_bases=frozenset({BASE}), limit=limit, vector=vector)]
    )
    return [hit.chunk.id for hit in ranking.hits]


async def recall(index: EmbeddedIndex, vectors: list[Vector], *, offset: float) -> float:
    matrix = np.array(vectors)
    found = 0
    for query in clustered(50, seed=99, offset=offset):
        exact = {f"d-{place:05}" for place in np.argsort(-(matrix @ query))[:10]}
        found += len(exact & set(await meanings(index, query)))
    return found / 500


async def test_codes_of_an_index_of_an_earlier_version_are_listed(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["The pump AX-204 is blue"], clustered(1, seed=1, offset=0.0))
    with closing(sqlite3.connect(tmp_path / Settings().file)) as connection, connection:
        connection.execute("DELETE FROM word WHERE t LIKE '%204'")
        connection.execute("DELETE FROM kv WHERE k = 'codes_listed'")
    search = Search(leg="lexical", knowledge_bases=frozenset({BASE}), limit=10, names=(("ax240",),))
    async with opened(tmp_path):
        pass
    async with opened(tmp_path) as index:
        (ranking,) = await index.search([search])
        assert [hit.chunk.id for hit in ranking.hits] == ["d-00000"]


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 2.0])
async def test_the_dense_leg_finds_what_an_exact_scan_finds(tmp_path: Path, offset: float) -> None:
    vectors = clustered(6_000, seed=1, offset=offset)
    async with opened(tmp_path) as index:
        await put(index, "d", ["text"] * len(vectors), vectors)
        await index.count(BASE)
    async with opened(tmp_path) as index:
        assert await recall(index, vectors, offset=offset) >= 0.99


async def test_the_lexical_leg_of_a_large_index_finds_rare_and_common_words(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    texts = [" ".join(f"common{word}" for word in random.integers(0, 8, 12)) for _ in range(6_000)]
    texts[1234] += " needle"
    async with opened(tmp_path) as index:
        await put(index, "d", texts, clustered(len(texts), seed=3))
        assert (await words(index, "needle common1 common2"))[0] == texts[1234]
        assert len(await words(index, "common1 common2", limit=300)) == 300
        assert (await words(index, "neddle common3"))[0] == texts[1234]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("adress", "address"),
        ("reimbursment", "reimbursement"),
        ("vacatoin", "vacation"),
        ("projetc", "project"),
        ("Kündigungsfirst", "Kündigungsfrist"),
    ],
)
async def test_a_word_that_no_chunk_has_is_replaced_by_the_nearest(
    tmp_path: Path, typed: str, meant: str
) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", [f"about {meant}", "about vaccines", "about cables"], clustered(3, seed=1))
        assert (await words(index, typed))[:1] == [f"about {meant}"]
        assert await words(index, "zzzzzz") == []


async def test_a_word_that_is_there_is_not_corrected(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["about horses", "about houses"], clustered(2, seed=1))
        assert await words(index, "horse") == ["about horses"]


async def test_many_changes_are_seen_and_the_memory_is_compacted(tmp_path: Path) -> None:
    vectors = clustered(700, seed=4)
    async with opened(tmp_path) as index, opened(tmp_path) as other:
        gone = "zero"
        for turn in ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"):
            await put(index, "d", [f"{turn} text"] * len(vectors), vectors)
            for handle in (index, other):
                assert len(await words(handle, turn, limit=1_000)) == 700
                assert (await meanings(handle, vectors[5], limit=1)) == ["d-00005"]
                assert await words(handle, gone) == []
            gone = turn


async def test_documents_put_at_once_share_few_transactions(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        vectors = clustered(64, seed=2)
        await asyncio.gather(
            *(put(index, str(number), ["words"], [vector]) for number, vector in enumerate(vectors))
        )
        assert await index.count(BASE) == 64
        # Each transaction that changes something increments the version.
        with closing(sqlite3.connect(tmp_path / "index.sqlite")) as connection:
            assert read_number(connection, "version") < 8


async def test_an_inconsistent_file_is_repaired_at_opening(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["red apple", "green pear"], clustered(2, seed=1))
    file = sqlite3.connect(tmp_path / "index.sqlite")
    file.execute("DELETE FROM code WHERE id = 1")
    file.execute("DELETE FROM pending WHERE id = 2")
    file.commit()
    file.close()
    async with opened(tmp_path) as index:
        assert await words(index, "apple") == ["red apple"]
        assert await words(index, "pears") == ["green pear"]
        assert len(await meanings(index, clustered(1, seed=1)[0])) == 2


async def failure(directory: Path) -> RagError:
    with pytest.raises(RagError) as caught:
        async with opened(directory):
            pass
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return caught.value


def damage(path: Path) -> None:
    path.write_bytes(b"this is no database at all " * 1000)


def newer(path: Path) -> None:
    file = sqlite3.connect(path)
    file.execute("PRAGMA user_version=99")
    file.close()


def foreign(path: Path) -> None:
    path.unlink()
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE theirs(a)")
    file.close()


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (damage, Misconfigured, "footnote kb reindex --all"),
        (newer, SchemaMismatch, "newer version"),
        (foreign, Misconfigured, "another program"),
        (folder, Misconfigured, "cannot be written"),
    ],
)
async def test_a_file_that_cannot_be_used_is_reported_in_one_sentence(
    tmp_path: Path, spoil: Callable[[Path], None], error: type[RagError], says: str
) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["apple"], clustered(1, seed=1))
    spoil(tmp_path / "index.sqlite")
    told = await failure(tmp_path)
    assert isinstance(told, error)
    assert says in str(told)


async def test_a_foreign_file_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.touch()
    foreign(path)
    before = path.read_bytes()
    await failure(tmp_path)
    assert path.read_bytes() == before
    assert names_in(tmp_path) == ["index.sqlite"]


def names_in(directory: Path) -> list[str]:
    return [each.name for each in directory.iterdir()]


async def test_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x", encoding="utf-8")
    assert isinstance(await failure(tmp_path / "data"), Misconfigured)


async def test_an_index_locked_by_another_program_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["apple"], clustered(1, seed=1))
        file = sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)
        file.execute("BEGIN EXCLUSIVE")
        try:
            assert await words(index, "apple") == ["apple"]
        finally:
            file.execute("ROLLBACK")
            file.close()


async def test_damage_while_it_is_open_is_unavailable(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, "d", ["apple"], clustered(1, seed=1))
        file = sqlite3.connect(tmp_path / "index.sqlite")
        file.execute("DROP TABLE chunk")
        file.commit()
        file.close()
        with pytest.raises(IndexUnavailable):
            await words(index, "apple")
        with pytest.raises(IndexUnavailable):
            await put(index, "e", ["pear"], clustered(1, seed=1))


async def test_vectors_of_another_size_are_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        with pytest.raises(SchemaMismatch, match="dimensions"):
            await put(index, "d", ["apple"], [np.ones(7, dtype=np.float32)])
        assert await index.count(BASE) == 0


async def test_a_closed_index_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        pass
    with pytest.raises(IndexUnavailable, match="closed"):
        await index.count(BASE)


@pytest.mark.slow
async def test_neither_writing_nor_searching_holds_the_event_loop(tmp_path: Path) -> None:
    vectors = clustered(3_000, seed=5)
    random = np.random.default_rng(6)
    texts = [" ".join(f"word{word}" for word in random.integers(0, 3_000, 80)) for _ in vectors]
    # Freeze what other tests left (torch, for example), as the program does.
    gc.collect()
    gc.freeze()
    async with opened(tmp_path) as index:

        async def search() -> None:
            for _ in range(10):
                await words(index, "word1 word2 word3")

        # Only the index's own work counts: its chunks are made before.
        chunks = pairs("d", texts, vectors)
        # Few begin at once: fifty in one turn would be fifty small pieces of work, not a long one.
        work = asyncio.gather(index.put(document("d"), chunks), *(search() for _ in range(5)))
        busy, stood_still = 0.0, 0
        with ticking() as ticks:
            while not work.done():
                used, before = time.thread_time(), ticks()
                await asyncio.sleep(0)
                busy = max(busy, time.thread_time() - used)
                stood_still = max(stood_still, ticks() - before)
        await work
    assert busy < 0.05, "seconds of computing in one turn of the loop"
    assert stood_still < 100, "ticks that one turn of the loop took"


@contextmanager
def ticking() -> Iterator[Callable[[], int]]:
    """Measures lag in this process with a tick every 5 ms, slower under load.

    A thread under the same interpreter lock ticks, so that outside load slows it like the event loop.
    """
    count, stop = 0, threading.Event()

    def tick() -> None:
        nonlocal count
        while not stop.wait(0.005):
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield lambda: count
    finally:
        stop.set()
        thread.join()


def test_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE t(a)")
        file.execute("PRAGMA max_page_count=3")
        with pytest.raises(IndexUnavailable, match="full"), translate_errors(path):
            file.execute("INSERT INTO t VALUES (zeroblob(100000))")
