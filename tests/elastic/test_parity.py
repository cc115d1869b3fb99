"""The two indexes on real texts and questions: the same best ten, and what one holds moves into the other and back."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from rag_engine import archive
from rag_engine.embedders import local
from rag_engine.evaluation.dataset import read_corpus, read_judgements
from rag_engine.indexes import elasticsearch, embedded
from rag_engine.steps import fuse
from rag_engine.text.analyzer import query_tokens
from rag_engine.text.language import detect
from rag_engine.types import Search
from tests.conftest import SHARED
from tests.contracts.conftest import elastic_settings
from tests.contracts.indexing import base, chunk, document
from tests.unit.archive.shelf import IDENTITY, shelf

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rag_engine.ports import Embedder, Index
    from rag_engine.types import Ranking

QUESTIONS = 60
TOP = 10
SHARE = 0.98
"""Of the best ten of all questions together that both must name: lengths are rounded in one index (Lucene's norms), vectors
in the other (half precision), so hits that are all but equal may change places at the end of the ten."""


def texts_and_questions(language: str) -> tuple[list[str], list[str]]:
    folder = SHARED / "data" / f"xquad-{language}"
    if not folder.is_dir():
        pytest.skip("the public evaluation data are not there")
    texts = [row.text for row in read_corpus(folder)]
    questions = list(islice(read_judgements(folder).questions.values(), 0, None, 1190 // QUESTIONS))
    return texts, questions


async def ask(index: Index, embedder: Embedder, questions: Sequence[str]) -> list[list[Ranking]]:
    vectors = await embedder.embed(questions, side="query")
    everything = frozenset({base("kb")})
    return [
        await index.search(
            [
                Search(leg="lexical", knowledge_bases=everything, limit=100, tokens=query_tokens(question)),
                Search(leg="dense", knowledge_bases=everything, limit=100, vector=vector),
            ]
        )
        for question, vector in zip(questions, vectors, strict=True)
    ]


def shared(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> float:
    """The share of names in both lists of a question, over all questions."""
    common = sum(len(set(left) & set(right)) for left, right in zip(one, other, strict=True))
    return common / sum(len(left) for left in one)


def best(rankings: Sequence[Sequence[Ranking]], leg: int) -> list[list[str]]:
    return [[hit.chunk.id for hit in both[leg].hits[:TOP]] for both in rankings]


async def fused(
    rankings: Sequence[Sequence[Ranking]], questions: Sequence[str], judge: fuse.LegTrust
) -> list[list[str]]:
    mixed = [
        await fuse.fuse_rankings(question, both, judge=judge, settings=fuse.Settings(), limit=TOP)
        for question, both in zip(questions, rankings, strict=True)
    ]
    return [[hit.chunk.id for hit in each.hits] for each in mixed]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_both_indexes_name_the_same_best_ten(tmp_path: Path, language: str) -> None:
    texts, questions = texts_and_questions(language)
    settings = elastic_settings(tmp_path)
    async with (
        local.connect(local.Settings(precision="int8"), data_dir=tmp_path) as embedder,
        embedded.connect(embedded.Settings(), data_dir=tmp_path, identity=IDENTITY) as one,
        elasticsearch.connect(settings, data_dir=tmp_path, identity=IDENTITY) as other,
    ):
        vectors = await embedder.embed(texts, side="passage")
        of = document("paragraphs")
        pairs = [
            (chunk(of, text, ordinal=number, name=f"{number:03}", language=detect(text)), vector)
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        for index in (one, other):
            await index.put(of, pairs)
        mine, theirs = [await ask(index, embedder, questions) for index in (one, other)]
        judge = fuse.judge_of(embedder)
        assert shared(best(mine, 0), best(theirs, 0)) >= SHARE
        assert shared(best(mine, 1), best(theirs, 1)) >= SHARE
        mixed = [await fused(rankings, questions, judge) for rankings in (mine, theirs)]
        assert shared(*mixed) >= SHARE
        firsts = zip(*mixed, strict=True)
        assert sum(left[0] == right[0] for left, right in firsts) >= SHARE * len(questions)
    await elasticsearch.remove(settings, data_dir=tmp_path)


async def test_a_knowledge_base_moves_into_the_cluster_and_back_without_the_embedder(tmp_path: Path) -> None:
    settings = elastic_settings(tmp_path)
    async with (
        shelf(tmp_path / "here") as here,
        shelf(tmp_path / "there") as there,
        shelf(tmp_path / "back") as back,
        embedded.connect(embedded.Settings(), data_dir=tmp_path / "here", identity=IDENTITY) as original,
        elasticsearch.connect(settings, data_dir=tmp_path, identity=IDENTITY) as cluster,
        embedded.connect(embedded.Settings(), data_dir=tmp_path / "back", identity=IDENTITY) as returned,
    ):
        kb = await here.fill(documents=30, chunks=12)
        for record in await here.catalog.records(kb.id):
            await original.put(record.document, here.index.documents[kb.id, record.document.id])
        first, second = tmp_path / "first.zip", tmp_path / "second.zip"
        await archive.export(kb, first, library=here.catalog, contents=original, identity=IDENTITY)
        await archive.import_(
            first, catalog=there.catalog, documents=there.catalog, index=cluster, identity=IDENTITY
        )
        await archive.export(kb, second, library=there.catalog, contents=cluster, identity=IDENTITY)
        await archive.import_(
            second, catalog=back.catalog, documents=back.catalog, index=returned, identity=IDENTITY
        )
        before = [pair async for pair in original.scan(kb.id)]
        assert len(before) == 360
        for index in (cluster, returned):
            after = [pair async for pair in index.scan(kb.id)]
            assert [each for each, _ in after] == [each for each, _ in before]
            closeness = [float(one @ other) for (_, one), (_, other) in zip(before, after, strict=True)]
            assert min(closeness) > 1 - 1e-6
    await elasticsearch.remove(settings, data_dir=tmp_path)
