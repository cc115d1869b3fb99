"""Many searches in one call find what separate calls find, and read what they share once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.indexes.embedded import Settings, connect
from rag_engine.indexes.embedded.database.rows import hash_of
from rag_engine.indexes.embedded.postings.segments import StoredPostings
from rag_engine.types import DocumentId
from tests.contracts.indexing import (
    DIMENSIONS,
    IDENTITY,
    base,
    chunk,
    dense,
    document,
    lexical,
    random_texts,
    vector,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.indexes.embedded import EmbeddedIndex
    from rag_engine.indexes.embedded.postings.segments import BlockCache
    from rag_engine.types import Search, Vector

PER_DOCUMENT = 100
DOCUMENTS = 32
REWRITES = ("w3 w40 w110", "w3 w40 w7", "w3 w41 w110 w0", "w40 w110 zzzz", "w90 w3 w3 w1", "holidey w3")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncGenerator[EmbeddedIndex]:
    """3,000 live chunks in two knowledge bases: texts and vectors repeat, so that scores tie."""
    texts = random_texts(PER_DOCUMENT * DOCUMENTS // 2, seed=5) * 2
    texts[PER_DOCUMENT] += " holiday"
    async with connect(Settings(), data_dir=tmp_path, identity=IDENTITY) as opened:
        for number in range(DOCUMENTS):
            of = document(f"d{number}", knowledge_base="kb" if number % 4 else "other")
            start = number * PER_DOCUMENT
            own = texts[start : start + PER_DOCUMENT]
            await opened.put(
                of,
                [
                    (chunk(of, text, ordinal=place), vector((start + place) % 900))
                    for place, text in enumerate(own)
                ],
            )
        for number in (5, 11):
            await opened.drop(base("kb"), DocumentId(f"d{number}"))
        yield opened


def near(seed: int, number: int) -> Vector:
    noise = np.random.default_rng(number).standard_normal(DIMENSIONS)
    moved = vector(seed) + 0.05 * noise
    return (moved / np.linalg.norm(moved)).astype(np.float32)


def one_question(*bases: str, limit: int) -> list[Search]:
    words = [lexical(text, *bases, limit=limit) for text in REWRITES]
    return words + [dense(near(7, number), *bases, limit=limit) for number in range(len(REWRITES))]


async def test_one_call_finds_what_separate_calls_find(index: EmbeddedIndex) -> None:
    everywhere = ("kb", "other")
    filtered = frozenset({DocumentId("d1"), DocumentId("d8"), DocumentId("d5")})
    synonyms = {base("kb"): {"w80": 0.5, "w3": 0.5}}
    searches = [
        *one_question(*everywhere, limit=100),
        *one_question("other", limit=10),
        *(replace(each, documents=filtered) for each in one_question(*everywhere, limit=30)),
        *(replace(each, synonyms=synonyms) for each in one_question("kb", limit=5)[:5]),
        replace(lexical("w3x w40 w7", "kb"), literal=frozenset({"w3x"})),
        *one_question("empty", limit=10),
    ]
    together = await index.search(searches)
    for search, ranking in zip(searches, together, strict=True):
        assert [ranking] == await index.search([search])
    assert together[len(REWRITES) - 1].corrections == {"holidey": ("holiday",)}
    assert sum(len(ranking.hits) for ranking in together) > 1_000


@pytest.fixture
def terms(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often the postings of each were read."""
    terms: Counter[int] = Counter()
    postings_of = StoredPostings.of

    def counted_postings(
        self: StoredPostings, connection: sqlite3.Connection, cache: BlockCache, asked: Sequence[int]
    ) -> object:
        terms.update(asked)
        return postings_of(self, connection, cache, asked)

    monkeypatch.setattr(StoredPostings, "of", counted_postings)
    return terms


async def test_a_call_reads_each_term_once_and_makes_each_chunk_once(
    index: EmbeddedIndex, terms: Counter[int]
) -> None:
    found = await index.search(one_question("kb", "other", limit=50))
    assert set(terms.values()) == {1}
    chunks = [hit.chunk for ranking in found for hit in ranking.hits]
    assert len({id(each) for each in chunks}) == len({each.id for each in chunks}) < len(chunks)


@pytest.mark.parametrize("bases", [("kb", "other"), ("other",)])
async def test_common_terms_are_read_once_until_something_changes(
    index: EmbeddedIndex, terms: Counter[int], bases: tuple[str, ...]
) -> None:
    search = replace(lexical("w0 w110", *bases, limit=5_000), synonyms={base("other"): {"w1": 0.5}})
    (first,) = await index.search([search])
    terms.clear()
    assert await index.search([search]) == [first]
    assert set(terms) == {hash_of("w110"), hash_of("110")}
    other = ("kb",) if bases == ("other",) else ("other",)
    assert await index.search([replace(search, knowledge_bases=frozenset(map(base, other)))]) != [first]
    new = document("new", knowledge_base="other")
    await index.put(new, [(chunk(new, "w0 w1"), vector(1))])
    await index.drop(base("other"), DocumentId("d0"))
    (changed,) = await index.search([search])
    ids = {hit.chunk.document for hit in changed.hits}
    assert "new" in ids
    assert "d0" not in ids
    assert len(changed.hits) < len(first.hits)
