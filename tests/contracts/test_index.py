"""What every `Index` with `IndexContents` must find."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.text.analyzer import query_tokens, tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Chunk, ChunkId, Search
from tests.contracts.indexing import (
    WORDS,
    StoredIndex,
    base,
    bm25,
    chunk,
    dense,
    document,
    found,
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
    documents = [document(f"d{name}") for name in names]
    await put_all(
        index,
        [
            (of, [(chunk(of, "the same words", name=name), vector(1))])
            for of, name in zip(documents, names, strict=True)
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


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Elastcsearch", ["a/0"]),
        ("elasticsaerhc cluster", ["a/0"]),
        ("recovrey of the cluster", ["a/0", "b/0"]),
        ("zzzzqqqq", []),
    ],
)
async def test_a_typing_error_is_found_nevertheless(
    index: StoredIndex, asked: str, expected: list[str]
) -> None:
    await put(index, document("a"), "An Elasticsearch cluster of three nodes")
    await put(index, document("b"), "The recovery plan")
    await put(index, document("c"), "Vacation and leave")
    assert sorted((await found(index, lexical(asked)))[0]) == expected


async def test_corrections_are_named_and_can_be_refused(index: StoredIndex) -> None:
    await put(index, document("a"), "An Elasticsearch cluster of three nodes")
    await put(index, document("theirs", knowledge_base="theirs"), "Elastisearch of others")
    asked = lexical("Elastcsearch nodes")
    literal = replace(asked, literal=frozenset(asked.tokens))
    corrected, as_typed, theirs = await index.search([asked, literal, lexical("Elastcsearch", "theirs")])
    (token,) = tokens("Elasticsearch", language="en")
    assert {word for words in corrected.corrections.values() for word in words} == {token}
    assert set(corrected.corrections) <= set(asked.tokens)
    assert ids(as_typed) == ["a/0"]
    assert as_typed.hits[0].score < corrected.hits[0].score
    assert as_typed.corrections == {}
    assert token not in {word for words in theirs.corrections.values() for word in words}


async def test_synonyms_find_less_than_typed_words(index: StoredIndex) -> None:
    await put(index, document("typed"), "The pto is long")
    await put(index, document("synonym"), "The leave is long")
    await put(index, document("neither"), "Another text is here")
    search = replace(lexical("pto"), synonyms={base("kb"): {"leav": 0.7}})
    (ranking,) = await index.search([search])
    assert ids(ranking) == ["typed/0", "synonym/0"]
    assert ranking.hits[1].score == pytest.approx(0.7 * ranking.hits[0].score, rel=1e-6)


async def test_synonyms_alone_find(index: StoredIndex) -> None:
    await put(index, document("a"), "The leave is long")
    await put(index, document("b"), "A heron stands in water")
    search = replace(
        lexical("herron"), synonyms={base("kb"): {"leav": 0.7}}, literal=frozenset(query_tokens("herron"))
    )
    (ranking,) = await index.search([search])
    assert (ids(ranking), ranking.corrections) == (["a/0"], {})


async def test_synonyms_hold_in_their_own_knowledge_base_alone(index: StoredIndex) -> None:
    await put(index, document("ours"), "The leave is long")
    await put(index, document("theirs", knowledge_base="theirs"), "The leave is long")
    both = replace(lexical("pto", "kb", "theirs"), synonyms={base("kb"): {"leav": 0.7}})
    foreign = replace(lexical("pto"), synonyms={base("theirs"): {"leav": 0.7}})
    unknown = replace(lexical("pto"), synonyms={base("none"): {"leav": 0.7}})
    assert await found(index, both, foreign, unknown) == [["ours/0"], [], []]


async def test_a_wrong_chinese_character_is_found_nevertheless(index: StoredIndex) -> None:
    await put(index, document("a"), "游戏王的卡片分为怪兽、魔法和陷阱三种。")
    await put(index, document("b"), "端口隔离在交换机上配置。", seed=5)
    assert (await found(index, lexical("游喜王")))[0][0] == "a/0"


async def test_a_model_number_in_a_chinese_question_finds_its_manual(index: StoredIndex) -> None:
    for number, model in enumerate(("TL-SE2108", "TL-SE2109", "TL-SE2110")):
        await put(index, document(model), f"{model}的端口隔离在交换机的管理页面配置。", seed=number)
    assert (await found(index, lexical("TL-SE2109的端口隔离怎么配置")))[0][0] == "TL-SE2109/0"


async def test_a_word_that_some_chunk_has_is_not_corrected(index: StoredIndex) -> None:
    await put(index, document("a"), "The leaves of a tree")
    await put(index, document("b"), "A leader and a reader")
    assert await found(index, lexical("reader")) == [["b/0"]]


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


async def test_lexical_scores_are_lucenes_bm25_over_the_searched_knowledge_bases(index: StoredIndex) -> None:
    texts = random_texts(300, seed=3)
    documents = [
        document(f"{number:03}", knowledge_base="kb" if number % 3 else "other") for number in range(300)
    ]
    await put_all(
        index,
        [
            (of, pairs(of, text, seed=number))
            for number, (of, text) in enumerate(zip(documents, texts, strict=True))
        ],
    )
    analysed = [tokens(searchable_text(chunk(document("x"), text)), language="en") for text in texts]
    for question in ("w1 w2 w50", "w90", "w0", "w0 w0 w3", "w5 w17 w100 w118 unknown", " ".join(WORDS)):
        scores = bm25(analysed, query_tokens(question))
        expected = sorted((-score, f"{number:03}/0") for number, score in enumerate(scores) if score > 0)
        (ranking,) = await index.search([lexical(question, "kb", "other", limit=400)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(
            [-score for score, _ in expected], rel=1e-6
        )
        assert {hit.chunk.id: hit.score for hit in ranking.hits} == pytest.approx(
            {name: -score for score, name in expected}, rel=1e-6
        )
        (scoped,) = await index.search([lexical(question, limit=400)])
        own = [number for number in range(300) if number % 3]
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
    documents = [document(f"d{number}") for number in range(100)]
    await put_all(
        index,
        [
            (of, pairs(of, text, seed=number % 10))
            for number, (of, text) in enumerate(zip(documents, random_texts(100, seed=5), strict=True))
        ],
    )
    search = lexical("w1 w2 w3", limit=15) if leg == "lexical" else dense(vector(4), limit=15)
    once = await index.search([search])
    assert once == await index.search([search])
    assert once == (await index.search([search, search]))[1:]


async def test_an_audience_of_very_many_knowledge_bases(index: StoredIndex) -> None:
    documents = [document("d", knowledge_base=f"kb{number}") for number in range(700)]
    await put_all(index, [(of, pairs(of, "apple", seed=number % 5)) for number, of in enumerate(documents)])
    names = [f"kb{number}" for number in range(699)]
    words, meanings = await index.search(
        [lexical("apple", *names, limit=900), dense(vector(1), *names, limit=900)]
    )
    for ranking in (words, meanings):
        assert {hit.chunk.knowledge_base for hit in ranking.hits} == set(map(base, names))


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


async def test_many_similar_words_of_others_do_not_keep_a_word_from_being_corrected(
    index: StoredIndex,
) -> None:
    await put(index, document("ours"), "The recovery plan", "Vacation")
    before = await index.search([lexical("recovrey")])
    assert [ids(ranking) for ranking in before] == [["ours/0"]]
    letters = "abcdefghijklmnopqrstuvwxyz"
    similar = [
        f"{'recovrey'[:place]}{letter}{'recovrey'[place + more :]}"
        for place in range(1, 8)
        for letter in letters
        for more in (0, 1)
    ]
    of = document("theirs", knowledge_base="theirs")
    await index.put(of, pairs(of, *[" ".join(similar)] * 3))
    assert await index.search([lexical("recovrey")]) == before


async def test_a_typing_error_of_others_does_not_switch_corrections_off(index: StoredIndex) -> None:
    await put(index, document("ours"), "The recovery plan", "Vacation")
    of = document("theirs", knowledge_base="theirs")
    await put(index, of, "The recovrey plan", *(f"recoverx{letter}" for letter in "abcd"))
    assert await found(index, lexical("recovrey")) == [["ours/0"]]
