from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders import _minilm
from rag_engine.errors import BadSettings
from tests.markers import NO_TORCH, runs_torch

if not runs_torch():
    pytest.skip(NO_TORCH, allow_module_level=True)

from rag_engine.embedders import sentence_transformers
from tests.doubles.model_servers.tiny_model import save_tiny_model

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.types import Matrix, Side

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


async def identity(model: str, data_dir: Path, **changes: object) -> str:
    settings = sentence_transformers.Settings.model_validate({"model": model, "device": "cpu", **changes})
    async with sentence_transformers.connect(settings, data_dir=data_dir) as embedder:
        return embedder.model


async def embedded(tiny: Path, data_dir: Path, text: str, side: Side, **changes: object) -> Matrix:
    settings = sentence_transformers.Settings.model_validate({"model": str(tiny), "device": "cpu", **changes})
    async with sentence_transformers.connect(settings, data_dir=data_dir) as embedder:
        return await embedder.embed([text], side=side)


@pytest.mark.parametrize(
    "model", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2", str(_minilm.installed())]
)
async def test_the_default_model_is_found_and_known_by_any_name(model: str, tmp_path: Path) -> None:
    assert await identity(model, tmp_path) == "all-MiniLM-L6-v2@fp32"


async def test_a_folder_is_known_by_its_weights(tiny: Path, tmp_path: Path) -> None:
    same = save_tiny_model(tmp_path / "one" / "tiny")
    other = save_tiny_model(tmp_path / "two" / "tiny", seed=8)
    names = [await identity(str(folder), tmp_path) for folder in (tiny, same, other)]
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("tiny-")
    assert names[0].endswith("@fp32")


async def test_precision_and_passage_prefix_are_part_of_the_identity(tiny: Path, tmp_path: Path) -> None:
    plain = await identity(str(tiny), tmp_path)
    assert await identity(str(tiny), tmp_path, precision="bf16") == plain.replace("@fp32", "@bf16")
    assert await identity(str(tiny), tmp_path, query_prefix="query: ") == plain
    assert (await identity(str(tiny), tmp_path, passage_prefix="passage: ")).startswith(f"{plain}+")


async def test_prefixes_are_put_before_the_text(tiny: Path, tmp_path: Path) -> None:
    written = await embedded(tiny, tmp_path, "query report", "query")
    prefixed = await embedded(tiny, tmp_path, "report", "query", query_prefix="query ")
    assert np.allclose(written, prefixed, atol=1e-6)
    plain = await embedded(tiny, tmp_path, "report", "query")
    assert not np.allclose(written, plain, atol=1e-3)
    assert np.allclose(
        await embedded(tiny, tmp_path, "report", "passage", query_prefix="query "), plain, atol=1e-6
    )


async def test_prefixes_go_by_the_name_of_the_model(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "multilingual-e5-small")
    settings = sentence_transformers.Settings(model=str(folder), device="cpu")
    async with sentence_transformers.connect(settings, data_dir=tmp_path) as embedder:
        rows = await embedder.embed(["report"], side="passage")
        assert embedder.count_tokens("report") == 5  # [CLS] passage : report [SEP]
    plain = await embedded(folder, tmp_path, "passage: report", "passage", passage_prefix="")
    assert np.allclose(rows, plain, atol=1e-6)


async def test_prompts_that_the_model_brings_are_taken(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "prompted")
    (folder / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": "query"}',
        encoding="utf-8",
    )
    brought = await embedded(folder, tmp_path, "report", "passage")
    written = await embedded(folder, tmp_path, "passage: report", "passage", passage_prefix="")
    assert np.allclose(brought, written, atol=1e-6)


async def test_counting_while_embedding_is_not_disturbed(tiny: Path, tmp_path: Path) -> None:
    """The library truncates and pads by changing its tokenizer; counts must not see that."""
    text = "stone " * 100
    async with sentence_transformers.connect(
        sentence_transformers.Settings(model=str(tiny), device="cpu"), data_dir=tmp_path
    ) as embedder:
        assert embedder.max_tokens == 64
        call = asyncio.create_task(embedder.embed([text] * 100, side="passage"))
        counts: set[int] = set()
        while not call.done():
            counts.add(embedder.count_tokens(text + " " * len(counts)))
            await asyncio.sleep(0)
        await call
    assert counts == {102}


@pytest.mark.parametrize(
    ("model", "changes"),
    [("no-such/model", {"download": False}), ("/no/such/folder", {}), ("tiny", {"device": "quantum"})],
    ids=["name", "path", "device"],
)
async def test_what_cannot_be_loaded_is_a_matter_of_the_settings(
    tiny: Path, tmp_path: Path, model: str, changes: dict[str, object]
) -> None:
    with pytest.raises(BadSettings, match="cannot be loaded"):
        await identity(str(tiny) if model == "tiny" else model, tmp_path, **changes)


async def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="cannot be loaded"):
        await identity(str(tmp_path), tmp_path / "data")
