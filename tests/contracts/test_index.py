"""What every `Index` with `IndexContents` must find."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.types import Chunk, ChunkId, Search
from tests.contracts.indexing import (
    StoredIndex,
    base,
    chunk,
    dense,
    document,
    found,
    grouped,
    ids,
    lexical,
    pairs,
    put,
    put_all,
    random_texts,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Leg


async def test_a_chunk_comes_back_as_it_was_put(index: StoredIndex) -> None:
    of = document("report.pdf")
    whole = Chunk(
        id=ChunkId("c1"),
        document=of.id,
        knowledge_base=of.knowledge_base,
        ordinal=3,
        text='Line one\n"two" | naïve 漢字 😀',
        title="Report",
        uri="https://example.org/?a=b&c='d'",
        headings=("1 Money", 'Say "no"'),
        anchor="p. 3",
        kind="table",
        language="fr",
    )
    await index.put(of, [(whole, vector(1))])
    words, meanings = await index.search([lexical("naïve"), dense(vector(1))])
    assert [hit.chunk for hit in words.hits] == [whole] == [hit.chunk for hit in meanings.hits]
    assert (words.leg, meanings.leg) == ("lexical", "dense")
    assert words.complete
    assert meanings.hits[0].rank == 1
    assert meanings.hits[0].score == pytest.approx(1, abs=1e-3)
    ((scanned, stored),) = [pair async for pair in index.scan(base("kb"))]
    assert scanned == whole
    assert stored.dtype == np.float32
    assert float(stored @ vector(1)) == pytest.approx(1, abs=1e-5)


async def test_title_and_headings_are_found_with_each_chunk(index: StoredIndex) -> None:
    of = document("handbook")
    titled = Chunk(
        id=ChunkId("c"),
        document=of.id,
        knowledge_base=of.knowledge_base,
        ordinal=0,
        text="Twenty-five days.",
        title="Handbook",
        headings=("Leave",),
        language="en",
    )
    await index.put(of, [(titled, vector(1))])
    assert await found(index, lexical("handbook"), lexical("leave")) == [["c"], ["c"]]


async def test_an_empty_index_finds_nothing(index: StoredIndex) -> None:
    assert await found(index, lexical("anything"), dense(vector(1))) == [[], []]
    assert await index.search([]) == []
    assert await index.count(base("kb")) == 0
    assert [pair async for pair in index.scan(base("kb"))] == []


async def test_rankings_come_in_the_order_asked_for_and_obey_their_limits(index: StoredIndex) -> None:
    await put(index, document("a"), *(f"apple number {i}" for i in range(9)))
    rankings = await index.search(
        [dense(vector(3), limit=4), lexical("apple", limit=2), lexical("pear"), dense(vector(3), limit=50)]
    )
    assert [ranking.leg for ranking in rankings] == ["dense", "lexical", "lexical", "dense"]
    assert [len(ranking.hits) for ranking in rankings] == [4, 2, 0, 9]
    for ranking in rankings:
        assert [hit.rank for hit in ranking.hits] == list(range(1, len(ranking.hits) + 1))
        assert [hit.score for hit in ranking.hits] == sorted(
            (hit.score for hit in ranking.hits), reverse=True
        )


NAMES = [
    "kb",
    "KB",
    "k b",
    "",
    "=1",
    'quote"',
    '") OR t:("secret',
    "s:* AND t",
    "NEAR(secret a)",
    "secret",
    "'; DROP TABLE chunk; --",
    "日本語",
    "e\u0301",
    "\u00e9",
    "*",
    "\x00",
    "a\x00b",
]


async def test_an_audience_sees_its_own_knowledge_bases_only(index: StoredIndex) -> None:
    for number, name in enumerate(NAMES):
        await put(index, document(f"d{number}", knowledge_base=name), "the secret plan", seed=number)
    for number, name in enumerate(NAMES):
        own = [f"d{number}/0"]
        assert await found(index, lexical("secret plan", name), dense(vector(0), name)) == [own, own], name
    first, last = NAMES[0], NAMES[-1]
    for ranking in await index.search(
        [lexical("secret", first, last, "other"), dense(vector(0), first, last)]
    ):
        assert sorted(ids(ranking)) == ["d0/0", f"d{len(NAMES) - 1}/0"]
    assert await found(index, lexical("secret", "other"), dense(vector(0), "other")) == [[], []]


@pytest.mark.parametrize(
    "token",
    [
        '") OR s:("=1',
        "=1",
        "secret*",
        "t:secret",
        "secret OR plan",
        "^secret",
        "\x00",
        "",
        " ",
        '"',
        "-",
        "+",
    ],
)
async def test_a_token_is_never_read_as_an_expression(index: StoredIndex, token: str) -> None:
    await put(index, document("theirs", knowledge_base="theirs"), "secret plan")
    await put(index, document("ours"), "public plan")
    search = Search(leg="lexical", knowledge_bases=frozenset({base("kb")}), limit=9, tokens=(token, "plan"))
    assert await found(index, search) == [["ours/0"]]


async def test_in_a_small_knowledge_base_of_a_large_index_everything_is_found(index: StoredIndex) -> None:
    crowd = document("crowd", knowledge_base="crowd")
    await index.put(
        crowd, [(chunk(crowd, f"common words {i}", ordinal=i), vector(i % 50)) for i in range(3_000)]
    )
    await put(index, document("few"), "common words", "rare words", "other", seed=200)
    words, meanings = await found(index, lexical("words rare"), dense(vector(1)))
    assert words == ["few/1", "few/0"]
    assert sorted(meanings) == ["few/0", "few/1", "few/2"]


async def test_ties_are_broken_by_chunk_id(index: StoredIndex) -> None:
    names = [f"{number:03}" for number in np.random.default_rng(1).permutation(300)]
    await put_all(
        index,
        [
            (
                of := document(f"d{start}"),
                [(chunk(of, "the same words", name=name), vector(1)) for name in some],
            )
            for start, some in grouped(names, 20)
        ],
    )
    for limit in (1, 7, 40, 400):
        assert await found(index, lexical("same words", limit=limit)) == [sorted(names)[:limit]]


async def test_ties_of_meaning_are_broken_by_chunk_id(index: StoredIndex) -> None:
    """A few only: of very many equal vectors an approximate index need not find the first."""
    names = [f"{number:03}" for number in np.random.default_rng(1).permutation(40)]
    of = document("d")
    await index.put(of, [(chunk(of, "words", name=name), vector(1)) for name in names])
    for limit in (1, 7, 40, 400):
        assert await found(index, dense(vector(2), limit=limit)) == [sorted(names)[:limit]]


@pytest.mark.parametrize(
    ("language", "text", "questions"),
    [
        ("zh", "员工每年有二十五天的带薪年假，API密钥每季度更换。", ["年假有几天", "API 密钥", "假"]),
        (
            "ja",
            "有給休暇は年に25日です。ＡＰＩキーは四半期ごとに交換します。",
            ["休暇は何日", "APIキー", "有"],
        ),
        ("ko", "직원은 매년 25일의 유급휴가를 받습니다.", ["유급휴가는 며칠", "휴가"]),
        ("th", "พนักงานมีวันลาพักร้อนปีละยี่สิบห้าวัน", ["วันลาพักร้อน", "พนักงาน"]),
        (
            "de",
            "Die Kündigungsfristen betragen vier Wochen.",
            ["Kündigungsfrist", "Wie lang ist die Kündigungsfrist?"],
        ),
        ("ru", "Сотрудникам полагается отпуск.", ["отпуска сотрудников", "отпуск"]),
        ("ar", "يحصل الموظفون على إجازة سنوية", ["الإجازة", "إجازة"]),
        ("vi", "Nhân viên được nghỉ phép hai mươi lăm ngày", ["nghỉ phép bao nhiêu ngày", "nghỉ phép"]),
    ],
)
async def test_texts_of_many_scripts_are_found(
    index: StoredIndex, language: str, text: str, questions: Sequence[str]
) -> None:
    of, other = document("a"), document("b")
    await index.put(of, [(chunk(of, text, language=language), vector(1))])
    await index.put(other, [(chunk(other, "Rechnungen und invoices 12345"), vector(2))])
    for question in questions:
        assert await found(index, lexical(question)) == [["a/0"]], question


@pytest.mark.parametrize("asked", ["", "   ", "😀🎉", "the of and", "!?", "\x00\x01"])
async def test_a_question_without_words_finds_nothing_lexically(index: StoredIndex, asked: str) -> None:
    await put(index, document("a"), "apple 😀 the of")
    assert await found(index, lexical(asked)) == [[]]


@pytest.mark.parametrize(
    "text", ["", " ", "😀" * 500, "\x00\x01\x02", "lone \ud800 surrogate", "a" * 100_000]
)
async def test_odd_texts_are_kept_and_found_by_their_vector(index: StoredIndex, text: str) -> None:
    await put(index, document("a"), text)
    await put(index, document("b"), "apple", seed=5)
    assert (await found(index, dense(vector(0))))[0][0] == "a/0"
    assert await index.count(base("kb")) == 2


async def test_a_very_long_text_and_a_very_long_question(index: StoredIndex) -> None:
    long = " ".join(f"word{number}" for number in range(12_000))
    await put(index, document("a"), long)
    await put(index, document("b"), "word3 and word4", seed=4)
    async with asyncio.timeout(20):
        both, one = await found(index, lexical(long), lexical("word11999"))
    assert (sorted(both), one[0]) == (["a/0", "b/0"], "a/0")


async def test_scan_goes_by_document_and_ordinal(index: StoredIndex) -> None:
    for name in ("b", "a", "ä"):
        of = document(name)
        pairs = [(chunk(of, f"text {i}", ordinal=i), vector(i)) for i in range(250)]
        await index.put(of, pairs[::-1])
    await put(index, document("c", knowledge_base="other"), "text")
    scanned = [pair async for pair in index.scan(base("kb"))]
    places = [(each.document, each.ordinal) for each, _ in scanned]
    assert places == [(name, ordinal) for name in ("a", "b", "ä") for ordinal in range(250)]
    for each, stored in scanned[::50]:
        assert float(stored @ vector(each.ordinal)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("leg", ["lexical", "dense"])
async def test_the_same_call_gives_the_same_order(index: StoredIndex, leg: Leg) -> None:
    await put_all(
        index,
        [
            (of := document(f"d{start}"), pairs(of, *texts, seed=start % 3))
            for start, texts in grouped(random_texts(100, seed=5), 10)
        ],
    )
    search = lexical("w1 w2 w3", limit=15) if leg == "lexical" else dense(vector(4), limit=15)
    once = await index.search([search])
    assert once == await index.search([search])
    assert once == (await index.search([search, search]))[1:]


async def test_an_audience_of_very_many_knowledge_bases(index: StoredIndex) -> None:
    """Of 1,000 knowledge bases all but the last; every thirtieth has a document, as has the last."""
    filled = [f"kb{number}" for number in (*range(0, 999, 30), 999)]
    documents = [document("d", knowledge_base=name) for name in filled]
    await put_all(index, [(of, pairs(of, "apple", seed=number % 5)) for number, of in enumerate(documents)])
    names = [f"kb{number}" for number in range(999)]
    words, meanings = await index.search(
        [lexical("apple", *names, limit=900), dense(vector(1), *names, limit=900)]
    )
    for ranking in (words, meanings):
        assert {hit.chunk.knowledge_base for hit in ranking.hits} == set(map(base, filled[:-1]))
