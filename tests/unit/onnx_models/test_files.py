"""Downloading a model; the hub is a real server, used by the unmodified client in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.doubles.model_hub import ModelHub, serve
from tests.doubles.tiny_onnx import save_encoder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.process

EMBED = """
import asyncio, json, sys
from pathlib import Path
from rag_engine.embedders import onnx
from rag_engine.errors import RagError

async def main():
    settings = onnx.Settings(model=sys.argv[1])
    try:
        async with onnx.connect(settings, data_dir=Path(sys.argv[2])) as embedder:
            rows = await embedder.embed(["leave days"], side="query")
            print(json.dumps({"model": embedder.model, "row": rows[0].tolist()}))
    except RagError as error:
        print(json.dumps({"error": type(error).__name__, "text": str(error)}))

asyncio.run(main())
"""


def hub(folder: Path, *, status: int = 404, code: str = "EntryNotFound") -> AbstractContextManager[ModelHub]:
    def read(repository: str, name: str) -> bytes | None:
        path = folder / name
        return path.read_bytes() if repository == "team/tiny" and path.is_file() else None

    return serve(read, status=status, code=code)


def run(address: str, tmp_path: Path, *, model: str = "team/tiny") -> dict[str, object]:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("HF_")},
        "HF_ENDPOINT": address,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_ETAG_TIMEOUT": "3",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", EMBED, model, str(tmp_path / "data")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_model_is_downloaded_once_with_all_of_its_files_and_then_needs_no_hub(tmp_path: Path) -> None:
    stated = {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "config_sentence_transformers.json": {"prompts": {"query": "query : "}},
    }
    folder = save_encoder(tmp_path / "hub", configurations=stated)
    with hub(folder) as server:
        first = run(server.address, tmp_path)
        assert first["model"] == "team/tiny@fp32"
        assert any(path.endswith("1_Pooling/config.json") for path in server.requests)
        server.requests.clear()
        assert run(server.address, tmp_path) == first
        assert server.requests == []
    assert run("http://127.0.0.1:9", tmp_path) == first


def test_a_hub_that_cannot_be_reached(tmp_path: Path) -> None:
    outcome = run("http://127.0.0.1:9", tmp_path)
    assert outcome["error"] == "Misconfigured"
    assert "the model hub cannot be reached" in str(outcome["text"])


@pytest.mark.parametrize(
    ("status", "code", "error", "words"),
    [
        (404, "RepoNotFound", "BadSettings", "there is no model team/tiny on the model hub"),
        (404, "EntryNotFound", "Misconfigured", "has no file onnx/model.onnx or model.onnx"),
        (403, "Forbidden", "Misconfigured", "the model hub cannot be reached or refuses it"),
    ],
)
def test_a_hub_that_refuses(tmp_path: Path, status: int, code: str, error: str, words: str) -> None:
    with hub(tmp_path / "empty", status=status, code=code) as server:
        outcome = run(server.address, tmp_path)
    assert (outcome["error"], words in str(outcome["text"])) == (error, True), outcome
