"""Encoders on ONNX Runtime: pooling, prefixes and limits from the model's own files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders import onnx
from rag_engine.errors import BadSettings, Misconfigured
from tests.doubles.tiny_onnx import WORDS, save_cross_encoder, save_encoder

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = np.random.default_rng(7).normal(size=(len(WORDS), 12))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def tokens(text: str) -> np.ndarray:
    return VECTORS[[WORDS.index(word) for word in ["[CLS]", *text.split(), "[SEP]"]]]


async def embedded(
    folder: Path, tmp_path: Path, *texts: str, side: str = "passage", **settings: object
) -> np.ndarray:
    own = onnx.Settings.model_validate({"model": str(folder), **settings})
    async with onnx.connect(own, data_dir=tmp_path) as embedder:
        return await embedder.embed(texts, side=side)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("pooling_mode_mean_tokens", lambda rows: rows.mean(axis=0)),
        ("pooling_mode_cls_token", lambda rows: rows[0]),
        ("pooling_mode_lasttoken", lambda rows: rows[-1]),
        ("pooling_mode_max_tokens", lambda rows: rows.max(axis=0)),
    ],
)
async def test_vectors_are_pooled_as_the_model_says_and_padding_does_not_count(
    tmp_path: Path, mode: str, expected: object
) -> None:
    folder = save_encoder(tmp_path / "model", configurations={"1_Pooling/config.json": {mode: True}})
    texts = ["holiday", "how many days leave a printer", "the"]
    rows = await embedded(folder, tmp_path, *texts)
    for row, text in zip(rows, texts, strict=True):
        assert np.allclose(row, unit(expected(tokens(text))), atol=1e-5)  # type: ignore[operator]


async def test_a_vector_that_the_graph_makes_is_taken_unless_a_pooling_is_chosen(tmp_path: Path) -> None:
    folder = save_encoder(tmp_path / "model", pooled=True)
    assert np.allclose(
        await embedded(folder, tmp_path, "leave days"), unit(tokens("leave days").sum(axis=0)), atol=1e-5
    )
    chosen = await embedded(folder, tmp_path, "leave days", pooling="cls")
    assert np.allclose(chosen, unit(VECTORS[WORDS.index("[CLS]")]), atol=1e-5)


async def test_prefixes_come_from_the_models_files_or_its_name_or_the_settings(tmp_path: Path) -> None:
    stated = {
        "config_sentence_transformers.json": {"prompts": {"query": "query : ", "document": "passage : "}}
    }
    folder = save_encoder(tmp_path / "model", configurations=stated)
    question = await embedded(folder, tmp_path, "leave", side="query")
    assert np.allclose(question, unit(tokens("query : leave").mean(axis=0)), atol=1e-5)
    passage = await embedded(folder, tmp_path, "leave")
    assert np.allclose(passage, unit(tokens("passage : leave").mean(axis=0)), atol=1e-5)
    bare = await embedded(folder, tmp_path, "leave", passage_prefix="")
    assert np.allclose(bare, unit(tokens("leave").mean(axis=0)), atol=1e-5)
    named = save_encoder(tmp_path / "multilingual-e5-small")
    question = await embedded(named, tmp_path, "leave", side="query")
    assert np.allclose(question, unit(tokens("query : leave").mean(axis=0)), atol=1e-5)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, 64),
        ({"sentence_bert_config.json": {"max_seq_length": 32}}, 32),
        ({"tokenizer_config.json": {"model_max_length": 20}}, 20),
        ({"tokenizer_config.json": {"model_max_length": 1e30}}, 64),
        ({"config.json": {"model_type": "xlm-roberta", "max_position_embeddings": 514}}, 512),
        ({"config.json": {}}, 512),
        ({"config.json": [], "sentence_bert_config.json": {"max_seq_length": "long"}}, 512),
    ],
)
async def test_the_longest_text_is_the_least_that_the_files_state(
    tmp_path: Path, files: dict[str, object], limit: int
) -> None:
    folder = save_encoder(tmp_path / "model", configurations=files)
    async with onnx.connect(onnx.Settings(model=str(folder)), data_dir=tmp_path) as embedder:
        assert embedder.max_tokens == limit
        assert embedder.count_tokens("leave days") == 4
        long = "days " * 2_000
        cut = "days " * (limit - 2)
        rows = await embedder.embed([long, cut], side="passage")
        assert np.allclose(rows[0], rows[1])
        assert embedder.count_tokens(long) == 2_002


async def test_another_graph_pooling_or_passage_prefix_is_another_model(tmp_path: Path) -> None:
    folder = save_encoder(tmp_path / "model", pooled=True)
    other = save_encoder(tmp_path / "other" / "model")
    (folder / "onnx" / "model_int8.onnx").write_bytes((folder / "onnx" / "model.onnx").read_bytes())
    seen: list[str] = []
    for settings in (
        {"model": folder},
        {"model": other},
        {"model": folder, "file": "onnx/model_int8.onnx"},
        {"model": folder, "pooling": "cls"},
        {"model": folder, "passage_prefix": "passage : "},
        {"model": folder, "query_prefix": "query : "},
    ):
        own = onnx.Settings.model_validate({key: str(value) for key, value in settings.items()})
        async with onnx.connect(own, data_dir=tmp_path) as embedder:
            seen.append(embedder.model)
    assert len(set(seen)) == 5
    assert seen[5] == seen[0]
    assert seen[0].startswith("model-")
    assert seen[2].endswith("@int8")


async def test_a_graph_of_scores_is_refused(tmp_path: Path) -> None:
    folder = save_cross_encoder(tmp_path / "model")
    with pytest.raises(BadSettings, match="has no vectors"):
        await embedded(folder, tmp_path, "leave")


async def test_without_files_and_download_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no-team/no-model"):
        await embedded(tmp_path, tmp_path, "leave", model="no-team/no-model", download=False)
    with pytest.raises(BadSettings, match="no folder"):
        await embedded(tmp_path, tmp_path, "leave", model=str(tmp_path / "nowhere"))
