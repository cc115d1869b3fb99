"""What every `Index` with `IndexContents` must do."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import pytest

from rag_engine.analysis import VERSION, query_tokens, tokens
from rag_engine.errors import SchemaMismatch
from rag_engine.indexes import embedded
from rag_engine.ports import Index, IndexContents, IndexIdentity
from rag_engine.searchable import searchable_text
from rag_engine.types import Chunk, ChunkId, Document, DocumentId, KnowledgeBaseId, Ranking, Search

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rag_engine.types import Leg, Vector

DIMENSIONS = 24
IDENTITY = IndexIdentity(model="test@fp32", dimensions=DIMENSIONS, analyzer=VERSION)


class StoredIndex(Index, IndexContents, Protocol):
    pass


OpenIndex: TypeAlias = Callable[[IndexIdentity], AbstractAsyncContextManager[StoredIndex]]


@pytest.fixture(params=["embedded"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """Opens the same store each time it is called, so that tests can come back to it or open it twice."""
    return {
        "embedded": lambda identity: embedded.connect(
            embedded.Settings(), data_dir=tmp_path, identity=identity
        ),
    }[request.param]


@pytest.fixture
async def index(open_index: OpenIndex) -> AsyncIterator[StoredIndex]:
    async with open_index(IDENTITY) as opened:
        yield opened


def base(name: str) -> KnowledgeBaseId:
    return KnowledgeBaseId(name)


def document(name: str, *, knowledge_base: str = "kb") -> Document:
    return Document(
        id=DocumentId(name),
        knowledge_base=base(knowledge_base),
        title=name,
        uri=f"file:///{name}",
        media_type="text/plain",
        digest="",
    )


def chunk(of: Document, text: str, *, ordinal: int = 0, name: str = "", language: str = "en") -> Chunk:
    return Chunk(
        id=ChunkId(name or f"{of.id}/{ordinal}"),
        document=of.id,
        knowledge_base=of.knowledge_base,
        ordinal=ordinal,
        text=text,
        language=language,
    )


def vector(seed: int, *, dimensions: int = DIMENSIONS) -> Vector:
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


async def put(index: Index, of: Document, *texts: str, seed: int = 0) -> None:
    await index.put(of, [(chunk(of, text, ordinal=i), vector(seed + i)) for i, text in enumerate(texts)])


def lexical(question: str, *bases: str, limit: int = 10) -> Search:
    return Search(
        leg="lexical",
        knowledge_bases=frozenset(map(base, bases or ("kb",))),
        limit=limit,
        tokens=query_tokens(question),
    )


def dense(asked: Vector, *bases: str, limit: int = 10) -> Search:
    return Search(
        leg="dense", knowledge_bases=frozenset(map(base, bases or ("kb",))), limit=limit, vector=asked
    )


async def found(index: Index, *searches: Search) -> list[list[str]]:
    return [ids(ranking) for ranking in await index.search(searches)]


def ids(ranking: Ranking) -> list[str]:
    return [hit.chunk.id for hit in ranking.hits]


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
    words, meanings = await found(index, lexical("common words rare"), dense(vector(1)))
    assert words == ["few/1", "few/0"]
    assert sorted(meanings) == ["few/0", "few/1", "few/2"]


async def test_putting_again_replaces_the_document_and_nothing_else(index: StoredIndex) -> None:
    await put(index, document("a"), "old apple", "old pear")
    await put(index, document("b"), "old apple")
    await put(index, document("a", knowledge_base="other"), "old apple")
    await put(index, document("a"), "new apple")
    assert await found(index, lexical("old"), lexical("new"), lexical("old", "other")) == [
        ["b/0"],
        ["a/0"],
        ["a/0"],
    ]
    assert await index.count(base("kb")) == 2
    await index.put(document("a"), [])
    assert await found(index, lexical("apple")) == [["b/0"]]


async def test_a_chunk_given_twice_is_there_once(index: StoredIndex) -> None:
    of = document("a")
    await index.put(of, [(chunk(of, "apple"), vector(1)), (chunk(of, "apple"), vector(1))])
    assert await found(index, lexical("apple"), dense(vector(1))) == [["a/0"], ["a/0"]]


async def test_dropping(index: StoredIndex) -> None:
    for name in ("kb", "other"):
        await put(index, document("a", knowledge_base=name), "apple")
        await put(index, document("b", knowledge_base=name), "apple")
    await index.drop(base("kb"), DocumentId("a"))
    await index.drop(base("kb"), DocumentId("never there"))
    await index.drop(base("never there"))
    assert await found(index, lexical("apple"), dense(vector(0))) == [["b/0"], ["b/0"]]
    await index.drop(base("kb"))
    assert await found(index, lexical("apple"), lexical("apple", "other")) == [[], ["a/0", "b/0"]]
    assert (await index.count(base("kb")), await index.count(base("other"))) == (0, 2)
    await put(index, document("a"), "apple again")
    assert await found(index, lexical("apple"), dense(vector(0))) == [["a/0"], ["a/0"]]


async def test_ties_are_broken_by_chunk_id(index: StoredIndex) -> None:
    names = [f"{number:03}" for number in np.random.default_rng(1).permutation(300)]
    for name in names:
        of = document(f"d{name}")
        await index.put(of, [(chunk(of, "the same words", name=name), vector(1))])
    for limit in (1, 7, 40, 400):
        expected = sorted(names)[:limit]
        searches = [lexical("same words", limit=limit), dense(vector(2), limit=limit)]
        assert await found(index, *searches) == [expected, expected]


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


WORDS = [f"w{number}" for number in range(120)]


def random_texts(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [
        " ".join(random.choice(WORDS, size=random.integers(3, 38), p=weights / weights.sum()))
        for _ in range(count)
    ]


def bm25(texts: Sequence[list[str]], asked: Sequence[str]) -> list[float]:
    """Lucene's BM25, written out."""
    average = sum(map(len, texts)) / len(texts)
    counted = [Counter(text) for text in texts]
    frequency = Counter(token for text in counted for token in text)
    return [
        sum(
            math.log(1 + (len(texts) - frequency[token] + 0.5) / (frequency[token] + 0.5))
            * text[token]
            / (text[token] + 1.2 * (0.25 + 0.75 * sum(text.values()) / average))
            for token in asked
        )
        for text in counted
    ]


async def test_lexical_scores_are_lucenes_bm25_over_the_whole_index(index: StoredIndex) -> None:
    texts = random_texts(300, seed=3)
    for number, text in enumerate(texts):
        await put(
            index, document(f"{number:03}", knowledge_base="kb" if number % 3 else "other"), text, seed=number
        )
    await put(index, document("gone"), "w1 w2 w3")
    await index.drop(base("kb"), DocumentId("gone"))
    analysed = [tokens(searchable_text(chunk(document("x"), text)), language="en") for text in texts]
    for question in ("w1 w2 w50", "w90", "w0", "w0 w0 w3", "w5 w17 w100 w118 unknown"):
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
        own = [(score, name) for score, name in expected if int(name[:3]) % 3]
        assert ids(scoped) == [name for _, name in own]
        assert [hit.score for hit in scoped.hits] == pytest.approx([-score for score, _ in own], rel=1e-6)


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


async def test_no_search_sees_a_document_missing_double_or_half(index: StoredIndex) -> None:
    of = document("a")
    last = 60

    async def write(version: int) -> None:
        size = 1 + version % 4
        pairs = [
            (chunk(of, f"apple v{version} of {size}", ordinal=i, name=f"{version}-{i}"), vector(i))
            for i in range(size)
        ]
        await index.put(of, pairs)

    await write(0)
    done = asyncio.Event()
    seen: set[str] = set()

    async def watch() -> None:
        while not done.is_set():
            views = await found(index, lexical("apple", limit=50), dense(vector(0), limit=50))
            versions = {name.partition("-")[0] for view in views for name in view}
            assert len(versions) == 1, views
            (version,) = versions
            seen.add(version)
            expected = [f"{version}-{i}" for i in range(1 + int(version) % 4)]
            assert [sorted(view) for view in views] == [expected, expected]

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(watch())
        for version in range(1, last):
            await write(version)
        done.set()
    assert len(seen) > 1


async def test_a_put_that_is_cancelled_happens_whole_or_not_at_all(index: StoredIndex) -> None:
    of = document("a")
    await put(index, of, "old apple", "old pear")
    for pause in range(6):
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(put(index, of, *(f"new{pause} apple" for _ in range(20))))
            for _ in range(pause):
                await asyncio.sleep(0)
            writing.cancel()
        assert await index.count(base("kb")) in (2, 20)
    await put(index, of, "last apple")
    assert await found(index, lexical("apple")) == [["a/0"]]


async def test_what_was_put_is_there_after_reopening(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "red apple", "green pear")
        await put(index, document("b"), "red plum", seed=9)
        await index.drop(base("kb"), DocumentId("b"))
        before = await index.search([lexical("red apple pear"), dense(vector(1))])
    async with open_index(IDENTITY) as index:
        assert await index.search([lexical("red apple pear"), dense(vector(1))]) == before
        assert await index.count(base("kb")) == 2


@pytest.mark.parametrize(
    "other",
    [
        IndexIdentity(model="other@fp32", dimensions=DIMENSIONS, analyzer=VERSION),
        IndexIdentity(model="test@fp32", dimensions=DIMENSIONS * 2, analyzer=VERSION),
        IndexIdentity(model="test@fp32", dimensions=DIMENSIONS, analyzer="another"),
    ],
)
async def test_another_identity_is_refused_with_the_mend(open_index: OpenIndex, other: IndexIdentity) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "apple")
    with pytest.raises(SchemaMismatch, match="footnote kb reindex --all"):
        async with open_index(other):
            pass
    async with open_index(IDENTITY) as index:
        assert await found(index, lexical("apple")) == [["a/0"]]


async def test_an_index_with_nothing_in_it_takes_any_identity(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as index:
        await put(index, document("a"), "apple")
        await index.drop(base("kb"))
    other = IndexIdentity(model="other@fp32", dimensions=DIMENSIONS * 2, analyzer=VERSION)
    async with open_index(other) as index:
        of = document("a")
        await index.put(of, [(chunk(of, "pear"), vector(1, dimensions=DIMENSIONS * 2))])
        assert await found(index, dense(vector(1, dimensions=DIMENSIONS * 2))) == [["a/0"]]


async def test_two_handles_see_what_either_writes(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as one, open_index(IDENTITY) as other:
        handles = (one, other)
        for turn in range(12):
            writing, reading = handles[turn % 2], handles[(turn + 1) % 2]
            await put(writing, document("a"), f"apple turn{turn}", seed=turn)
            await put(writing, document(f"d{turn}"), "pear", seed=100 + turn)
            assert await found(reading, lexical(f"turn{turn}"), dense(vector(turn), limit=1)) == [
                ["a/0"],
                ["a/0"],
            ]
            assert sorted((await found(reading, lexical("pear", limit=50)))[0]) == sorted(
                f"d{number}/0" for number in range(turn + 1)
            )
        await one.drop(base("kb"))
        assert await found(other, lexical("pear"), dense(vector(1))) == [[], []]


async def test_two_handles_may_write_at_the_same_time(open_index: OpenIndex) -> None:
    async with open_index(IDENTITY) as one, open_index(IDENTITY) as other:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for number in range(40):
                handle = one if number % 2 else other
                group.create_task(put(handle, document(f"d{number}"), "apple", seed=number))
        expected = sorted(f"d{number}/0" for number in range(40))
        for handle in (one, other):
            views = await found(handle, lexical("apple", limit=50), dense(vector(1), limit=50))
            assert [sorted(view) for view in views] == [expected, expected]


async def test_after_any_changes_the_index_equals_one_made_in_one_go(open_index: OpenIndex) -> None:
    random = np.random.default_rng(11)
    kept: dict[tuple[str, str], list[str]] = {}
    async with open_index(IDENTITY) as index:
        for _ in range(150):
            place = (str(random.choice(["kb", "other"])), f"d{random.integers(12)}")
            if random.random() < 0.25:
                kept.pop(place, None)
                await index.drop(base(place[0]), DocumentId(place[1]))
            else:
                kept[place] = random_texts(int(random.integers(1, 4)), seed=int(random.integers(1e6)))
                await put(index, document(place[1], knowledge_base=place[0]), *kept[place])
        for name in ("kb", "other"):
            expected = [
                (place[1], text) for place in sorted(kept) if place[0] == name for text in kept[place]
            ]
            assert [(each.document, each.text) async for each, _ in index.scan(base(name))] == expected
        analysed = [tokens(text, language="en") for texts in kept.values() for text in texts]
        scores = sorted(
            (score for score in bm25(analysed, query_tokens("w1 w7 w30")) if score > 0), reverse=True
        )
        (ranking,) = await index.search([lexical("w1 w7 w30", "kb", "other", limit=200)])
        assert [hit.score for hit in ranking.hits] == pytest.approx(scores, rel=1e-6)


@pytest.mark.parametrize("leg", ["lexical", "dense"])
async def test_the_same_call_gives_the_same_order(index: StoredIndex, leg: Leg) -> None:
    for number, text in enumerate(random_texts(100, seed=5)):
        await put(index, document(f"d{number}"), text, seed=number % 10)
    search = lexical("w1 w2 w3", limit=15) if leg == "lexical" else dense(vector(4), limit=15)
    once = await index.search([search])
    assert once == await index.search([search])
    assert once == (await index.search([search, search]))[1:]
