"""The local embedder's model: built once, completely or not at all, and rejected if not genuine."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rag_engine.embedders import _minilm, local
from rag_engine.embedders.local.prepare import files_in
from rag_engine.errors import BadSettings, EmbedderUnavailable, StorageUnavailable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the int8 model, which builds faster."""
    data_dir = tmp_path_factory.mktemp("built")

    async def build() -> None:
        async with local.connect(local.Settings(precision="int8"), data_dir=data_dir):
            pass

    asyncio.run(build())
    return data_dir


@pytest.fixture
def data_dir(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "data")
    return tmp_path / "data"


INT8 = local.Settings(precision="int8")


async def embedded(data_dir: Path, settings: local.Settings = INT8) -> list[str]:
    """The progress reports of a start that embeds a text."""
    said: list[str] = []
    async with local.connect(settings, data_dir=data_dir, report=said.append) as embedder:
        rows = await embedder.embed(["hello"], side="query")
    assert np.isclose(np.linalg.norm(rows), 1, atol=1e-5)
    return said


async def test_two_at_once_on_an_empty_directory_do_no_harm(tmp_path: Path) -> None:
    settings = local.Settings(precision="int8")
    said = await asyncio.gather(embedded(tmp_path, settings), embedded(tmp_path, settings))
    assert [bool(sentences) for sentences in said] == [True, True]
    assert names(tmp_path / "models") == sorted(
        [files_in(tmp_path, precision="int8").graph.name, files_in(tmp_path, precision="int8").tokenizer.name]
    )


async def test_what_is_built_is_built_once(data_dir: Path) -> None:
    assert await embedded(data_dir) == []


async def test_names_carry_digest_precision_and_version(built: Path) -> None:
    graph = files_in(built, precision="int8").graph.name
    assert graph == "all-MiniLM-L6-v2.53aa51172d14.int8.v1.onnx"
    assert files_in(built, precision="fp32").graph.name != graph


@pytest.mark.parametrize("keep", [0, 1_000_000], ids=["emptied", "cut short"])
async def test_a_damaged_graph_is_rebuilt(data_dir: Path, keep: int) -> None:
    graph = files_in(data_dir, precision="int8").graph
    whole = graph.read_bytes()
    graph.write_bytes(whole[:keep])
    assert len(await embedded(data_dir)) == 1
    assert graph.read_bytes() == whole


async def test_a_damaged_tokenizer_is_fetched_again(data_dir: Path) -> None:
    tokenizer = files_in(data_dir, precision="int8").tokenizer
    tokenizer.write_text("{}", encoding="utf-8")
    await embedded(data_dir)
    assert _minilm.is_genuine(tokenizer, name=_minilm.TOKENIZER)


async def test_what_a_killed_builder_left_is_removed_but_not_a_living_one(data_dir: Path) -> None:
    files = files_in(data_dir, precision="int8")
    old, young = (files.graph.with_name(f"{files.graph.name}.{pid}.unfinished") for pid in (1, 2))
    for leftover in (old, young):
        leftover.write_bytes(b"half")
    os.utime(old, (0, 0))
    files.graph.unlink()
    await embedded(data_dir)
    assert not old.exists()
    assert young.exists()


async def test_cancelling_ends_the_child_and_leaves_nothing(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def connect() -> None:
        async with local.connect(INT8, data_dir=tmp_path, report=lambda _: begun.set()):
            pytest.fail("it came up in no time")

    connecting = asyncio.create_task(connect())
    async with asyncio.timeout(60):
        await begun.wait()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert not files_in(tmp_path, precision="int8").graph.exists()


async def test_a_time_limit_that_is_too_short_says_so(tmp_path: Path) -> None:
    settings = local.Settings(precision="int8", prepare_seconds=0.001)
    with pytest.raises(EmbedderUnavailable, match="longer than"):
        await embedded(tmp_path, settings)


async def test_a_data_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "data"
    blocked.write_text("a file stands here", encoding="utf-8")
    with pytest.raises(StorageUnavailable, match="check its disk space and permissions"):
        await embedded(blocked)


async def test_another_model_is_refused_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="sentence_transformers"):
        await embedded(tmp_path, local.Settings(model="intfloat/multilingual-e5-small"))


async def test_a_path_without_a_model_is_refused_even_when_none_is_needed(data_dir: Path) -> None:
    with pytest.raises(BadSettings, match=r"does not hold model\.safetensors and tokenizer\.json"):
        await embedded(data_dir, local.Settings(precision="int8", path=data_dir / "nowhere"))


async def test_a_path_with_other_weights_is_refused(tmp_path: Path) -> None:
    folder = _minilm.installed()
    assert folder is not None
    shutil.copy(folder / _minilm.TOKENIZER, tmp_path)
    (tmp_path / _minilm.WEIGHTS).write_bytes(b"other weights")
    with pytest.raises(BadSettings, match="is not the published file"):
        await embedded(tmp_path / "data", local.Settings(precision="int8", path=tmp_path))


async def test_a_path_with_the_model_is_taken(tmp_path: Path) -> None:
    folder = _minilm.installed()
    assert folder is not None
    said = await embedded(tmp_path, local.Settings(precision="int8", path=folder))
    assert said == [f"preparing all-MiniLM-L6-v2 (int8) from {folder}"]
