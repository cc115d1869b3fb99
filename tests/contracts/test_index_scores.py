"""Scores are Lucene's BM25 and cosines, and nothing outside the audience changes them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.chunk_text import searchable_text
from tests.contracts.indexing import (
    WORDS,
    StoredIndex,
    base,
    bm25,
    chunk,
    dense,
    document,
    grouped,
    lexical,
    near,
    pairs,
    put,
    put_all,
    random_texts,
    vector,
)

UNTIL_KEPT = 8
"""Searches until an index has in memory what they find."""


async def test_lexical_scores_are_lucenes_bm25_over_the_searched_knowledge_bases(index: StoredIndex) -> None:
    texts = random_texts(300, seed=3)
    await put_all(
        index,
        [
            (
                of := document(f"{start:03}", knowledge_base="kb" if start % 3 else "other"),
                pairs(of, *some, seed=start),
            )
            for start, some in grouped(texts, 10)
        ],
    )
    analysed = [tokens(searchable_text(chunk(document("x"), text)), language="en") for text in texts]
    for question in ("w1 w2 w50", "w90", "w0", "w0 w0 w3", "w5 w17 w100 w118 unknown", " ".join(WORDS)):
        scores = bm25(analysed, query_tokens(question))
        expected = sorted(
            (-score, f"{number // 10 * 10:03}/{number % 10}")
            for number, score in enumerate(scores)
            if score > 0
        )
        (ranking,) = await index.search([lexical(question, "kb", "other", limit=400)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(
            [-score for score, _ in expected], rel=1e-6
        )
        assert {hit.chunk.id: hit.score for hit in ranking.hits} == pytest.approx(
            {name: -score for score, name in expected}, rel=1e-6
        )
        (scoped,) = await index.search([lexical(question, limit=400)])
        own = [number for number in range(300) if number // 10 * 10 % 3]
        expected_own = sorted(
            score for score in bm25([analysed[number] for number in own], query_tokens(question)) if score > 0
        )
        assert [hit.score for hit in scoped.hits] == pytest.approx(expected_own[::-1], rel=1e-6)


@pytest.mark.parametrize("question", ["w3 w40 w110", "w70", "w0 w1"])
async def test_the_best_of_a_larger_index_are_lucenes_best(index: StoredIndex, question: str) -> None:
    of = document("d")
    texts = random_texts(1_400, seed=8)
    await index.put(of, [(chunk(of, text, ordinal=i), vector(1)) for i, text in enumerate(texts)])
    scores = bm25([tokens(text, language="en") for text in texts], query_tokens(question))
    expected = sorted(zip(scores, range(len(texts)), strict=True), reverse=True)[:10]
    (ranking,) = await index.search([lexical(question, limit=10)])
    assert [hit.score for hit in ranking.hits] == pytest.approx([score for score, _ in expected], rel=1e-6)


async def test_a_lexical_ranking_has_the_weight_of_a_word_in_one_chunk(index: StoredIndex) -> None:
    ours, theirs = document("ours"), document("theirs", knowledge_base="other")
    await put_all(index, [(ours, pairs(ours, "w1", "w2", "w3")), (theirs, pairs(theirs, "w4"))])
    own, all_, by_meaning = await index.search(
        [lexical("w1"), lexical("w1", "kb", "other"), dense(vector(1), limit=3)]
    )

    assert own.rarest == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert all_.rarest == pytest.approx(math.log(1 + 3.5 / 1.5))
    assert by_meaning.rarest == 0


async def test_dense_scores_are_cosines(index: StoredIndex) -> None:
    of = document("a")
    await index.put(of, [(chunk(of, "x", ordinal=i, name=f"{i:03}"), vector(i)) for i in range(300)])
    matrix = np.array([vector(number) for number in range(300)])
    for seed in range(1000, 1010):
        cosines = matrix @ vector(seed)
        (ranking,) = await index.search([dense(vector(seed), limit=20)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(np.sort(cosines)[::-1][:20], abs=1e-3)
        for hit in ranking.hits:
            assert hit.score == pytest.approx(cosines[int(hit.chunk.id)], abs=1e-3)


QUESTIONS = (
    "rate limit of the API",
    "the reorganisation of harbours",
    "recovrey of the cluster",
    "harbour harbor harbuor",
    "layoffs planned",
    "limit",
    "zebra",
)


async def test_what_an_unreadable_knowledge_base_holds_changes_nothing(index: StoredIndex) -> None:
    ours = [
        "The rate limit of the API is 100.",
        "The recovery of a cluster.",
        "Harbour fees.",
        "A limit applies.",
    ]
    theirs = [
        "Layoffs planned, reorganisation.",
        "A recovrey harbuor zebra limit rate.",
        "limit limit limit " * 40,
    ]
    asked = [*(lexical(question, limit=6) for question in QUESTIONS), dense(vector(2), limit=6)]
    await put(index, document("ours"), *ours * 3)
    before = await index.search(asked)
    assert [bool(ranking.hits) for ranking in before] == [True, True, True, True, False, True, False, True]
    await put_all(
        index,
        [
            (of := document(f"theirs{number}", knowledge_base="theirs"), pairs(of, *theirs, seed=number))
            for number in range(30)
        ],
    )
    assert await index.search(asked) == before
    await index.drop(base("theirs"))
    assert await index.search(asked) == before


def texts_of_many_lengths(count: int, *, longest: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest, size=count)
    return [" ".join(f"w{number}" for number in random.geometric(0.05, size=length)) for length in lengths]


async def test_neither_the_lengths_nor_the_words_of_others_change_the_best(index: StoredIndex) -> None:
    questions = ("w1 w2", "w3 w20 w40", "w1 w2 w3 w4 w5", "w30", "w2 w2 w60")
    asked = [*(lexical(question, limit=10) for question in questions), dense(vector(2), limit=10)]
    texts = texts_of_many_lengths(400, longest=120, seed=1)
    await index.put(of := document("ours"), pairs(of, *texts))
    before = await index.search(asked)
    for name, theirs in {
        "short": ["w1"] * 900,
        "long": texts_of_many_lengths(150, longest=1_500, seed=2),
        "rare": ["w40 w60 w40"] * 900,
    }.items():
        await index.put(of := document(name, knowledge_base="theirs"), pairs(of, *theirs, seed=5))
        assert await index.search(asked) == before, name
    await index.drop(base("theirs"))
    assert await index.search(asked) == before


@pytest.mark.parametrize("count", [300, 2_500])
async def test_wordings_near_the_question_find_most_of_their_nearest_with_their_cosines(
    index: StoredIndex, count: int
) -> None:
    for name in ("kb", "other"):
        of = document(name, knowledge_base=name)
        await index.put(of, [(chunk(of, "x", ordinal=i), vector(i)) for i in range(count)])
    matrix = np.array([vector(number) for number in range(count)])
    question = vector(5_000)
    wordings = [near(question, seed) for seed in range(6_000, 6_004)]
    asked = [dense(question, limit=100), *(dense(each, limit=20) for each in wordings)]
    rankings = await index.search(asked)
    for _ in range(UNTIL_KEPT):
        rankings = await index.search(asked)
    for ranking, wording in zip(rankings[1:], wordings, strict=True):
        cosines = matrix @ wording
        assert [hit.rank for hit in ranking.hits] == [*range(1, 21)]
        assert {hit.chunk.knowledge_base for hit in ranking.hits} == {base("kb")}
        found = [hit.chunk.ordinal for hit in ranking.hits]
        assert [hit.score for hit in ranking.hits] == pytest.approx(cosines[found].tolist(), abs=1e-3)
        assert [hit.score for hit in ranking.hits] == sorted(
            (hit.score for hit in ranking.hits), reverse=True
        )
        assert len({*np.argsort(-cosines)[:20].tolist()}.intersection(found)) >= 16
