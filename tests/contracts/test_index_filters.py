"""What every index finds in chosen documents alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.types import DocumentId
from tests.contracts.indexing import (
    chunk,
    dense,
    document,
    found,
    grouped,
    lexical,
    pairs,
    put,
    put_all,
    random_texts,
    vector,
)

if TYPE_CHECKING:
    from rag_engine.types import Search
    from tests.contracts.indexing import StoredIndex


def within(search: Search, *documents: str) -> Search:
    return replace(search, documents=frozenset(map(DocumentId, documents)))


async def test_both_legs_find_chunks_of_the_chosen_documents_alone(index: StoredIndex) -> None:
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        await put(index, document(name), f"The budget of {name}.")
    asked = (lexical("budget"), dense(vector(0)))
    assert [len(ids) for ids in await found(index, *asked)] == [3, 3]
    chosen = [within(search, "a.pdf", "c.pdf") for search in asked]
    assert [sorted(ids) for ids in await found(index, *chosen)] == [["a.pdf/0", "c.pdf/0"]] * 2
    assert await found(index, *(within(search) for search in asked)) == [[], []]
    assert await found(index, *(within(search, "gone.pdf") for search in asked)) == [[], []]


async def test_a_chosen_document_outside_the_audience_stays_unseen(index: StoredIndex) -> None:
    await put(index, document("ours"), "The budget.")
    await put(index, document("theirs", knowledge_base="secret"), "The budget.")
    await put(index, document("same"), "A budget of ours.")
    await put(index, document("same", knowledge_base="secret"), "A budget of theirs.")
    asked = [within(search, "theirs", "same") for search in (lexical("budget"), dense(vector(0)))]
    rankings = await index.search(asked)
    assert [[hit.chunk.text for hit in ranking.hits] for ranking in rankings] == [["A budget of ours."]] * 2


async def test_the_limit_counts_hits_of_the_chosen_documents(index: StoredIndex) -> None:
    """A filter after the search would find nothing: the other documents fit better."""
    rare = document("rare.txt")
    aside = np.roll(vector(0), 1)
    await index.put(rare, [(chunk(rare, "budget " + "word " * 60), aside)])
    await put_all(
        index,
        [
            (
                of := document(f"common{number}"),
                [(chunk(of, "budget budget budget", ordinal=i), vector(0)) for i in range(30)],
            )
            for number in range(10)
        ],
    )
    asked = [within(search, "rare.txt") for search in (lexical("budget", limit=5), dense(vector(0), limit=5))]
    assert await found(index, *asked) == [["rare.txt/0"]] * 2


async def test_scores_do_not_depend_on_the_choice(index: StoredIndex) -> None:
    texts = random_texts(400, seed=4)
    await put_all(
        index,
        [(of := document(f"d{start}"), pairs(of, *some, seed=start)) for start, some in grouped(texts, 10)],
    )
    chosen = [f"d{number}" for number in range(0, 400, 70)]
    asked = (lexical("w1 w30 w77", limit=400), dense(vector(9_000), limit=400))
    for search, everything in zip(asked, await index.search(asked), strict=True):
        (some,) = await index.search([replace(within(search, *chosen), limit=10)])
        expected = [hit for hit in everything.hits if hit.chunk.document in chosen][:10]
        assert [hit.chunk.id for hit in some.hits] == [hit.chunk.id for hit in expected]
        assert np.allclose([hit.score for hit in some.hits], [hit.score for hit in expected], atol=1e-4)


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_a_choice_of_very_many_documents(index: StoredIndex) -> None:
    await put(index, document("there"), "The budget.")
    names = ["there", *(f"absent{number:032}" for number in range(70_000))]
    assert await found(index, within(lexical("budget"), *names)) == [["there/0"]]
