"""Adds a module beside ours."""

from __future__ import annotations

import importlib
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence
    from pathlib import Path

    from tests.unit.one_new_file.added import Add


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Writes one module into a folder that is searched as if it were the package's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    added: list[str] = []

    def write(family: str, name: str, source: str) -> None:
        folder = tmp_path / family
        folder.mkdir()
        (folder / f"{name}.py").write_text(dedent(source), encoding="utf-8")
        package = importlib.import_module(family)
        path = cast("MutableSequence[str]", package.__path__)
        monkeypatch.setattr(package, "__path__", [*path, str(folder)])
        importlib.invalidate_caches()
        added.append(f"{family}.{name}")

    yield write
    for name in added:
        sys.modules.pop(name, None)
