"""The public names are these, they are all there, and naming them costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import rag_engine

if TYPE_CHECKING:
    from pathlib import Path


def test_the_list_is_pinned_sorted_and_true() -> None:
    assert rag_engine.__all__ == sorted(rag_engine.__all__)
    assert {name for name in rag_engine.__all__ if getattr(rag_engine, name, None) is None} == set()
    assert len(rag_engine.__all__) == 22


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(rag_engine, "Manager")


@pytest.mark.process
def test_importing_the_engine_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'pydantic', 'openai', 'onnxruntime', 'rich', 'torch'}"
    code = f"import sys, rag_engine, bot.__main__; print({heavy} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (
            ["kb", "list"],
            "numpy regex openai onnxruntime elasticsearch discord slack_sdk rag_engine.engine bot.rendering",
        ),
        (
            ["ask", "Who?"],
            "charset_normalizer openai onnxruntime tokenizers torch elasticsearch discord slack_sdk pymupdf prometheus_client",
        ),
    ],
)
def test_a_command_imports_only_what_it_needs(command: list[str], unneeded: str, tmp_path: Path) -> None:
    code = f"import sys, bot.__main__; bot.__main__.main({command}); print('found', *set({unneeded.split()}) & set(sys.modules))"
    settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), "FOOTNOTE_EMBEDDER__KIND": "hashing"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **settings},
    )
    assert done.stdout.splitlines()[-1] == "found"
