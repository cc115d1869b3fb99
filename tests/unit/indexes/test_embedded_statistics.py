"""The lexical leg of the embedded index: exact, whatever was written and removed, and blind to what may not be searched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded import Settings, connect
from rag_engine.indexes.embedded.postings.compaction import FOLDED_AFTER
from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.types import DocumentId
from tests.contracts.indexing import (
    IDENTITY,
    StoredIndex,
    base,
    bm25,
    chunk,
    dense,
    document,
    lexical,
    put,
    random_texts,
    vector,
)

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex


def opened(path: Path) -> AbstractAsyncContextManager[EmbeddedIndex]:
    return connect(Settings(), data_dir=path, identity=IDENTITY)


async def fill(index: StoredIndex, name: str, texts: list[str], *, knowledge_base: str = "kb") -> None:
    of = document(name, knowledge_base=knowledge_base)
    await index.put(of, [(chunk(of, text, ordinal=i), vector(i % 9)) for i, text in enumerate(texts)])


def expected_scores(texts: list[str]) -> dict[str, list[float]]:
    """By question, best first."""
    analysed = [tokens(text, language="en") for text in texts]
    return {
        question: sorted((each for each in bm25(analysed, query_tokens(question)) if each > 0), reverse=True)
        for question in (
            "w3 w40 w110",
            "w0",
            "w90 w0 w1",
            "w5 w5 unknown",
            " ".join(f"w{i}" for i in range(60)),
        )
    }


async def check_scores(index: StoredIndex, expected: dict[str, list[float]], *, limit: int) -> None:
    for question, scores in expected.items():
        (ranking,) = await index.search([lexical(question, limit=limit)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(scores[:limit], rel=1e-9), question


@pytest.mark.slow
async def test_scores_of_many_chunks_are_those_of_a_scan_of_all(tmp_path: Path) -> None:
    """In several segments and in memory, with other knowledge bases, replaced and removed documents beside."""
    texts = {name: random_texts(FOLDED_AFTER // 2, seed=number) for number, name in enumerate("abc")}
    async with opened(tmp_path) as index, opened(tmp_path) as other:
        for name in ("a", "gone", "b", "foreign", "c"):
            made = texts.get(name) or random_texts(FOLDED_AFTER // 2, seed=9)
            await fill(index, name, made, knowledge_base="theirs" if name == "foreign" else "kb")
        await index.drop(base("kb"), DocumentId("gone"))
        texts["b"] = random_texts(300, seed=20)
        await fill(index, "b", texts["b"])
        expected = expected_scores([text for name in "abc" for text in texts[name]])
        for handle in (index, other):
            await check_scores(handle, expected, limit=40)
    async with opened(tmp_path) as index:
        await check_scores(index, expected, limit=5_000)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as file:
        assert file.execute("SELECT count(*) FROM segment").fetchone()[0] > 0


async def test_a_file_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await put(index, document("a"), "red apple", "green pear")
        before = await index.search([lexical("apples"), dense(vector(1))])
    with closing(sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)) as file:
        for table in ("word", "pending", "segment", "block", "code"):
            file.execute(f"DROP TABLE {table}")
        for statement in (
            "CREATE VIRTUAL TABLE fts USING fts5(t, s)",
            "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, row)",
            "CREATE TABLE word(t TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE terms(id INTEGER PRIMARY KEY, b BLOB NOT NULL)",
            "CREATE TABLE code(id INTEGER PRIMARY KEY, base INTEGER NOT NULL, length INTEGER NOT NULL, b BLOB NOT NULL)",
            "PRAGMA user_version=1",
        ):
            file.execute(statement)
    async with opened(tmp_path) as index, opened(tmp_path) as other:
        for handle in (index, other):
            assert await handle.search([lexical("apples"), dense(vector(1))]) == before
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as file:
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_schema")}
    assert not tables & {"fts", "vocabulary", "terms"}
    assert np.all([name in tables for name in ("word", "pending", "segment", "block")])
