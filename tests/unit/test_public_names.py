"""The public names are these, they are all there, and naming them costs nothing."""

from __future__ import annotations

import subprocess
import sys

import rag_engine


def test_the_list_is_pinned_sorted_and_true() -> None:
    assert rag_engine.__all__ == sorted(rag_engine.__all__)
    assert {name for name in rag_engine.__all__ if getattr(rag_engine, name, None) is None} == set()
    assert len(rag_engine.__all__) == 22


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(rag_engine, "Manager")


def test_importing_the_engine_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'pydantic', 'openai', 'onnxruntime', 'rich', 'torch'}"
    code = f"import sys, rag_engine, bot.__main__; print({heavy} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"
