"""Cross-encoders on ONNX Runtime: real files, a real session, a model whose scores can be foretold."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import BadSettings, Misconfigured
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.rerankers import onnx
from rag_engine.steps import rerank
from rag_engine.types import KnowledgeBaseId, Query
from tests.doubles.tiny_onnx import save_cross_encoder, save_encoder
from tests.unit.prompting import passages

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ("the printer", "how many days a holiday", "leave days", "holiday holiday holiday", "")


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


async def scores(
    folder: Path, tmp_path: Path, question: str, *texts: str, **settings: object
) -> dict[str, float]:
    own = onnx.Settings.model_validate({"model": str(folder), **settings})
    async with onnx.connect(own, data_dir=tmp_path) as reranker:
        hits = await reranker.rerank(question, passages(*texts), limit=99)
    assert [hit.rank for hit in hits] == list(range(1, len(texts) + 1))
    return {hit.chunk.text: hit.score for hit in hits}


@pytest.mark.parametrize("batch_size", [1, 2, 16])
async def test_each_pair_has_the_score_of_the_model_whatever_it_is_scored_with(
    tmp_path: Path, batch_size: int
) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    found = await scores(folder, tmp_path, "how many holiday days", *TEXTS, batch_size=batch_size)
    shared = {
        "the printer": 0,
        "how many days a holiday": 4,
        "leave days": 1,
        "holiday holiday holiday": 3,
        "": 0,
    }
    for text, count in shared.items():
        assert found[text] == pytest.approx(sigmoid(count - 2), abs=1e-6)


async def test_logits_between_0_and_1_are_logits(tmp_path: Path) -> None:
    found = await scores(save_cross_encoder(tmp_path / "model"), tmp_path, "holiday days", "holiday days")
    assert found == {"holiday days": pytest.approx(0.5)}


async def test_of_two_labels_the_second_counts(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model", labels=2)
    found = await scores(folder, tmp_path, "many holiday days", "the days", "many holiday days")
    assert found["many holiday days"] == pytest.approx(sigmoid(1))
    assert found["the days"] == pytest.approx(sigmoid(-1))


async def test_what_is_too_long_is_cut_at_the_models_own_limit(tmp_path: Path) -> None:
    folder = save_cross_encoder(
        tmp_path / "model", configurations={"tokenizer_config.json": {"model_max_length": 12}}
    )
    late = "a " * 40 + "holiday"
    found = await scores(folder, tmp_path, "holiday", late, "holiday " + "a " * 40)
    assert found[late] == pytest.approx(sigmoid(-2))
    assert max(found.values()) == pytest.approx(sigmoid(-1))
    question = "holiday " * 300
    assert len(await scores(folder, tmp_path, question, "days")) == 1


async def test_half_a_character_is_no_error(tmp_path: Path) -> None:
    found = await scores(save_cross_encoder(tmp_path / "model"), tmp_path, "days \ud83d", "days \ud83d")
    assert len(found) == 1


async def test_a_least_score_means_the_same_for_every_question(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    query = Query(text="many holiday days", knowledge_bases=frozenset([KnowledgeBaseId("kb")]))
    asked = Inquiry(
        query=query, question=query.text, hits=passages("the days", "many holiday days", "printer")
    )
    async with onnx.connect(onnx.Settings(model=str(folder)), data_dir=tmp_path) as reranker:
        ports = Ports(embedder=None, index=None, reranker=reranker)  # type: ignore[arg-type]
        step = rerank.build(rerank.Settings(enabled=True, min_score=0.5), ports)
        done = await step(asked)
    assert [hit.chunk.text for hit in done.hits] == ["many holiday days"]
    assert done.details["below_min_score"] == 2


async def test_a_cancelled_call_leaves_the_next_one_its_thread(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    async with onnx.connect(onnx.Settings(model=str(folder), batch_size=1), data_dir=tmp_path) as reranker:
        many = passages(*["how many holiday days"] * 5_000)
        running = asyncio.create_task(reranker.rerank("days", many, limit=5))
        await asyncio.sleep(0.05)
        running.cancel()
        async with asyncio.timeout(10):
            assert len(await reranker.rerank("days", passages("days"), limit=5)) == 1
        assert running.cancelled()


@pytest.mark.parametrize("labels", [3])
async def test_a_model_that_is_no_reranker_is_refused(tmp_path: Path, labels: int) -> None:
    for folder in (save_encoder(tmp_path / "encoder"), save_cross_encoder(tmp_path / "three", labels=labels)):
        with pytest.raises(BadSettings, match="is no reranker"):
            async with onnx.connect(onnx.Settings(model=str(folder)), data_dir=tmp_path):
                pass


async def test_a_damaged_graph_is_one_sentence(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    (folder / "onnx" / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(BadSettings, match=r"^the model model cannot be loaded: [^\n]*\.$"):
        async with onnx.connect(onnx.Settings(model=str(folder)), data_dir=tmp_path):
            pass


async def test_a_folder_without_a_graph_says_what_is_missing(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    with pytest.raises(Misconfigured, match=r"onnx/small\.onnx"):
        async with onnx.connect(onnx.Settings(model=str(folder), file="onnx/small.onnx"), data_dir=tmp_path):
            pass
    (folder / "tokenizer.json").unlink()
    with pytest.raises(Misconfigured, match=r"tokenizer\.json"):
        async with onnx.connect(onnx.Settings(model=str(folder)), data_dir=tmp_path):
            pass
