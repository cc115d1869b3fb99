"""A part is found by its name: ours, another distribution's, or a sentence that says what to do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from rag_engine import plugins
from rag_engine.errors import BadSettings, MissingExtra

if TYPE_CHECKING:
    from pathlib import Path


def test_ours_are_found_by_module_name() -> None:
    assert plugins.load("rag_engine.models", "scripted").__name__ == "rag_engine.models.scripted"
    assert {"extractive", "openai", "scripted"} <= set(plugins.available("rag_engine.models"))


@pytest.mark.parametrize("name", ["../etc", "a.b", "", "a-b", "os;x"])
def test_a_name_that_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(BadSettings, match="letters, digits and underscores"):
        plugins.load("rag_engine.models", name)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadSettings, match=r"there is no 'oracle'.*extractive"):
        plugins.load("rag_engine.models", "oracle")


def test_a_missing_library_is_answered_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = tmp_path / "family_of_parts"
    family.mkdir()
    (family / "__init__.py").touch()
    (family / "graph_store.py").write_text("import no_such_library_anywhere\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtra, match=r"pip install 'footnote-bot\[graph-store\]'"):
        plugins.load("family_of_parts", "graph_store")


@pytest.mark.parametrize("family", ["rag_engine.embedders", "rag_engine.rerankers"])
def test_without_torch_the_extra_is_named(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, f"{family}.sentence_transformers", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'footnote-bot\[sentence-transformers\]'"):
        plugins.load(family, "sentence_transformers")


def test_another_distribution_adds_a_part_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere_model.py").write_text("NAME = 'elsewhere'\n", encoding="utf-8")
    information = tmp_path / "elsewhere-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(
        "[rag_engine.models]\nelsewhere = elsewhere_model\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.load("rag_engine.models", "elsewhere").NAME == "elsewhere"
    assert "elsewhere" in plugins.available("rag_engine.models")


def test_a_folder_of_a_family_is_no_part_of_a_name() -> None:
    assert plugins.load("rag_engine.parsers", "docx").__name__ == "rag_engine.parsers.documents.docx"
    assert "docx" in plugins.modules("rag_engine.parsers")
    assert "documents" not in plugins.available("rag_engine.parsers")
    with pytest.raises(BadSettings, match="no 'documents'"):
        plugins.load("rag_engine.parsers", "documents")
