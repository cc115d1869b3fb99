"""What every reranker must do, over each implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.rerankers import http, onnx
from rag_engine.types import Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, Provenance
from tests.doubles.model_servers import rerank_server
from tests.doubles.tiny_onnx import save_cross_encoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from rag_engine.ports import Reranker

_WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "the",
    "holiday",
    "leave",
    "days",
    "printer",
    "how",
    "many",
]


def hits_of(texts: Sequence[str]) -> list[Hit]:
    return [
        Hit(
            chunk=Chunk(
                id=ChunkId(f"c{number}"),
                document=DocumentId(f"d{number}"),
                knowledge_base=KnowledgeBaseId("kb"),
                ordinal=0,
                text=text,
            ),
            score=1 / rank,
            rank=rank,
            legs=(Provenance(leg="lexical", rank=rank, score=7.0 / rank),),
        )
        for rank, (number, text) in enumerate(enumerate(texts), start=1)
    ]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder of a few kilobytes with random weights: what it says is noise, how it is run is not."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-cross-encoder")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(_WORDS), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(_WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(vocabulary), model_max_length=64).save_pretrained(folder)
    return folder


@pytest.fixture(params=["http", "onnx", pytest.param("sentence_transformers", marks=pytest.mark.torch)])
async def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Reranker]:
    if request.param == "http":
        async with (
            rerank_server.serving() as server,
            http.connect(http.Settings(url=server.url, batch_size=2), data_dir=tmp_path) as made,
        ):
            yield made
    elif request.param == "onnx":
        settings = onnx.Settings(model=str(save_cross_encoder(tmp_path / "model")), batch_size=2)
        async with onnx.connect(settings, data_dir=tmp_path) as made:
            yield made
    else:
        from rag_engine.rerankers import sentence_transformers

        model = request.getfixturevalue("tiny_model")
        settings = sentence_transformers.Settings(model=str(model), max_tokens=64)
        async with sentence_transformers.connect(settings, data_dir=tmp_path) as made:
            yield made


TEXTS = ["the printer", "how many days a holiday", "leave days", "a printer leave", "holiday"]


async def test_all_hits_come_back_in_the_new_order(reranker: Reranker) -> None:
    hits = hits_of(TEXTS)

    reranked = await reranker.rerank("how many holiday days", hits, limit=10)

    assert sorted(hit.chunk.id for hit in reranked) == sorted(hit.chunk.id for hit in hits)
    assert [hit.rank for hit in reranked] == [1, 2, 3, 4, 5]
    scores = [hit.score for hit in reranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) > 1


async def test_where_a_hit_came_from_is_kept(reranker: Reranker) -> None:
    hits = hits_of(TEXTS)

    reranked = await reranker.rerank("leave", hits, limit=10)

    assert {hit.chunk.id: hit.legs for hit in reranked} == {hit.chunk.id: hit.legs for hit in hits}


async def test_the_limit_keeps_the_best(reranker: Reranker) -> None:
    hits = hits_of(TEXTS)

    whole = await reranker.rerank("leave days", hits, limit=10)
    cut = await reranker.rerank("leave days", hits, limit=2)

    assert [hit.chunk.id for hit in cut] == [hit.chunk.id for hit in whole[:2]]


async def test_equal_scores_keep_the_fused_order(reranker: Reranker) -> None:
    hits = hits_of(["the printer"] * 4)

    reranked = await reranker.rerank("printer", hits, limit=10)

    assert [hit.chunk.id for hit in reranked] == ["c0", "c1", "c2", "c3"]


async def test_no_hits_is_no_call(reranker: Reranker) -> None:
    assert await reranker.rerank("anything", [], limit=5) == []
